"""What those may do who build engines: builds on a GPU, SageMaker jobs, and builds that start these."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.endpoint.resolved_endpoint import Deployment
from fleet.engines.object_keys import ENGINES, FAILURE, MANIFEST, PLAN, PLANS
from triton_endpoints.builds.permissions import BUCKET_KEY, pull_statements, source_statements, write_log
from triton_endpoints.endpoint.role import WRITE_LOGS
from triton_endpoints.policy import Statement, use_key

JOB_NAME = "engine-*"
_JOBS = ("Processing", "Training")
_FAILURE = f"{PLANS}*/{FAILURE}"
_RECORDS = (_FAILURE, f"{ENGINES}timing/*")
"""What builds may overwrite: not the requests, which other builds carry out."""
_LEFT_BY_TRAINING = f"{PLANS}*/job/*"
"""Where a training job puts what its container leaves in /opt/ml/model."""


def build_statements(place: Deployment) -> list[Statement]:
    """A build on a GPU."""
    return [
        *_engines(place, records=_RECORDS),
        *_plan_statements(place),
        *source_statements(place),
        *pull_statements(place, own=True),
        write_log(place, place.engine_log_group),
        *use_key(place, *BUCKET_KEY),
    ]


def job_statements(place: Deployment) -> list[Statement]:
    """A SageMaker job: the same, and its own log, metrics and volume.

    Source of the metrics: SageMaker developer guide, sagemaker-roles.html, CreateProcessingJob and
    CreateTrainingJob.
    """
    return [
        *_engines(place, records=(*_RECORDS, _LEFT_BY_TRAINING)),
        *_plan_statements(place),
        *pull_statements(place, own=True),
        Statement(sid="WriteLogs", actions=WRITE_LOGS, resources=_job_logs(place, "", ":*")),
        Statement(
            sid="PublishJobMetrics",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={
                "StringEquals": {"cloudwatch:namespace": [f"/aws/sagemaker/{kind}Jobs" for kind in _JOBS]}
            },
        ),
        *use_key(place, *BUCKET_KEY),
        *_volume_key(place),
    ]


def starter_statements(place: Deployment, *, job_role: str) -> list[Statement]:
    """A build that starts a job and follows it."""
    actions = [f"sagemaker:{verb}{kind}Job" for verb in ("Create", "Describe", "Stop") for kind in _JOBS]
    return [
        *_engines(place, read=PLANS, records=(_FAILURE,)),
        *source_statements(place),
        Statement(
            sid="RunJobs",
            actions=[*actions, "sagemaker:AddTags"],
            resources=[place.arn("sagemaker", f"{kind.lower()}-job/{JOB_NAME}") for kind in _JOBS],
        ),
        Statement(
            sid="PassJobRole",
            actions=["iam:PassRole"],
            resources=[job_role],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        ),
        Statement(
            sid="FindJobLogs", actions=["logs:DescribeLogStreams"], resources=_job_logs(place, "", ":*")
        ),
        Statement(
            sid="ReadJobLogs",
            actions=["logs:GetLogEvents"],
            resources=_job_logs(place, f":log-stream:{JOB_NAME}"),
        ),
        write_log(place, place.engine_log_group),
        *use_key(place, *BUCKET_KEY),
    ]


def _engines(place: Deployment, *, read: str = ENGINES, records: Sequence[str]) -> list[Statement]:
    return [
        Statement(sid="ReadEngines", actions=["s3:GetObject"], resources=[f"{place.bucket_arn}/{read}*"]),
        Statement(
            sid="WriteRecords",
            actions=["s3:AbortMultipartUpload", "s3:PutObject"],
            resources=[f"{place.bucket_arn}/{key}" for key in records],
        ),
        # Without conditions: S3 reports a missing object as missing only to a caller that may list, and a
        # request for one object has no prefix.
        Statement(sid="SeeBucket", actions=["s3:ListBucket"], resources=[place.bucket_arn]),
    ]


def _plan_statements(place: Deployment) -> list[Statement]:
    """Plans and manifests, which are never written again: no build replaces what another has built.

    A part of an upload has no condition to give, and its completion does. Source: S3 user guide,
    conditional-writes-enforce.html.
    """
    plan, manifest = (f"{place.bucket_arn}/{PLANS}*/{name}" for name in (PLAN, MANIFEST))
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


def _job_logs(place: Deployment, *ends: str) -> list[str]:
    groups = [place.arn("logs", f"log-group:/aws/sagemaker/{kind}Jobs") for kind in _JOBS]
    return [f"{group}{end}" for group in groups for end in ends]


def _volume_key(place: Deployment) -> list[Statement]:
    if not place.kms_key:
        return []
    return [
        Statement(sid="SeeVolumeKey", actions=["kms:DescribeKey"], resources=[place.kms_key]),
        Statement(
            sid="GrantVolumeKey",
            actions=["kms:CreateGrant"],
            resources=[place.kms_key],
            conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
        ),
    ]
