"""The CodeBuild projects of engines and images, their permissions, and the rule that reports failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from aws_cdk import RemovalPolicy
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from triton_endpoints.acknowledgements import acknowledge_docker
from triton_endpoints.endpoint.role import PULL
from triton_endpoints.policy import Statement
from triton_fleet.builds.engines.artifacts import SCRIPTS
from triton_fleet.builds.script import buildspec
from triton_fleet.catalog.images import TRITON_REPOSITORY, registry_accounts
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.deployment import BuildKind, Deployment

RETENTION_DAYS = 30
MAX_QUEUE_MINUTES = 480
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
        self.project = codebuild.CfnProject(
            self,
            "Resource",
            name=deployment.build_project(kind.project),
            description=kind.about.format(environment=deployment.environment),
            source=codebuild.CfnProject.SourceProperty(type="NO_SOURCE", build_spec=buildspec(kind.project)),
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
            queued_timeout_in_minutes=MAX_QUEUE_MINUTES,
            # No concurrent build limit: CodeBuild refuses one above the account's, which is 1 in a new
            # account, and fails builds beyond it, where it queues them without one. Source: CodeBuild user
            # guide, builds-working.html.
            visibility="PRIVATE",
        )
        if kind.is_privileged:
            acknowledge_docker(self.project)


SEVERITY: AlarmSeverity = "warning"
FAILURE_STATUSES = ("FAILED", "FAULT", "TIMED_OUT")
"""STOPPED is not among them: the person who stops a build knows."""
TEXT = (
    '"The build of WHAT ended as <status> (<endpoint>, <request>). Running endpoints are not affected;'
    ' the pending release is not published. Build: <build>. Log: <log>"'
)
_REASON_PATH = "$.detail.additional-information"
_VARIABLES = f"{_REASON_PATH}.environment.environment-variables"
NOUNS = {"engine": "a TensorRT engine", "image": "a container image"}
PATHS = {
    "status": "$.detail.build-status",
    "build": "$.detail.build-id",
    "request": f"{_VARIABLES}[0].value",
    "endpoint": f"{_VARIABLES}[1].value",
    "log": f"{_REASON_PATH}.logs.deep-link",
}
"""EventBridge escapes nothing: only what never has a quotation mark or a backslash may be here. The variables
are those of StartBuild, an address in S3 and a name.

Source: CodeBuild user guide, sample-build-notifications-ref.html.
"""


class BuildFailures(Construct):
    """A rule of EventBridge that publishes to the topic of warnings, which lets EventBridge publish."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        deployment: Deployment,
        noun: str,
        projects: Sequence[BuildKind],
        topic: str,
    ) -> None:
        """Declare the rule.

        Args:
            scope: The parent.
            id: The construct's own.
            deployment: The environment.
            noun: What is built, in the singular: `engine` or `image`.
            projects: The projects that build it.
            topic: The ARN of who is notified.
        """
        super().__init__(scope, id)
        events.CfnRule(
            self,
            "Resource",
            name=deployment.build_failures(noun),
            description=f"Failed {noun} builds of {deployment.environment}",
            event_pattern={
                "source": ["aws.codebuild"],
                "detail-type": ["CodeBuild Build State Change"],
                "detail": {
                    "build-status": list(FAILURE_STATUSES),
                    "project-name": [deployment.build_project(project) for project in projects],
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id=SEVERITY,
                    arn=topic,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map=PATHS, input_template=TEXT.replace("WHAT", NOUNS[noun])
                    ),
                )
            ],
        )


BUCKET_KEY = ("kms:Decrypt", "kms:GenerateDataKey")
"""For objects of the artifact bucket that are read and written."""


def source_statements(deployment: Deployment) -> list[Statement]:
    """For a build by CodeBuild, which asks where the bucket of its source is, and whose."""
    return [
        Statement(
            sid="FetchSource",
            actions=["s3:GetObject", "s3:GetObjectVersion"],
            resources=[f"{deployment.bucket_arn}/{SCRIPTS}*"],
        ),
        Statement(
            sid="SeeSource",
            actions=["s3:GetBucketAcl", "s3:GetBucketLocation"],
            resources=[deployment.bucket_arn],
        ),
    ]


def pull_statements(deployment: Deployment, *, own: bool) -> list[Statement]:
    """Pull releases, from each account that has them for the region; `own`: the environment's images, too."""
    repositories = [
        deployment.arn("ecr", f"repository/{TRITON_REPOSITORY}", account=account)
        for account in registry_accounts(deployment.region)
    ]
    if own:
        repositories.append(deployment.arn("ecr", f"repository/{deployment.image_repository}"))
    return [
        Statement(sid="LogInToRegistry", actions=["ecr:GetAuthorizationToken"], resources=["*"]),
        Statement(sid="PullImage", actions=PULL, resources=repositories),
    ]


def write_log(deployment: Deployment, group: str) -> Statement:
    """The log of a build, in a group that exists."""
    return Statement(
        sid="WriteLog",
        actions=["logs:CreateLogStream", "logs:PutLogEvents"],
        resources=[deployment.arn("logs", f"log-group:{group}:*")],
    )
