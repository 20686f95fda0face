"""CDK constructs of Triton endpoints on SageMaker; docs/constructs.md shows how to use them."""

from importlib.metadata import version

from triton_endpoints.endpoint.parts import EndpointParts
from triton_endpoints.foundation import ArtifactBucket
from triton_endpoints.library.alarm_actions import AlarmActions
from triton_endpoints.library.companions import TritonAlarms, TritonDashboard, TritonScaling
from triton_endpoints.library.endpoint import TritonEndpoint
from triton_endpoints.library.endpoint_config import TritonEndpointConfig, Variant
from triton_endpoints.library.engine import Engine
from triton_endpoints.library.engine_builds import EngineBuilds
from triton_endpoints.library.environment import EnvironmentProp, FleetEnvironment
from triton_endpoints.library.image import ImagePlace, TritonImage
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.props import (
    Alarms,
    Capture,
    Container,
    Input,
    Instance,
    Logs,
    Metrics,
    Output,
    Rollout,
    Sample,
    Scaling,
    Threshold,
    Timeouts,
)
from triton_endpoints.library.reference import AnyEndpoint, EndpointReference, ImportedEndpoint, MetricOptions
from triton_endpoints.library.sagemaker_model import SageMakerModel, TritonRole
from triton_endpoints.library.support import EndpointSupport

__all__ = [
    "AlarmActions",
    "Alarms",
    "AnyEndpoint",
    "ArtifactBucket",
    "Capture",
    "Container",
    "EndpointParts",
    "EndpointReference",
    "EndpointSupport",
    "Engine",
    "EngineBuilds",
    "EnvironmentProp",
    "FleetEnvironment",
    "ImagePlace",
    "ImportedEndpoint",
    "Input",
    "Instance",
    "Logs",
    "MetricOptions",
    "Metrics",
    "Output",
    "Rollout",
    "SageMakerModel",
    "Sample",
    "Scaling",
    "Threshold",
    "Timeouts",
    "TritonAlarms",
    "TritonDashboard",
    "TritonEndpoint",
    "TritonEndpointConfig",
    "TritonImage",
    "TritonModel",
    "TritonRole",
    "TritonScaling",
    "Variant",
    "__version__",
]

__version__ = version("triton-endpoints")
