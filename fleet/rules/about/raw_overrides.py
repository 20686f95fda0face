"""Rules about what `cloudformation` lays over the template.

Here: what would take the place of something that follows from the spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.decide.decided import Decided
from fleet.decide.raw import is_intrinsic, raw_properties
from fleet.findings import Severity
from fleet.rules.raw import RESOURCES, VARIANT, WHOLES, outermost, shown
from fleet.rules.rule import Problem, rule

OVERRIDES = "https://docs.aws.amazon.com/cdk/v2/guide/cfn-layer.html"
IMAGE = "PrimaryContainer.Image"
OWN_KEYS = {
    "Model": {
        "PrimaryContainer.ModelDataUrl": "models",
        "PrimaryContainer.ModelDataSource": "models",
        "PrimaryContainer.Mode": "mode",
        "PrimaryContainer.Environment": "environment",
        "VpcConfig": "network.subnets",
        "EnableNetworkIsolation": "network.isolated",
    },
    "EndpointConfig": {
        f"{VARIANT}.InstanceType": "instance.type",
        f"{VARIANT}.InitialInstanceCount": "instance.count",
        f"{VARIANT}.InferenceAmiVersion": "instance.ami",
        f"{VARIANT}.ModelDataDownloadTimeoutInSeconds": "timeouts.model_download",
        f"{VARIANT}.ContainerStartupHealthCheckTimeoutInSeconds": "timeouts.startup",
        "VpcConfig": "network.subnets",
        "EnableNetworkIsolation": "network.isolated",
        "DataCaptureConfig": "capture",
        "MetricsConfig": "metrics",
        "KmsKeyId": "kms_key in environments/*.yaml",
    },
    "Endpoint": {"EndpointName": "endpoint", "DeploymentConfig": "rollout"},
}
"""Properties, with all below them, that follow from keys of the spec."""
HARMLESS = ("instance.ami", "timeouts.model_download", "timeouts.startup")
"""Of these: what the raw property says is judged as well, or no rule goes by it."""
SETTLED = {
    "Model": {"Containers": "an endpoint has one container, Triton's"},
    "EndpointConfig": {
        f"{VARIANT}.VariantName": "scaling and the dashboard go by the name that it has",
        f"{VARIANT}.ModelName": "it is the model that the spec describes",
        f"{VARIANT}.ManagedInstanceScaling": "it is for inference components alone",
        f"{VARIANT}.ServerlessConfig": "a serverless endpoint has no GPU and no instances",
    },
    "Endpoint": {
        "EndpointConfigName": "it is the configuration that the spec describes",
        "RetainAllVariantProperties": "a scaled endpoint keeps its instances, another has its `count`",
        "ExcludeRetainedVariantProperties": "weights and data capture always follow the spec",
        "RetainDeploymentConfig": "each update goes by the spec's own `rollout`",
    },
}
"""Properties, with all below them, that nothing in a spec changes, and why."""


@rule("FL263", source="docs/check.md")
def no_raw_property_that_has_a_key(endpoint: Decided) -> Iterator[Problem]:
    """What follows from the spec is not set as a raw property.

    Rules, scaling, the dashboard and `fleet show` go by the spec, and would judge another endpoint than the
    one deployed; of a host image and of time-outs it is only said. An endpoint has one variant, and one model
    with one container.
    """
    for resource in RESOURCES:
        for raw, key in outermost(endpoint, resource, OWN_KEYS[resource]):
            message = f"the raw property {raw.name} says what `{key}` says"
            yield Problem(raw.path, message, f"write `{key}` instead", certain=key not in HARMLESS)
        for raw, reason in outermost(endpoint, resource, SETTLED[resource]):
            yield Problem(raw.path, f"{raw.name} is not to be changed: {reason}", "leave it out")


@rule("FL298", source=OVERRIDES)
def raw_list_that_replaces(endpoint: Decided) -> Iterator[Problem]:
    """No raw value takes the place of the whole variant or the whole container.

    CDK lays a mapping over what is there, and puts a list, a single value or an intrinsic function in its
    place: model, instance type and count of the spec are lost.
    """
    for resource, names in WHOLES.items():
        for raw in raw_properties(endpoint.spec, resource):
            replaces = not isinstance(raw.value, Mapping) or is_intrinsic(raw.value)
            if raw.name in names and replaces and (raw.value is not None or raw.takes_out):
                below = f"{raw.name}.0" if raw.name == "ProductionVariants" else raw.name
                what = "a list" if isinstance(raw.value, list | tuple) else shown(raw.value)
                message = f"{what} for {raw.name} takes the place of all that follows from the spec"
                yield Problem(raw.path, message, f"write `{below}.KEY` for each key to change")


@rule(
    "FL299",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/inference-gpu-drivers.html",
)
def image_that_is_known(endpoint: Decided) -> Iterator[Problem]:
    """The container's image is SageMaker's own.

    Of an image of one's own nobody knows the CUDA version, the backends and the TensorRT in it: the rules go
    by `triton`, and do not check that the host's driver runs the image, or that its models load.
    """
    for raw, _ in outermost(endpoint, "Model", {IMAGE: IMAGE}):
        message = "an image of one's own: its CUDA, driver and backends are not checked"
        yield Problem(raw.path, message, "build it on the image of the release that `triton` names")
