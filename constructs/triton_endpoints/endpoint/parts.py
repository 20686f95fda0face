"""All parts of one endpoint, declared into a scope: a stack of its own, or a construct in somebody else's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from aws_cdk import CfnResource, aws_logs
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from triton_endpoints.endpoint.alarms import AlarmTargets, EndpointAlarms, FoundationTopics
from triton_endpoints.endpoint.check import NOUN as CHECK
from triton_endpoints.endpoint.check import CheckedEndpoint
from triton_endpoints.endpoint.dashboard import EndpointDashboard, EndpointQueries
from triton_endpoints.endpoint.logs import NOUN as LOGS
from triton_endpoints.endpoint.logs import OwnedLogs
from triton_endpoints.endpoint.model import EndpointModel
from triton_endpoints.endpoint.role import EndpointRole, InvokerRole
from triton_endpoints.endpoint.sagemaker_endpoint import SageMakerEndpoint
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_endpoints.lambda_function import service_token
from triton_endpoints.scaling_guard import NOUN as GUARD
from triton_endpoints.scaling_guard import GuardedUpdate
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class ServiceTokens:
    """The ARNs of the functions that an endpoint's custom resources call.

    Attributes:
        guard: Who guards its updates; None: nobody does.
        logs: Who owns its log groups; None: SageMaker makes them, and nobody removes a line.
        check: Who calls it after a deploy; None: nobody does.
    """

    guard: str | None
    logs: str | None
    check: str | None

    @classmethod
    def of_environment(cls, deployment: Deployment) -> Self:
        """Those that all endpoints of an environment share, whose names follow from it."""
        guard, logs, check = (service_token(deployment, noun) for noun in (GUARD, LOGS, CHECK))
        return cls(guard=guard, logs=logs, check=check)


@dataclass(frozen=True, kw_only=True)
class EndpointParts:
    """The resources of one endpoint, for what its props do not have.

    Attributes:
        role: What the container acts in; None where the app gave a role.
        role_policies: What it may do there.
        model: The SageMaker Model.
        config: The endpoint configuration.
        endpoint: The endpoint; any change of its properties makes another configuration.
        rollback_alarms: The alarms that roll an update back.
        logs: The custom resource that owns the log groups; None where nothing owns them.
        guard_before: The custom resource that takes scaling aside before an update; None where nothing does.
        guard_after: The custom resource that restores it; None likewise.
        check: The custom resource that calls the endpoint; None where nothing does.
        scaling_target: The scalable target; None without scaling.
        scaling_policies: The policies of target tracking.
        alarms: The operators' alarms.
        queries: The saved queries of its logs.
        dashboard: None in an environment without dashboards.
        invoker: The role in which others call it; None unless the spec names who may.
    """

    role: iam.CfnRole | None
    role_policies: tuple[iam.CfnPolicy, ...]
    model: sagemaker.CfnModel
    config: sagemaker.CfnEndpointConfig
    endpoint: sagemaker.CfnEndpoint
    rollback_alarms: tuple[cloudwatch.CfnAlarm, ...]
    logs: CfnResource | None
    guard_before: CfnResource | None
    guard_after: CfnResource | None
    check: CfnResource | None
    scaling_target: autoscaling.CfnScalableTarget | None
    scaling_policies: tuple[autoscaling.CfnScalingPolicy, ...]
    alarms: tuple[cloudwatch.CfnAlarm, ...]
    queries: tuple[aws_logs.CfnQueryDefinition, ...]
    dashboard: cloudwatch.CfnDashboard | None
    invoker: iam.CfnRole | None


def declare_endpoint(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    *,
    alarm_targets: AlarmTargets | None = None,
    role: iam.IRole | None = None,
    tokens: ServiceTokens | None = None,
) -> EndpointParts:
    """Declare an endpoint that is resolved, with the ids that every endpoint has.

    Args:
        scope: What the parts are children of.
        endpoint: Everything decided.
        alarm_targets: Whom the alarms notify; default: the topics of the environment's Foundation.
        role: What the container acts in; default: a role of its own.
        tokens: Whom the custom resources call; default: the functions of the environment's Foundation.
    """
    tokens = tokens or ServiceTokens.of_environment(endpoint.deployment)
    own_role = EndpointRole(scope, "Role", endpoint=endpoint, given_role=role)
    model = EndpointModel(scope, "Model", endpoint=endpoint, role=own_role)
    sagemaker_endpoint = SageMakerEndpoint(scope, "Endpoint", endpoint=endpoint, model=model)
    logs = _declare_logs(scope, endpoint, sagemaker_endpoint, tokens)
    update = _declare_update(scope, endpoint, sagemaker_endpoint, tokens)
    last = update.after if update else sagemaker_endpoint.endpoint
    check = _declare_check(scope, endpoint, sagemaker_endpoint, tokens, last)
    scaling = _declare_scaling(scope, endpoint, sagemaker_endpoint, last, check)
    if scaling is not None and update is not None:
        update.name_policies([policy.policy_name for policy in scaling.policies])
    targets = alarm_targets or FoundationTopics(endpoint.deployment, endpoint.topic_owner)
    alarms = EndpointAlarms(scope, "Alarms", endpoint=endpoint, targets=targets)
    queries = None
    if logs is not None:
        queries = EndpointQueries(scope, "Queries", endpoint=endpoint)
        queries.node.add_dependency(logs.resource)
    dashboard = (
        EndpointDashboard(scope, "Dashboard", endpoint=endpoint) if endpoint.deployment.dashboards else None
    )
    invoker = InvokerRole(scope, "Invoker", endpoint=endpoint) if endpoint.spec.access.invokers else None
    # If another resource failed while the endpoint is in progress, CloudFormation would have to delete or
    # update it then, which SageMaker refuses.
    sagemaker_endpoint.endpoint.node.add_dependency(
        *([] if targets.may_need_endpoint else [alarms]),
        *([queries] if queries else []),
        *([dashboard] if dashboard else []),
        *([invoker.policy] if invoker else []),
    )
    return EndpointParts(
        role=own_role.role,
        role_policies=own_role.policies,
        model=model.model,
        config=sagemaker_endpoint.config,
        endpoint=sagemaker_endpoint.endpoint,
        rollback_alarms=sagemaker_endpoint.rollback_alarms,
        logs=logs.resource if logs else None,
        guard_before=update.before if update else None,
        guard_after=update.after if update else None,
        check=check,
        scaling_target=scaling.target if scaling else None,
        scaling_policies=scaling.policies if scaling else (),
        alarms=alarms.alarms,
        queries=queries.queries if queries else (),
        dashboard=dashboard.dashboard if dashboard else None,
        invoker=invoker.role if invoker else None,
    )


def _declare_logs(
    scope: Construct, endpoint: ResolvedEndpoint, sagemaker_endpoint: SageMakerEndpoint, tokens: ServiceTokens
) -> OwnedLogs | None:
    """The log groups, before the first line is logged: a group that a container makes is kept for ever."""
    if tokens.logs is None:
        return None
    logs = OwnedLogs(scope, "Logs", service_token=tokens.logs, endpoint=endpoint)
    sagemaker_endpoint.endpoint.add_resource_dependency(logs.resource)
    return logs


def _declare_update(
    scope: Construct, endpoint: ResolvedEndpoint, sagemaker_endpoint: SageMakerEndpoint, tokens: ServiceTokens
) -> GuardedUpdate | None:
    """The guard around the endpoint, scaled or not: it may have been scaled until now, or by hand."""
    if tokens.guard is None:
        return None
    update = GuardedUpdate(
        scope,
        "Update",
        service_token=tokens.guard,
        endpoint=endpoint.name,
        variant=VARIANT,
        instance=endpoint.instance.type,
        config_name=sagemaker_endpoint.config.attr_endpoint_config_name,
        is_cleaned_up=endpoint.is_cleaned_up,
    )
    sagemaker_endpoint.endpoint.add_resource_dependency(update.before)
    update.after.add_resource_dependency(sagemaker_endpoint.endpoint)
    return update


def _declare_check(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    sagemaker_endpoint: SageMakerEndpoint,
    tokens: ServiceTokens,
    after: CfnResource,
) -> CheckedEndpoint | None:
    if tokens.check is None:
        return None
    check = CheckedEndpoint(
        scope,
        "Check",
        service_token=tokens.check,
        endpoint=endpoint,
        config_name=sagemaker_endpoint.config.attr_endpoint_config_name,
    )
    check.add_resource_dependency(after)
    return check


def _declare_scaling(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    sagemaker_endpoint: SageMakerEndpoint,
    after: CfnResource,
    check: CfnResource | None,
) -> EndpointScaling | None:
    if endpoint.scaling is None:
        return None
    scaling = EndpointScaling(
        scope,
        "Scaling",
        scaling=endpoint.scaling,
        endpoint_name=sagemaker_endpoint.endpoint.attr_endpoint_name,
        variant=VARIANT,
        instance=endpoint.instance.type,
        after=after,
    )
    if check is not None:
        for resource in (scaling.target, *scaling.policies):
            check.add_resource_dependency(resource)
    return scaling
