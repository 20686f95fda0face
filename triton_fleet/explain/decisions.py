"""Every decision about an endpoint with its reason, for those that its files allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_fleet.builds.engines.artifacts import locked_engine
from triton_fleet.builds.engines.endpoint_engines import command_line, named_model, planned_engines
from triton_fleet.catalog.variables import variables as known_variables
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.metrics import triton_metrics
from triton_fleet.context.samples import target_model
from triton_fleet.context.variables import DEFAULT_MODEL
from triton_fleet.endpoint.archives import locate_archives
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.explain.effective_spec import redact
from triton_fleet.explain.operation import (
    alarm_decisions,
    check_decisions,
    dashboard_decisions,
    rollout_decisions,
    scaling_decisions,
)
from triton_fleet.explain.reasons import reasons
from triton_fleet.explain.security import security_decisions
from triton_fleet.findings import Finding
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import Archive, ArchiveSet, Mode
from triton_fleet.spec.prices import PriceBook
from triton_fleet.spec.reference.keys import default_text
from triton_fleet.spec.values import descriptions

_EXCEPTIONS = ("triton", "triton_dimensions")
"""Keys of `metrics` that decide more than one property, and are explained by what they decide."""


def decisions(
    endpoint: EndpointContext, deployment: Deployment, prices: PriceBook, wrong_lock: Sequence[Finding] = ()
) -> tuple[Decision, ...]:
    """Decisions that follow from the spec in its environment, group by group.

    Args:
        endpoint: What could be decided.
        deployment: Where the environment's fleet is deployed.
        prices: The fleet's.
        wrong_lock: Why there is no lock, or what it lacks; the first is shown.
    """
    return (
        *reasons(endpoint, prices),
        _model_data(endpoint, deployment, wrong_lock),
        *_archives(endpoint),
        *_routes(endpoint),
        *engine_decisions(endpoint),
        *_variables(endpoint),
        *scaling_decisions(endpoint),
        *rollout_decisions(endpoint),
        *check_decisions(endpoint),
        *alarm_decisions(endpoint),
        *_metrics(endpoint),
        *_plain_metrics(endpoint),
        *dashboard_decisions(endpoint, prices),
        *security_decisions(endpoint, deployment),
        *_places(endpoint, deployment),
    )


def _model_data(endpoint: EndpointContext, deployment: Deployment, wrong_lock: Sequence[Finding]) -> Decision:
    spec = endpoint.spec
    value, reason = None, "; ".join(f"{finding.message}; {finding.hint}" for finding in wrong_lock[:1])
    if len(endpoint.archives) == len(spec.packed_archives):
        value = f"s3://{deployment.bucket}/{locate_archives(spec, endpoint.archives)[0]}"
        if spec.mode is not Mode.MULTI_MODEL:
            reason = "named by the digest of its content, which the lock has"
        elif spec.archive_set is ArchiveSet.LOCKED:
            reason = "named by the digest of the set: of all archives' names and digests in the lock"
        else:
            reason = "`archive_set: live`: one permanent prefix, in which archives are added and removed"
    return Decision(group="models", what="model data", value=value, reason=reason)


def _archives(endpoint: EndpointContext) -> Iterator[Decision]:
    single = endpoint.spec.mode is not Mode.MULTI_MODEL
    for index, entry in enumerate(endpoint.spec.models):
        names = [packed_archive.name for packed_archive in entry.packed_archives(index)]
        ends = list(dict.fromkeys((names[0], names[-1])))
        targets = " to ".join(target_model(name, entry.version) for name in ends)
        yield Decision(
            group="models",
            what="archive" if single else "target model",
            value=entry.archive if single else targets,
            reason=_lock_reason(endpoint, entry, names),
        )


def _lock_reason(endpoint: EndpointContext, entry: Archive, names: Sequence[str]) -> str:
    archives = [endpoint.archives[name] for name in names if name in endpoint.archives]
    count = "" if entry.copies is None else f"{len(archives)} of {entry.copies} copies, the first "
    if not archives:
        return "not in a lock"
    first = archives[0]
    return f"in the lock: {count}{first.size} bytes, models {', '.join(first.models)}, {first.digest}"


def _routes(endpoint: EndpointContext) -> Iterator[Decision]:
    """The names that callers of a shared container use."""
    reason = "from `routes`" if endpoint.spec.routes else "the name of the model; the spec has no `routes`"
    for name, route in endpoint.routes.items():
        plural = "s" if len(route.versions) > 1 else ""
        value = f"{route.model}, version{plural} {', '.join(route.versions)}"
        yield Decision(group="models", what=f"route {name}", value=value, reason=reason)


def _variables(endpoint: EndpointContext) -> Iterator[Decision]:
    own = endpoint.spec.environment
    settings = endpoint.decided_variables
    for name, value in endpoint.variables.items():
        key = "environment" if name in own else settings[name].key
        reason = f"from `{key}`"
        if name in own and name in settings:
            reason += f", laid over `{settings[name].key}`"
        elif name == DEFAULT_MODEL and name not in own and endpoint.spec.default_model is None:
            reason = "the default model, the only one in the lock"
        about = known_variables().get(name)
        yield Decision(
            group="variables",
            what=name,
            value=redact(name, value),
            reason=reason,
            facts=(dated_facts("variables.yaml"),) if about and not about.certain else (),
            certain=about is None or about.certain,
        )


def _metrics(endpoint: EndpointContext) -> Iterator[Decision]:
    metrics = triton_metrics(endpoint.spec)
    if metrics is None:
        reason = "`metrics.triton` is off: only SageMaker's own metrics"
        yield Decision(group="metrics", what="namespace", value="none", reason=reason)
        return
    reason = "`metrics.triton` is on; named after the endpoint"
    yield Decision(group="metrics", what="namespace", value=metrics.namespace, reason=reason)
    yield Decision(group="metrics", what="log group", value=metrics.log_group, reason=reason)


def _plain_metrics(endpoint: EndpointContext) -> Iterator[Decision]:
    """Settings that SageMaker gets as the spec has them; it bills whatever is on."""
    metrics = endpoint.spec.metrics
    values = metrics.model_dump(mode="json")
    for name, about in type(metrics).model_fields.items():
        if name in _EXCEPTIONS:
            continue
        key, value = f"`metrics.{name}`", values[name]
        reason = f"from {key}"
        if isinstance(value, bool):
            value, reason = "on" if value else "off", f"{key} is {'on, and billed' if value else 'off'}"
        elif value is None:
            value, reason = default_text(descriptions(type(metrics)).get(name, "")), f"{key} is left out"
        title = (about.title or name.replace("_", " ")).lower()
        yield Decision(group="metrics", what=title, value=value, reason=reason)


def _places(endpoint: EndpointContext, deployment: Deployment) -> Iterator[Decision]:
    own = "named after environment, account and region; the Foundation stack has it"
    bucket = "from the environment's `artifact_bucket`" if deployment.given_bucket else own
    for title, value, reason in (
        ("stack", stack_of(deployment, endpoint.spec.endpoint), "named after environment and endpoint"),
        ("Foundation stack", deployment.stack, "named after the environment, whose endpoints share it"),
        ("bucket", deployment.bucket, bucket),
    ):
        yield Decision(group="places", what=title, value=value, reason=reason)


def engine_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Each engine's key, who builds it, and how trtexec is called."""
    for engine_plan in planned_engines(endpoint):
        model = named_model(endpoint, engine_plan)
        lock_engine = locked_engine(endpoint.spec, endpoint.archives, engine_plan.index, engine_plan.model)
        key = None if lock_engine is None else engine_plan.build(lock_engine.onnx).key
        reason = (
            f"of {engine_plan.engine.onnx}, trtexec's arguments, {engine_plan.gpu} and {engine_plan.image}"
        )
        if lock_engine is None:
            reason = "the lock has no digest of its ONNX model yet"
        yield Decision(group="engines", what=f"engine of {model}", value=key, reason=reason)
        runner = engine_plan.runner
        yield Decision(
            group="engines",
            what=f"built for {model} by",
            value=f"{runner.way} on {runner.instance_type}",
            reason=runner.reason,
            facts=(dated_facts("builds.yaml"),),
        )
        yield Decision(
            group="engines",
            what=f"command for {model}",
            value=command_line(engine_plan),
            reason=f"in the spelling of TensorRT {engine_plan.tensorrt}, which the image has",
            facts=(dated_facts("releases.yaml"), dated_facts("tensorrt.yaml")),
            certain=engine_plan.certain,
        )
