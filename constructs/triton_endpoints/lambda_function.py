"""Common parts of the functions that custom resources call: their code, their roles, their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from aws_cdk import Aws, Duration, IgnoreMode, RemovalPolicy, SymlinkFollowMode
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.custom_resources import Provider
from constructs import Construct

from triton_endpoints.acknowledgements import acknowledge_invocation, acknowledge_waiter
from triton_endpoints.policy import Statement, policy_of
from triton_endpoints.wildcards import Wildcard
from triton_fleet.core.folders import source_path
from triton_fleet.spec.deployment import Deployment

CODE = source_path("lambda")


def log_of(scope: Construct, deployment: Deployment) -> logs.LogGroup:
    """The log group of a provider's functions, encrypted with the environment's key where it has one."""
    log = logs.LogGroup(
        scope, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
    )
    cast(logs.CfnLogGroup, log.node.default_child).kms_key_id = deployment.kms_key
    return log


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
    environment: dict[str, str] | None = None,
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


def provider_of(
    scope: Construct,
    noun: str,
    *,
    deployment: Deployment,
    handler: str,
    description: str,
    seconds: int,
    statements: Sequence[Statement],
    is_shared: bool,
) -> str:
    """A provider of one function, with its log, its roles and its policy; the token of custom resources."""
    log = log_of(scope, deployment)
    role = role_of(scope, "Role", log)
    policy = policy_of(scope, "Policy", role_name=role.role_name, statements=statements)
    function = function_of(
        scope,
        "Function",
        handler=handler,
        description=description,
        seconds=seconds,
        role=role,
        log=log,
    )
    function.node.add_dependency(policy)
    caller = role_of(scope, "FrameworkRole", log)
    provider = Provider(
        scope,
        "Provider",
        on_event_handler=function,
        framework_on_event_role=caller,
        log_group=log,
        provider_function_name=framework_name(deployment, noun) if is_shared else None,
    )
    acknowledge_invocation(caller, function)
    return provider.service_token


class Step(NamedTuple):
    """A function of a provider that waits: its id, its part of the handler's module, purpose and limit."""

    id: str
    entry: str
    description: str
    seconds: int


def waiting_provider(
    scope: Construct,
    noun: str,
    *,
    deployment: Deployment,
    module: str,
    begin: Step,
    look: Step,
    statements: Sequence[Statement],
    environment: dict[str, str],
    seconds_between: int,
    total_minutes: int,
    is_shared: bool,
    memory_mib: int | None = None,
    further: Sequence[Wildcard] = (),
) -> str:
    """A provider that calls `begin` once, and `look` until it is complete; the token of custom resources.

    `further` are wildcards that their policy means beside the usual ones.

    CloudFormation waits for an hour at most (source: its template reference, ServiceTimeout). The framework's
    own "Operation timed out" has no reason, so a look has to give up before `total_minutes`.
    """
    log = log_of(scope, deployment)
    role = role_of(scope, "Role", log)
    policy = policy_of(scope, "Policy", role_name=role.role_name, statements=statements, further=further)
    functions = [
        function_of(
            scope,
            step.id,
            handler=f"{module}.{step.entry}",
            description=step.description,
            seconds=step.seconds,
            role=role,
            log=log,
            environment=environment,
            memory_mib=memory_mib,
        )
        for step in (begin, look)
    ]
    for function in functions:
        function.node.add_dependency(policy)
    begin_function, look_function = functions
    caller, looker = role_of(scope, "FrameworkRole", log), role_of(scope, "FrameworkWaitRole", log)
    provider = Provider(
        scope,
        "Provider",
        on_event_handler=begin_function,
        is_complete_handler=look_function,
        query_interval=Duration.seconds(seconds_between),
        total_timeout=Duration.minutes(total_minutes),
        framework_on_event_role=caller,
        framework_complete_and_timeout_role=looker,
        log_group=log,
        # It could log by actions on all logs of the account alone; each look logs what it sees.
        disable_waiter_state_machine_logging=True,
        provider_function_name=framework_name(deployment, noun) if is_shared else None,
    )
    for framework in (caller, looker):
        acknowledge_invocation(framework, *functions)
    acknowledge_waiter(provider)
    return provider.service_token


def framework_name(deployment: Deployment, noun: str) -> str:
    """The framework's function of what an environment shares, which custom resources name as their token.

    Named by us: CloudFormation refuses to change the token of a custom resource, whatever becomes of the
    function behind it.
    """
    return f"{deployment.stack}-{noun}"


def service_token(deployment: Deployment, noun: str) -> str:
    """The ARN of the framework's function."""
    return deployment.arn("lambda", f"function:{framework_name(deployment, noun)}")


def stack_tag(deployment: Deployment) -> str:
    """The key of the tag of stacks, in apps of others, whose endpoints the environment's functions serve."""
    return f"triton-fleet:endpoints/{deployment.environment}"


STACK_TAG_VALUE = "true"


def see_stacks(deployment: Deployment, *, is_shared: bool) -> list[Statement]:
    """For functions that must not fail in a rollback of the stack that calls them.

    Args:
        deployment: The environment.
        is_shared: Whether other stacks call them: those of the fleet by their names, others by their tag.
            Source: service authorization reference of CloudFormation, DescribeStacks.
    """
    actions = ["cloudformation:DescribeStacks"]
    if not is_shared:
        return [Statement(sid="SeeStack", actions=actions, resources=[Aws.STACK_ID])]
    return [
        Statement(
            sid="SeeStacks",
            actions=actions,
            resources=[deployment.arn("cloudformation", f"stack/{deployment.stack}-*")],
        ),
        Statement(
            sid="SeeTaggedStacks",
            actions=actions,
            resources=[deployment.arn("cloudformation", "stack/*")],
            conditions={"StringEquals": {f"aws:ResourceTag/{stack_tag(deployment)}": STACK_TAG_VALUE}},
        ),
    ]
