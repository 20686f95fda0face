"""Builds of TensorRT engines: SageMaker jobs, the CodeBuild project that starts them, and their rights."""

from __future__ import annotations

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from triton_endpoints.builds.project import (
    BUCKET_KEY,
    STARTS_A_JOB,
    BuildFailures,
    BuildProject,
    build_log,
    pull_statements,
    source_statements,
    write_log,
)
from triton_endpoints.endpoint.role import WRITE_LOGS
from triton_endpoints.policy import Statement, service_role, use_key
from triton_fleet.builds.engines.artifacts import FAILURE, JOBS, MANIFEST, ONNX, PLAN, PLANS
from triton_fleet.spec.deployment import Deployment

JOB_NAME = "engine-*"
_KINDS = ("Processing", "Training")


def job_statements(deployment: Deployment) -> list[Statement]:
    """A SageMaker job: SageMaker itself uses them, and the isolated container has no credentials.

    Source of the metrics: SageMaker developer guide, sagemaker-roles.html, CreateProcessingJob and
    CreateTrainingJob.
    """
    return [
        Statement(
            sid="MoveFiles",
            actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
            resources=[f"{deployment.bucket_arn}/{JOBS}*"],
        ),
        Statement(
            sid="ListFiles",
            actions=["s3:ListBucket"],
            resources=[deployment.bucket_arn],
            conditions={"StringLike": {"s3:prefix": f"{JOBS}*"}},
        ),
        *pull_statements(deployment, own=deployment.builds_in_own_images),
        Statement(sid="WriteLogs", actions=WRITE_LOGS, resources=_job_logs(deployment, "", ":*")),
        Statement(
            sid="PublishJobMetrics",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={
                "StringEquals": {"cloudwatch:namespace": [f"/aws/sagemaker/{kind}Jobs" for kind in _KINDS]}
            },
        ),
        *use_key(deployment, *BUCKET_KEY),
        *_volume_key(deployment),
    ]


def starter_statements(deployment: Deployment, *, job_role: str) -> list[Statement]:
    """A build that hands a job its inputs, starts and follows it, and stores the engine that it leaves."""
    actions = [f"sagemaker:{verb}{kind}Job" for verb in ("Create", "Describe", "Stop") for kind in _KINDS]
    return [
        Statement(
            sid="ReadEngines",
            actions=["s3:GetObject"],
            resources=[f"{deployment.bucket_arn}/{prefix}*" for prefix in (ONNX, PLANS)],
        ),
        *_plan_statements(deployment),
        Statement(
            sid="WriteFailures",
            actions=["s3:PutObject"],
            resources=[f"{deployment.bucket_arn}/{PLANS}*/{FAILURE}"],
        ),
        Statement(
            sid="HandOverJobs",
            actions=["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            resources=[f"{deployment.bucket_arn}/{JOBS}*"],
        ),
        # Without conditions: S3 reports a missing object as missing only to a caller that may list, and a
        # request for one object has no prefix.
        Statement(sid="SeeBucket", actions=["s3:ListBucket"], resources=[deployment.bucket_arn]),
        *source_statements(deployment),
        Statement(
            sid="RunJobs",
            actions=[*actions, "sagemaker:AddTags"],
            resources=[deployment.arn("sagemaker", f"{kind.lower()}-job/{JOB_NAME}") for kind in _KINDS],
        ),
        Statement(
            sid="PassJobRole",
            actions=["iam:PassRole"],
            resources=[job_role],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        ),
        Statement(
            sid="FindJobLogs", actions=["logs:DescribeLogStreams"], resources=_job_logs(deployment, "", ":*")
        ),
        Statement(
            sid="ReadJobLogs",
            actions=["logs:GetLogEvents"],
            resources=_job_logs(deployment, f":log-stream:{JOB_NAME}"),
        ),
        write_log(deployment, deployment.engine_log_group),
        *use_key(deployment, *BUCKET_KEY),
    ]


def _plan_statements(deployment: Deployment) -> list[Statement]:
    """Plans and manifests, which are never written again: no build replaces what another has built.

    A part of an upload has no condition to give, and its completion does. Source: S3 user guide,
    conditional-writes-enforce.html.
    """
    plan, manifest = (f"{deployment.bucket_arn}/{PLANS}*/{name}" for name in (PLAN, MANIFEST))
    return [
        Statement(
            sid="WriteEngines",
            actions=["s3:PutObject"],
            resources=[plan, manifest],
            conditions={"Null": {"s3:if-none-match": "false"}},
        ),
        Statement(
            sid="UploadParts",
            actions=["s3:PutObject"],
            resources=[plan],
            conditions={"Bool": {"s3:ObjectCreationOperation": "false"}},
        ),
        Statement(sid="EndUploads", actions=["s3:AbortMultipartUpload"], resources=[plan]),
    ]


def _job_logs(deployment: Deployment, *ends: str) -> list[str]:
    groups = [deployment.arn("logs", f"log-group:/aws/sagemaker/{kind}Jobs") for kind in _KINDS]
    return [f"{group}{end}" for group in groups for end in ends]


def _volume_key(deployment: Deployment) -> list[Statement]:
    if not deployment.kms_key:
        return []
    return [
        Statement(sid="SeeVolumeKey", actions=["kms:DescribeKey"], resources=[deployment.kms_key]),
        Statement(
            sid="GrantVolumeKey",
            actions=["kms:CreateGrant"],
            resources=[deployment.kms_key],
            conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
        ),
    ]


class EngineBuild(Construct):
    """The project of an environment, which publishing knows by its name.

    `topic` is the ARN of the one that is notified of failed builds.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, topic: str) -> None:
        super().__init__(scope, id)
        log = build_log(self, deployment, deployment.engine_log_group)
        job = service_role(
            self,
            "JobRole",
            service="sagemaker",
            deployment=deployment,
            description=f"Role of SageMaker jobs that build the engines of {deployment.environment}",
            statements=job_statements(deployment),
        )
        ssm.CfnParameter(
            self,
            "JobRoleArn",
            type="String",
            name=deployment.engine_job_role,
            value=job.attr_arn,
            description="ARN of the role of SageMaker jobs that build engines",
        )
        starter = service_role(
            self,
            "StarterRole",
            service="codebuild",
            deployment=deployment,
            description=f"Role of CodeBuild that starts the engine jobs of {deployment.environment}",
            statements=starter_statements(deployment, job_role=job.attr_arn),
        )
        jobs = BuildProject(self, "Jobs", deployment=deployment, kind=STARTS_A_JOB, role=starter, log=log)
        self.project, self.job_role = jobs.project, job
        BuildFailures(self, "Failures", deployment=deployment, noun="engine", projects=("job",), topic=topic)
