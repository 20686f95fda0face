"""What the functions of Foundation have in common: their code, their roles, their names."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Duration, IgnoreMode, RemovalPolicy, SymlinkFollowMode
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from fleet.resolve.endpoint import Place

CODE = Path(__file__).resolve().parents[2] / "lambda"


def log_of(scope: Construct) -> logs.LogGroup:
    """The log group of a provider's functions."""
    return logs.LogGroup(
        scope, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
    )


def role_of(scope: Construct, id: str, log: logs.LogGroup) -> iam.Role:
    """A role for Lambda without AWS's managed policy, which writes to every log group."""
    role = iam.Role(scope, id, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    log.grant_write(role)
    return role


def function_of(
    scope: Construct,
    id: str,
    *,
    handler: str,
    description: str,
    seconds: int,
    role: iam.Role,
    log: logs.LogGroup,
    environment: dict[str, str],
    memory_mib: int | None = None,
) -> lambda_.Function:
    """A function whose package below `lambda/` is the first part of its handler's name."""
    package = handler.partition(".")[0]
    return lambda_.Function(
        scope,
        id,
        description=description,
        runtime=lambda_.Runtime.PYTHON_3_14,
        code=lambda_.Code.from_asset(
            str(CODE),
            exclude=["*", f"!{package}", f"!{package}/*.py"],
            ignore_mode=IgnoreMode.GIT,
            follow_symlinks=SymlinkFollowMode.ALWAYS,
        ),
        handler=handler,
        timeout=Duration.seconds(seconds),
        memory_size=memory_mib,
        role=role,
        log_group=log,
        environment=environment,
    )


def framework_name(place: Place, noun: str) -> str:
    """The framework's function, which custom resources name as their service token.

    Named by us: CloudFormation refuses to change the token of a custom resource, whatever becomes of the
    function behind it.
    """
    return f"{place.stack}-{noun}"


def service_token(place: Place, noun: str) -> str:
    """The ARN of the framework's function."""
    return place.arn("lambda", f"function:{framework_name(place, noun)}")
