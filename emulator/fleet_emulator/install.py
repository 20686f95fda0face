"""The one place where moto is changed; `install` may be called again and again."""

from __future__ import annotations

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.awslambda.models import lambda_backends
from moto.cloudformation.models import cloudformation_backends
from moto.cloudwatch.models import cloudwatch_backends
from moto.codebuild.models import codebuild_backends
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.responses import BaseResponse
from moto.ecr.models import ecr_backends
from moto.events.models import Rule
from moto.iam.access_control import PermissionResult
from moto.logs.models import logs_backends
from moto.s3.models import FakeBucket, s3_backends
from moto.sagemaker.models import sagemaker_backends
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator import failures
from fleet_emulator.accounts import account_of_request
from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling
from fleet_emulator.cloudwatch.backend import EmbeddedCloudWatch
from fleet_emulator.codebuild.backend import EmbeddedCodeBuild
from fleet_emulator.events import topics
from fleet_emulator.functions.backend import EmbeddedLambda
from fleet_emulator.logs.backend import EmbeddedLogs
from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from fleet_emulator.registry.backend import EmbeddedEcr
from fleet_emulator.s3.backend import EmbeddedS3
from fleet_emulator.sagemaker.backend import EmbeddedSageMaker
from fleet_emulator.stacks.backend import EmbeddedCloudFormation


def _no_opinion(self: FakeBucket, action: str, resource: str) -> PermissionResult:
    return PermissionResult.NEUTRAL


def install() -> None:
    """Put our own services into moto, and fix what both the CDK CLI and boto3 meet.

    Backends are made on first use, so this comes before moto's state is reset.
    """
    # moto scales what does not exist, and keeps policies and schedules of what is not registered any more.
    applicationautoscaling_backends.backend = EmbeddedAutoScaling
    # moto has no runs in the background, no rollback, and loses outputs of change sets.
    cloudformation_backends.backend = EmbeddedCloudFormation
    # moto has no percentiles and no metric math, and takes metrics of one name for one metric.
    cloudwatch_backends.backend = EmbeddedCloudWatch
    # moto knows no image of another account's registry, keeps no layer, and makes up digests.
    ecr_backends.backend = EmbeddedEcr
    # moto lets every build succeed at once, and runs none.
    codebuild_backends.backend = EmbeddedCodeBuild
    # moto publishes no event to a topic.
    Rule.send_to_targets = topics.send_to_targets  # type: ignore[method-assign]
    # moto does not know the settings of an account.
    lambda_backends.backend = EmbeddedLambda
    # moto does not know keys of log groups that exist.
    logs_backends.backend = EmbeddedLogs
    # moto compares no checksum, overwrites what exists, and holds a large object in memory several times.
    s3_backends.backend = EmbeddedS3
    # moto has no UpdateEndpoint, serves nothing, and knows few instance types.
    sagemaker_backends.backend = EmbeddedSageMaker
    # moto cannot list quotas, and knows those of a VPC alone.
    servicequotas_backends.backend = EmbeddedServiceQuotas
    # moto takes every request for one of its own account, or of the one that a header names.
    BaseResponse.get_current_account = account_of_request  # type: ignore[assignment,method-assign]
    # moto answers an unexpected exception with HTTP 500 and HTML, which SDKs retry and cannot read.
    BaseResponse.call_action = failures.call_action  # type: ignore[method-assign]
    # moto warns of every error code that is not in botocore's model of the service.
    if failures.EmbeddedAwsError.code not in COMMON_ERROR_CODES:
        COMMON_ERROR_CODES.append(failures.EmbeddedAwsError.code)
    # moto ignores a bucket policy's conditions, so "deny without TLS" would deny every request.
    FakeBucket.get_permission = _no_opinion  # type: ignore[method-assign]
