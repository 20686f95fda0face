"""CDK constructs of a Triton endpoint, one per noun; they declare what a ResolvedEndpoint has decided."""

from triton_endpoints.alarm_topics import AlarmTopics
from triton_endpoints.artifact_bucket import ArtifactBucket
from triton_endpoints.endpoint.alarms import EndpointAlarms
from triton_endpoints.endpoint.check import CheckedEndpoint, EndpointCheck
from triton_endpoints.endpoint.dashboard import EndpointDashboard
from triton_endpoints.endpoint.logs import EndpointLogs, OwnedLogs
from triton_endpoints.endpoint.queries import EndpointQueries
from triton_endpoints.endpoint.role import EndpointRole
from triton_endpoints.endpoint.rollout import EndpointRollout
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_endpoints.engines.build import EngineBuild
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
