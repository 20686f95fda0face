"""CDK constructs of Triton endpoints on SageMaker."""

from triton_endpoints.artifact_bucket import ArtifactBucket
from triton_endpoints.endpoint.parts import EndpointParts, declare_endpoint
from triton_endpoints.foundation import FoundationParts, declare_foundation

__all__ = [
    "ArtifactBucket",
    "EndpointParts",
    "FoundationParts",
    "declare_endpoint",
    "declare_foundation",
]
