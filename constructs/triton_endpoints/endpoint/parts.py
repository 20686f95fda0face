"""All parts of one endpoint, declared into a scope: a stack of its own, or a construct in somebody else's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from aws_cdk import CfnResource
from aws_cdk import aws_iam as iam
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
    """The constructs of one endpoint.

    Attributes:
        role: What the container acts in.
        model: The SageMaker Model.
        served: The endpoint configuration and the endpoint.
        logs: The log groups; None where nothing owns them.
        update: The custom resources before and after an update; None where nothing guards it.
        check: The custom resource that calls the endpoint; None where nothing does.
        scaling: Target tracking and schedules; None without scaling.
        alarms: The operators' alarms.
        dashboard: None in an environment without dashboards.
        invoker: The role in which others call it; None unless the spec names who may.
    """

    role: EndpointRole
    model: EndpointModel
    served: SageMakerEndpoint
    logs: OwnedLogs | None
    update: GuardedUpdate | None
    check: CfnResource | None
    scaling: EndpointScaling | None
    alarms: EndpointAlarms
    dashboard: EndpointDashboard | None
    invoker: InvokerRole | None = None


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
    served = SageMakerEndpoint(scope, "Endpoint", endpoint=endpoint, model=model)
    logs = _declare_logs(scope, endpoint, served, tokens)
    update = _declare_update(scope, endpoint, served, tokens)
    last = update.after if update else served.endpoint
    check = _declare_check(scope, endpoint, served, tokens, last)
    scaling = _declare_scaling(scope, endpoint, served, last, check)
    if scaling is not None and update is not None:
        update.name_policies(scaling.policy_names)
    targets = alarm_targets or FoundationTopics(endpoint.deployment, endpoint.topic_owner)
    alarms = EndpointAlarms(scope, "Alarms", endpoint=endpoint, targets=targets)
    queries = list[CfnResource]()
    if logs is not None:
        queries += EndpointQueries(scope, "Queries", endpoint=endpoint).queries
        for query in queries:
            query.add_resource_dependency(logs.resource)
    dashboard = (
        EndpointDashboard(scope, "Dashboard", endpoint=endpoint) if endpoint.deployment.dashboards else None
    )
    invoker = InvokerRole(scope, "Invoker", endpoint=endpoint) if endpoint.spec.access.invokers else None
    # If another resource failed while the endpoint is in progress, CloudFormation would have to delete or
    # update it then, which SageMaker refuses.
    before = (
        *(() if targets.may_need_endpoint else alarms.alarms),
        *queries,
        *([dashboard.dashboard] if dashboard else []),
        *([invoker.policy] if invoker else []),
    )
    for resource in before:
        served.endpoint.add_resource_dependency(resource)
    return EndpointParts(
        role=own_role,
        model=model,
        served=served,
        logs=logs,
        update=update,
        check=check,
        scaling=scaling,
        alarms=alarms,
        dashboard=dashboard,
        invoker=invoker,
    )


def _declare_logs(
    scope: Construct, endpoint: ResolvedEndpoint, served: SageMakerEndpoint, tokens: ServiceTokens
) -> OwnedLogs | None:
    """The log groups, before the first line is logged: a group that a container makes is kept for ever."""
    if tokens.logs is None:
        return None
    logs = OwnedLogs(scope, "Logs", service_token=tokens.logs, endpoint=endpoint)
    served.endpoint.add_resource_dependency(logs.resource)
    return logs


def _declare_update(
    scope: Construct, endpoint: ResolvedEndpoint, served: SageMakerEndpoint, tokens: ServiceTokens
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
        config_name=served.config.attr_endpoint_config_name,
        is_cleaned_up=endpoint.is_cleaned_up,
    )
    served.endpoint.add_resource_dependency(update.before)
    update.after.add_resource_dependency(served.endpoint)
    return update


def _declare_check(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    served: SageMakerEndpoint,
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
        config_name=served.config.attr_endpoint_config_name,
    )
    check.add_resource_dependency(after)
    return check


def _declare_scaling(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    served: SageMakerEndpoint,
    after: CfnResource,
    check: CfnResource | None,
) -> EndpointScaling | None:
    if endpoint.scaling is None:
        return None
    scaling = EndpointScaling(
        scope,
        "Scaling",
        scaling=endpoint.scaling,
        endpoint_name=served.endpoint.attr_endpoint_name,
        variant=VARIANT,
        instance=endpoint.instance.type,
        after=after,
    )
    if check is not None:
        for resource in scaling.resources:
            check.add_resource_dependency(resource)
    return scaling
