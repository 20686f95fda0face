"""CDK constructs of Triton endpoints on SageMaker; docs/constructs.md shows how to use them."""

from triton_endpoints.endpoint.parts import EndpointParts, declare_endpoint
from triton_endpoints.foundation import ArtifactBucket, FoundationParts, declare_foundation
from triton_endpoints.library.companions import TritonAlarms, TritonDashboard, TritonScaling
from triton_endpoints.library.endpoint import TritonEndpoint
from triton_endpoints.library.engine_builds import EngineBuilds
from triton_endpoints.library.environment import FleetEnvironment
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.props import Alarms, Capture, Instance, Rollout, Scaling
from triton_endpoints.library.reference import EndpointReference, ImportedEndpoint
from triton_endpoints.library.sagemaker_model import SageMakerModel
from triton_endpoints.library.support import EndpointSupport

__all__ = [
    "Alarms",
    "ArtifactBucket",
    "Capture",
    "EndpointParts",
    "EndpointReference",
    "EndpointSupport",
    "EngineBuilds",
    "FleetEnvironment",
    "FoundationParts",
    "ImportedEndpoint",
    "Instance",
    "Rollout",
    "SageMakerModel",
    "Scaling",
    "TritonAlarms",
    "TritonDashboard",
    "TritonEndpoint",
    "TritonModel",
    "TritonScaling",
    "declare_endpoint",
    "declare_foundation",
]
