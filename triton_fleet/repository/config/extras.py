"""Response cache, repository agents, metrics, and the version policy without the versions.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateModelConfig and
ValidateModelMetrics; src/repo_agent.cc; src/model_repository_manager/model_lifecycle.cc, AsyncLoad and
VersionsToLoad.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig

AGENTS = ("checksum",)
CUSTOMIZABLE = "nv_inference_first_response_histogram_ms"


def response_cache(config: ParsedConfig) -> Iterator[Finding]:
    """A cache for models whose responses cannot be kept."""
    message = config.message
    if not message.response_cache.enable:
        return
    kinds = {
        "with sequence batching scheduler. Please disable the response cache.": message.HasField(
            "sequence_batching"
        ),
        "with 'decoupled' transaction policy. Please disable the response cache.": (
            message.model_transaction_policy.decoupled
        ),
    }
    for kind, is_set in kinds.items():
        if is_set:
            reason = f"Response Cache does not currently support model {config.name} {kind}"
            yield config.finding("FL429", reason, "response_cache", hint="leave out `response_cache`")


def repository_agents(config: ParsedConfig) -> Iterator[Finding]:
    """Agents that Triton's images do not have."""
    if (
        config.message.HasField("model_repository_agents")
        and not config.message.model_repository_agents.agents
    ):
        message = "the model asks for repository agents and names none: the server ends"
        yield config.finding("FL437", message, "model_repository_agents", hint="leave it out")
    for index, agent in enumerate(config.message.model_repository_agents.agents):
        if agent.name not in AGENTS:
            message = (
                f"unable to find 'libtritonrepoagent_{agent.name}.so' for repo agent '{agent.name}',"
                " searched: /opt/tritonserver/repoagents"
            )
            place = ("model_repository_agents", "agents", index)
            yield config.finding("FL437", message, *place, hint=f"the images have {', '.join(AGENTS)}")


def metrics(config: ParsedConfig) -> Iterator[Finding]:
    """Histograms that lack what makes them."""
    for index, control in enumerate(config.message.model_metrics.metric_control):
        place, family = ("model_metrics", "metric_control", index), control.metric_identifier.family
        if not control.HasField("metric_identifier"):
            message = "metric control must specify 'metric_identifier'"
        elif not family:
            message = "metric identifier must specify non-empty 'family'"
        elif not control.HasField("histogram_options"):
            message = "metric control must specify 'histogram_options'"
        elif not control.histogram_options.buckets:
            message = "histogram options must specify non-empty 'buckets'"
        else:
            if family != CUSTOMIZABLE:
                message = (
                    f"Metric family '{family}' in 'metric_identifier' is not a customizable metric in"
                    " Triton core."
                )
                yield config.finding(
                    "FL431", message, *place, hint=f"only {CUSTOMIZABLE} is", severity=Severity.WARNING
                )
            continue
        yield config.finding("FL431", message, *place, hint=f"the family is {CUSTOMIZABLE}")


CODE = "FL426"
NO_VERSION = "at least one version must be available under the version policy of model '{}'"


def version_policy(config: ParsedConfig) -> Iterator[Finding]:
    """A policy that takes no version at all, or no version that there can be."""
    policy = config.message.version_policy
    choice = policy.WhichOneof("policy_choice")
    message = NO_VERSION.format(config.name)
    if choice == "latest" and policy.latest.num_versions == 0:
        hint = "write `latest { num_versions: 1 }`, or leave the policy out"
        yield config.finding(CODE, message, "version_policy", hint=hint)
    if choice == "specific" and not any(version >= 0 for version in policy.specific.versions):
        hint = "name the versions: `specific { versions: [ 1 ] }`"
        yield config.finding(CODE, message, "version_policy", hint=hint)
