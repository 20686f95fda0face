"""The stateful stack of an environment: what outlives every endpoint."""

from __future__ import annotations

from aws_cdk import Environment, Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from fleet.endpoint.resolved_endpoint import Deployment
from fleet_stacks.boundary import bounded_by
from triton_endpoints import (
    AlarmTopics,
    ArtifactBucket,
    EndpointCheck,
    EndpointLogs,
    EngineBuild,
    ScalingGuard,
)
from triton_endpoints.engines.failures import SEVERITY as FAILURES


class FoundationStack(Stack):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    Its template is the same whichever endpoints there are.
    """

    def __init__(self, scope: Construct, *, place: Deployment) -> None:
        super().__init__(
            scope,
            place.stack,
            env=Environment(account=place.account, region=place.region),
            description=f"Triton Fleet {place.environment}: what its endpoints share",
            termination_protection=True,
            permissions_boundary=bounded_by(place),
        )
        artifacts = ArtifactBucket(self, "Artifacts", bucket_name=place.bucket, kms_key=place.kms_key)
        ssm.StringParameter(
            self,
            "BucketArn",
            parameter_name=f"/triton-fleet/{place.environment}/artifact-bucket-arn",
            string_value=artifacts.bucket.bucket_arn,
            description="ARN of the artifact bucket",
        )
        topics = AlarmTopics(self, "AlarmTopics", place=place)
        ScalingGuard(self, "ScalingGuard", place=place)
        EndpointLogs(self, "EndpointLogs", place=place)
        EndpointCheck(self, "EndpointCheck", place=place)
        EngineBuild(self, "EngineBuild", place=place, topic=topics.arns[FAILURES])
