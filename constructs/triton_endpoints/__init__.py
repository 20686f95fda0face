"""CDK constructs of a Triton endpoint, one per noun; they declare what a ResolvedEndpoint has decided."""

from triton_endpoints.artifact_bucket import ArtifactBucket
from triton_endpoints.endpoint_dashboard import EndpointDashboard
from triton_endpoints.endpoint_queries import EndpointQueries
from triton_endpoints.endpoint_role import EndpointRole
from triton_endpoints.endpoint_rollout import EndpointRollout
from triton_endpoints.endpoint_scaling import EndpointScaling
from triton_endpoints.scaling_guard import GuardedUpdate, ScalingGuard
from triton_endpoints.triton_endpoint import TritonEndpoint
from triton_endpoints.triton_model import TritonModel

__all__ = [
    "ArtifactBucket",
    "EndpointDashboard",
    "EndpointQueries",
    "EndpointRole",
    "EndpointRollout",
    "EndpointScaling",
    "GuardedUpdate",
    "ScalingGuard",
    "TritonEndpoint",
    "TritonModel",
]
