"""The bucket of an environment's archives and engines."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from triton_fleet.builds.engines.artifacts import JOBS

NONCURRENT_DAYS, UPLOAD_DAYS, LOG_DAYS = 90, 7, 365
JOB_DAYS = 7
"""For what a build of engines could not delete; a job runs for less than two days."""
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""Kept once deployed; a first deploy that failed leaves no bucket whose name the next one would meet."""


class ArtifactBucket(Construct):
    """An encrypted, TLS-only, versioned and retained bucket with access logs.

    Its name follows from environment, account and region, so that endpoint stacks know it without an export.
    Without a key of one's own S3 encrypts with its own; access logs can have no other. Source: S3 user guide,
    server access logging.
    """

    def __init__(self, scope: Construct, id: str, *, bucket_name: str, kms_key: str | None = None) -> None:
        super().__init__(scope, id)
        key = kms.Key.from_key_arn(self, "Key", kms_key) if kms_key else None
        logs = s3.Bucket(
            self,
            "AccessLogs",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(LOG_DAYS))],
            removal_policy=KEPT,
        )
        self.bucket = s3.Bucket(
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
            removal_policy=KEPT,
        )
