"""The container's environment: typed settings, metrics, the default model, and what the spec adds itself."""

from __future__ import annotations

from fleet.resolve.context import Context
from fleet.resolve.endpoint import TritonMetrics

PREFIX = "SAGEMAKER_TRITON_"
DEFAULT_MODEL = f"{PREFIX}DEFAULT_MODEL_NAME"

# The only place of these names. AWS documents them, but no public source settles the namespace's spelling.
ALLOW_METRICS = f"{PREFIX}ALLOW_METRICS"
PUBLISH_METRICS = f"{PREFIX}PUBLISH_METRICS_TO_CLOUDWATCH"
METRICS_LOG_GROUP = f"{PREFIX}CLOUDWATCH_LOG_GROUP"
METRICS_NAMESPACE = f"{PREFIX}CLOUDWATCH_METRIC_NAMESPACE"


def resolve_variables(context: Context, default_model: str, metrics: TritonMetrics | None) -> dict[str, str]:
    """The whole environment of the container, sorted by name."""
    settings = context.spec.container.model_dump(exclude_none=True, exclude={"additional_args"})
    variables = {f"{PREFIX}{key.upper()}": _text(value) for key, value in settings.items()}
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
    for name in context.spec.environment:
        if name in variables:
            message = f"`environment` sets {name}, which another key of the spec decides already"
            hint = f"leave it out, or change the key that stands for it; it is {variables[name]!r} now"
            context.refuse("FL207", ("environment", name), message, hint)
    return dict(sorted((variables | context.spec.environment).items()))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
