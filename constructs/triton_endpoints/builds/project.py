"""A CodeBuild project of engines or images: the settings of a single build are in StartBuild, not here."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from aws_cdk import RemovalPolicy
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from triton_endpoints.acknowledgements import acknowledge_docker
from triton_fleet.core.sources import source_path
from triton_fleet.spec.deployment import BuildKind, Deployment

BUILDSPECS = source_path("engine_build")
RETENTION_DAYS = 30
MINUTES_QUEUED = 480
"""CodeBuild's own, and the most that it takes."""


@dataclass(frozen=True, kw_only=True)
class ProjectKind:
    """One of the projects.

    Attributes:
        slack_minutes: What a build does before and after the work whose time the environment limits.
        image: CodeBuild's own, in which the build runs.
        compute: CodeBuild's compute type.
        is_privileged: Whether a build has a Docker daemon.
    """

    project: BuildKind
    about: str
    image: str
    slack_minutes: int
    compute: str = "BUILD_GENERAL1_SMALL"
    is_privileged: bool = False


STARTS_A_JOB = ProjectKind(
    project="job",
    about="Builds the TensorRT engines of {environment} in SageMaker jobs",
    image="aws/codebuild/amazonlinux-x86_64-standard:5.0",
    slack_minutes=30,
)


BUILDS_IMAGES = ProjectKind(
    project="image",
    about="Builds the container images of {environment}",
    image="aws/codebuild/amazonlinux-x86_64-standard:5.0",
    slack_minutes=15,
    # 128 GB of disk: an image of Triton takes some 20 GB, twice while layers are pushed. Source: CodeBuild
    # user guide, build-env-ref-compute-types.html.
    compute="BUILD_GENERAL1_MEDIUM",
    is_privileged=True,
)


def build_log(scope: Construct, deployment: Deployment, name: str) -> logs.CfnLogGroup:
    """The log group of an environment's builds, which goes with its stack."""
    log = logs.CfnLogGroup(
        scope, "Log", log_group_name=name, retention_in_days=RETENTION_DAYS, kms_key_id=deployment.kms_key
    )
    log.apply_removal_policy(RemovalPolicy.DESTROY)
    return log


class BuildProject(Construct):
    """A project without a source of its own."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        deployment: Deployment,
        kind: ProjectKind,
        role: iam.CfnRole,
        log: logs.CfnLogGroup,
    ) -> None:
        super().__init__(scope, id)
        buildspec = (BUILDSPECS / f"{kind.project}.buildspec.yaml").read_text("utf-8")
        project = codebuild.CfnProject(
            self,
            "Resource",
            name=deployment.build_project(kind.project),
            description=kind.about.format(environment=deployment.environment),
            source=codebuild.CfnProject.SourceProperty(type="NO_SOURCE", build_spec=buildspec),
            artifacts=codebuild.CfnProject.ArtifactsProperty(type="NO_ARTIFACTS"),
            environment=codebuild.CfnProject.EnvironmentProperty(
                type="LINUX_CONTAINER",
                compute_type=kind.compute,
                image=kind.image,
                image_pull_credentials_type="CODEBUILD",
                privileged_mode=kind.is_privileged,
            ),
            service_role=role.attr_arn,
            # CodeBuild's own default, but explicit.
            encryption_key=deployment.kms_key or deployment.arn("kms", "alias/aws/s3"),
            logs_config=codebuild.CfnProject.LogsConfigProperty(
                cloud_watch_logs=codebuild.CfnProject.CloudWatchLogsConfigProperty(
                    status="ENABLED", group_name=log.ref
                )
            ),
            timeout_in_minutes=ceil(deployment.build_seconds / 60) + kind.slack_minutes,
            queued_timeout_in_minutes=MINUTES_QUEUED,
            # No concurrent build limit: CodeBuild refuses one above the account's, which is 1 in a new
            # account, and fails builds beyond it, where it queues them without one. Source: CodeBuild user
            # guide, builds-working.html.
            visibility="PRIVATE",
        )
        if kind.is_privileged:
            acknowledge_docker(project)
