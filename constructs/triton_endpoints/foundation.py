"""The parts that all endpoints of an environment share: its bucket, topics, functions and builds."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from triton_endpoints.access.roles import AccessRoles
from triton_endpoints.alarm_topics import AlarmTopics
from triton_endpoints.builds.project import SEVERITY as FAILURES
from triton_endpoints.endpoint.check import EndpointCheck
from triton_endpoints.endpoint.logs import EndpointLogs
from triton_endpoints.engines.build import EngineBuild
from triton_endpoints.images.build import ImageBuild
from triton_endpoints.scaling_guard import ScalingGuard
from triton_fleet.builds.engines.artifacts import JOBS
from triton_fleet.spec.deployment import Deployment

NONCURRENT_DAYS, UPLOAD_DAYS, LOG_DAYS = 90, 7, 365
JOB_DAYS = 7
"""For what a build of engines could not delete; a job runs for less than two days."""
RETENTION = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""Kept once deployed; a first deploy that failed leaves no bucket whose name the next one would meet."""


class ArtifactBucket(Construct):
    """An encrypted, TLS-only, versioned and retained bucket with access logs.

    Its name follows from environment, account and region, so that endpoint stacks know it without an export.
    Without a key of one's own S3 encrypts with its own; access logs can have no other. Source: S3 user guide,
    server access logging.
    """

    def __init__(self, scope: Construct, id: str, *, bucket_name: str, kms_key: str | None = None) -> None:
        """Declare the bucket.

        Args:
            scope: The parent.
            id: The construct's own.
            bucket_name: `EndpointSupport.bucket_name` returns the one that endpoints expect.
            kms_key: ARN of the key of its objects; default: S3's own.
        """
        super().__init__(scope, id)
        key = kms.Key.from_key_arn(self, "Key", kms_key) if kms_key else None
        logs = s3.Bucket(
            self,
            "AccessLogs",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(LOG_DAYS))],
            removal_policy=RETENTION,
        )
        self.bucket: s3.Bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name=bucket_name,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            # One request to KMS for many objects, in place of one for each.
            bucket_key_enabled=True if key else None,
            enforce_ssl=True,
            versioned=True,
            server_access_logs_bucket=logs,
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=Duration.days(UPLOAD_DAYS),
                    noncurrent_version_expiration=Duration.days(NONCURRENT_DAYS),
                ),
                s3.LifecycleRule(prefix=JOBS, expiration=Duration.days(JOB_DAYS)),
            ],
            removal_policy=RETENTION,
        )


@dataclass(frozen=True, kw_only=True)
class FoundationParts:
    """The constructs of one environment.

    Attributes:
        bucket: The artifact bucket; the one that was given, where one was.
        topics: The topics of alarms, by severity.
        guard: The function that takes scaling aside.
        logs: The function that owns log groups.
        check: The functions that check endpoints.
        engine_build: The projects of engines; None where none can be built.
        image_build: The project and the repository of images; None where none can be built.
        access: The roles of the repository's jobs; None where no repository is trusted.
    """

    bucket: s3.IBucket
    topics: AlarmTopics
    guard: ScalingGuard
    logs: EndpointLogs
    check: EndpointCheck
    engine_build: EngineBuild | None
    image_build: ImageBuild | None
    access: AccessRoles | None = None


def declare_foundation(
    scope: Construct,
    deployment: Deployment,
    *,
    bucket: s3.IBucket | None = None,
    engine_builds: bool = True,
    image_builds: bool = True,
) -> FoundationParts:
    """Declare what an environment's endpoints share, with the ids and names that every environment has.

    Args:
        scope: What the parts are children of.
        deployment: The environment's account, region and names.
        bucket: A bucket of somebody else's, which `deployment` names too; default: the environment's, else
            one is declared.
        engine_builds: Whether TensorRT engines can be built.
        image_builds: Whether container images can be built.
    """
    artifacts = bucket or _artifacts(scope, deployment)
    ssm.StringParameter(
        scope,
        "BucketArn",
        parameter_name=f"/triton-fleet/{deployment.environment}/artifact-bucket-arn",
        string_value=artifacts.bucket_arn,
        description="ARN of the artifact bucket",
    )
    topics = AlarmTopics(scope, "AlarmTopics", deployment=deployment)
    return FoundationParts(
        bucket=artifacts,
        topics=topics,
        guard=ScalingGuard(scope, "ScalingGuard", deployment=deployment),
        logs=EndpointLogs(scope, "EndpointLogs", deployment=deployment),
        check=EndpointCheck(scope, "EndpointCheck", deployment=deployment),
        engine_build=EngineBuild(scope, "EngineBuild", deployment=deployment, topic=topics.arns[FAILURES])
        if engine_builds
        else None,
        image_build=ImageBuild(scope, "ImageBuild", deployment=deployment, topic=topics.arns[FAILURES])
        if image_builds
        else None,
        access=AccessRoles(scope, "Access", deployment=deployment) if deployment.access else None,
    )


def _artifacts(scope: Construct, deployment: Deployment) -> s3.IBucket:
    if deployment.given_bucket:
        return s3.Bucket.from_bucket_name(scope, "Artifacts", deployment.bucket)
    return ArtifactBucket(
        scope, "Artifacts", bucket_name=deployment.bucket, kms_key=deployment.kms_key
    ).bucket
