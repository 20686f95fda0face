"""CDK constructs of a Triton endpoint, one per noun; they declare what a ResolvedEndpoint has decided."""

from triton_endpoints.alarm_topics import AlarmTopics
from triton_endpoints.artifact_bucket import ArtifactBucket
from triton_endpoints.endpoint_alarms import EndpointAlarms
from triton_endpoints.endpoint_check import CheckedEndpoint, EndpointCheck
from triton_endpoints.endpoint_dashboard import EndpointDashboard
from triton_endpoints.endpoint_logs import EndpointLogs, OwnedLogs
from triton_endpoints.endpoint_queries import EndpointQueries
from triton_endpoints.endpoint_role import EndpointRole
from triton_endpoints.endpoint_rollout import EndpointRollout
from triton_endpoints.endpoint_scaling import EndpointScaling
from triton_endpoints.engine_build import EngineBuild
from triton_endpoints.scaling_guard import GuardedUpdate, ScalingGuard
from triton_endpoints.triton_endpoint import TritonEndpoint
from triton_endpoints.triton_model import TritonModel

__all__ = [
    "AlarmTopics",
    "ArtifactBucket",
    "CheckedEndpoint",
    "EndpointAlarms",
    "EndpointCheck",
    "EndpointDashboard",
    "EndpointLogs",
    "EndpointQueries",
    "EndpointRole",
    "EndpointRollout",
    "EndpointScaling",
    "EngineBuild",
    "GuardedUpdate",
    "OwnedLogs",
    "ScalingGuard",
    "TritonEndpoint",
    "TritonModel",
]
