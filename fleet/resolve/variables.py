"""The container's environment: typed settings, metrics, the default model, and what the spec adds itself."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.resolve.context import Context
from fleet.resolve.endpoint import TritonMetrics
from fleet.spec.endpoint import Mode

PREFIX = "SAGEMAKER_TRITON_"
MAX_VARIABLES, MAX_CHARACTERS = 100, 1024
"""Of a Model's Environment; source: botocore, sagemaker, EnvironmentMap and EnvironmentValue."""
INFERENCE_TYPE_SINCE = "25.03"
"""Source: docker/sagemaker/serve of triton-inference-server/server, r25.03."""
DEFAULT_MODEL = f"{PREFIX}DEFAULT_MODEL_NAME"
FALSE = ("false", "off", "0")
# Both: the start script assigns the first but never exports it, so only one that is there already is changed.
# In mode "ready" one archive that cannot be loaded would fail every later ping, and so the whole instance.
LIVE_PING = {f"{PREFIX}PING_MODE": "live", f"{PREFIX}OVERRIDE_PING_MODE": "live"}
# The repository is empty at the start, models are loaded by name, and archives may hold models of one name.
SINGLE_MODEL_FLAGS = ("--load-model", "--model-control-mode", "--model-namespacing")
NAMESPACING = f"{PREFIX}DISABLE_MODEL_NAMESPACING"

# The only place of these names. AWS documents them, but no public source settles the namespace's spelling.
ALLOW_METRICS = f"{PREFIX}ALLOW_METRICS"
PUBLISH_METRICS = f"{PREFIX}PUBLISH_METRICS_TO_CLOUDWATCH"
METRICS_LOG_GROUP = f"{PREFIX}CLOUDWATCH_LOG_GROUP"
METRICS_NAMESPACE = f"{PREFIX}CLOUDWATCH_METRIC_NAMESPACE"


def resolve_variables(
    context: Context, default_model: str | None, metrics: TritonMetrics | None
) -> dict[str, str]:
    """The whole environment of the container, sorted by name."""
    settings = context.spec.container.model_dump(exclude_none=True, exclude={"additional_args"})
    variables = {f"{PREFIX}{key.upper()}": _text(value) for key, value in settings.items()}
    if context.spec.mode is Mode.MULTI_MODEL:
        variables |= LIVE_PING
    elif default_model is not None:
        variables[DEFAULT_MODEL] = default_model
    if flags := context.spec.container.additional_args:
        variables[f"{PREFIX}ADDITIONAL_ARGS"] = " ".join(flags)
    if metrics:
        variables |= {
            ALLOW_METRICS: "true",
            PUBLISH_METRICS: "true",
            METRICS_LOG_GROUP: metrics.log_group,
            METRICS_NAMESPACE: metrics.namespace,
        }
    if context.spec.mode is Mode.MULTI_MODEL:
        _check_multi_model(context)
    _check_added(context, variables)
    variables |= context.spec.environment
    _check_limits(context, variables)
    return dict(sorted(variables.items()))


def _check_added(context: Context, decided: Mapping[str, str]) -> None:
    for name, value in context.spec.environment.items():
        problem, hint = _added_problem(name, value, decided)
        if problem:
            context.refuse("FL207", ("environment", name), f"`environment` sets {name}, {problem}", hint)


def _check_multi_model(context: Context) -> None:
    if context.spec.container.inference_type:
        message = (
            "`inference_type` means nothing to a multi-model endpoint: its calls are all of type `infer`"
        )
        context.refuse(
            "FL210", ("container", "inference_type"), message, "leave it out, or write `mode: single`"
        )
    for index, flag in enumerate(context.spec.container.additional_args):
        if flag.startswith(SINGLE_MODEL_FLAGS):
            message = f"`additional_args` has {flag}, with which a multi-model container does not work"
            path = ("container", "additional_args", index)
            context.refuse(
                "FL217", path, message, "leave it out; SageMaker loads each target when it is asked for"
            )
    if DEFAULT_MODEL in context.spec.environment:
        message = f"`environment` sets {DEFAULT_MODEL}, which a multi-model endpoint does not load"
        context.refuse(
            "FL207", ("environment", DEFAULT_MODEL), message, "leave it out; callers say TargetModel"
        )
    if context.spec.environment.get(NAMESPACING, "true").lower() in FALSE:
        message = (
            f"{NAMESPACING}={context.spec.environment[NAMESPACING]} turns namespaces off (its name says the"
            " opposite): two archives with a model of one name could not both be loaded"
        )
        context.refuse("FL207", ("environment", NAMESPACING), message, "leave it out")


def _added_problem(name: str, value: str, decided: Mapping[str, str]) -> tuple[str, str]:
    if name in decided:
        hint = f"leave it out, or change the key that it follows from; it is {decided[name]!r} now"
        return "which another key of the spec decides already", hint
    if name == "SAGEMAKER_MULTI_MODEL":
        return "which SageMaker sets itself", "choose `mode` instead"
    if not value.strip():
        return "but to nothing: the server takes an empty value for a value", "leave it out"
    if name.startswith(PREFIX) and value.split() != [value]:
        return (
            f"with white space in {value!r}: the container would split it into flags",
            "leave the space out",
        )
    return "", ""


def _check_limits(context: Context, variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        if max(len(name), len(value)) > MAX_CHARACTERS:
            key = ("environment", name) if name in context.spec.environment else ("container",)
            message = f"the variable {name[:80]} is longer than SageMaker's {MAX_CHARACTERS} characters"
            context.refuse("FL209", key, message, "shorten its name or its value")
    if len(variables) > MAX_VARIABLES:
        message = f"the container gets {len(variables)} variables; SageMaker takes {MAX_VARIABLES}"
        context.refuse("FL209", ("environment",), message, "leave some out")
    if context.spec.container.inference_type and context.spec.triton < INFERENCE_TYPE_SINCE:
        message = f"`inference_type` means nothing to Triton {context.spec.triton}"
        hint = f'leave it out, or write `triton: "{INFERENCE_TYPE_SINCE}"` or newer'
        context.refuse("FL210", ("container", "inference_type"), message, hint)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
