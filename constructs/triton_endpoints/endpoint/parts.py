"""All parts of one endpoint, declared into a scope: a stack of its own, or a construct in somebody else's."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import CfnResource
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.endpoint.alarms import AlarmTargets, EndpointAlarms, FoundationTopics
from triton_endpoints.endpoint.check import CheckedEndpoint
from triton_endpoints.endpoint.dashboard import EndpointDashboard, EndpointQueries
from triton_endpoints.endpoint.logs import OwnedLogs
from triton_endpoints.endpoint.model import EndpointModel
from triton_endpoints.endpoint.role import EndpointRole, InvokerRole
from triton_endpoints.endpoint.sagemaker_endpoint import SageMakerEndpoint
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_endpoints.scaling_guard import GuardedUpdate
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint


@dataclass(frozen=True, kw_only=True)
class EndpointParts:
    """The constructs of one endpoint.

    Attributes:
        role: What the container acts in.
        model: The SageMaker Model.
        served: The endpoint configuration and the endpoint.
        logs: The log groups.
        update: The custom resources before and after an update.
        check: The custom resource that calls the endpoint.
        scaling: Target tracking and schedules; None without scaling.
        alarms: The operators' alarms.
        dashboard: None in an environment without dashboards.
        invoker: The role in which others call it; None unless the spec names who may.
    """

    role: EndpointRole
    model: EndpointModel
    served: SageMakerEndpoint
    logs: OwnedLogs
    update: GuardedUpdate
    check: CfnResource
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
) -> EndpointParts:
    """Declare an endpoint that is resolved, with the ids that every endpoint has.

    Args:
        scope: What the parts are children of.
        endpoint: Everything decided.
        alarm_targets: Whom the alarms notify; default: the topics of the environment's Foundation.
        role: What the container acts in; default: a role of its own.
    """
    own_role = EndpointRole(scope, "Role", endpoint=endpoint, given_role=role)
    model = EndpointModel(scope, "Model", endpoint=endpoint, role=own_role)
    served = SageMakerEndpoint(scope, "Endpoint", endpoint=endpoint, model=model)
    # Before the first line is logged: a group that a container makes is kept for ever.
    logs = OwnedLogs(scope, "Logs", endpoint=endpoint)
    served.endpoint.add_resource_dependency(logs.resource)
    # Scaled or not: the variant may have been scaled until now, or by hand.
    update = GuardedUpdate(
        scope,
        "Update",
        deployment=endpoint.deployment,
        endpoint=endpoint.name,
        variant=VARIANT,
        instance=endpoint.instance.type,
        config_name=served.config.attr_endpoint_config_name,
        is_cleaned_up=endpoint.is_cleaned_up,
    )
    served.endpoint.add_resource_dependency(update.before)
    update.after.add_resource_dependency(served.endpoint)
    check = CheckedEndpoint(
        scope, "Check", endpoint=endpoint, config_name=served.config.attr_endpoint_config_name
    )
    check.add_resource_dependency(update.after)
    scaling = _declare_scaling(scope, endpoint, served, update.after, check)
    if scaling is not None:
        update.name_policies(scaling.policy_names)
    targets = alarm_targets or FoundationTopics(endpoint.deployment, endpoint.topic_owner)
    alarms = EndpointAlarms(scope, "Alarms", endpoint=endpoint, targets=targets)
    queries = EndpointQueries(scope, "Queries", endpoint=endpoint).queries
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


def _declare_scaling(
    scope: Construct,
    endpoint: ResolvedEndpoint,
    served: SageMakerEndpoint,
    after: CfnResource,
    check: CfnResource,
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
    for resource in scaling.resources:
        check.add_resource_dependency(resource)
    return scaling
