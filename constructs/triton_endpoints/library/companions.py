"""Alarms, scaling and a dashboard for an endpoint that is deployed elsewhere, each a construct of its own."""

from __future__ import annotations

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_endpoints.endpoint.alarms import EndpointAlarms
from triton_endpoints.endpoint.dashboard import EndpointDashboard
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_endpoints.library.alarm_actions import AlarmActions
from triton_endpoints.library.declaration import alarm_targets, resolve
from triton_endpoints.library.environment import report
from triton_endpoints.library.props import Alarms, Scaling
from triton_endpoints.library.reference import ImportedEndpoint, declaration_of
from triton_endpoints.library.shared_parts import claim
from triton_fleet.endpoint.resolved_endpoint import VARIANT
from triton_fleet.findings import FindingsError


class TritonAlarms(Construct):
    """Alarms of an imported endpoint, with the rules and the defaults of a spec's `alarms`."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: ImportedEndpoint,
        alarms: Alarms = Alarms(),  # noqa: B008 (it is frozen)
        scaling: Scaling | None = None,
        alarm_actions: AlarmActions | None = None,
    ) -> None:
        """Declare the alarms.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What they watch.
            alarms: Thresholds; default: those of a spec.
            scaling: How the endpoint is scaled, which `at_capacity` depends on; default: not at all.
            alarm_actions: What alarms do; default: the topics of the support, which then has to exist.
        """
        super().__init__(scope, id)
        self.alarms: tuple[cloudwatch.IAlarm, ...] = ()
        """One for each threshold and severity."""
        declaration = declaration_of(endpoint, alarms=alarms, scaling=scaling)
        found = resolve(self, declaration, needs_support=alarm_actions is None)
        if found is None:
            return
        targets = alarm_targets(self, found, alarm_actions)
        declared = EndpointAlarms(self, "Resource", endpoint=found.endpoint, targets=targets).declared
        self.alarms = tuple(
            cloudwatch.Alarm.from_alarm_arn(self, f"{each.node.id}Alarm", each.attr_arn) for each in declared
        )


class TritonScaling(Construct):
    """Scaling of an imported endpoint's instances, whose type can then no longer be changed.

    SageMaker refuses another instance type while the variant is scaled. The scaling guard, which takes
    scaling aside for that, is part of a TritonEndpoint.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ImportedEndpoint, scaling: Scaling) -> None:
        """Declare the scalable target and its policies.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What is scaled.
            scaling: The range and the targets.
        """
        super().__init__(scope, id)
        found = resolve(self, declaration_of(endpoint, scaling=scaling), needs_support=False)
        if found is not None and found.endpoint.scaling is not None and self._claims(endpoint.endpoint_name):
            EndpointScaling(
                self,
                "Resource",
                scaling=found.endpoint.scaling,
                endpoint_name=endpoint.endpoint_name,
                variant=VARIANT,
            )

    def _claims(self, endpoint: str) -> bool:
        try:
            claim(self, f"the scaling of endpoint {endpoint!r}", "leave one out: a variant is scaled once")
        except FindingsError as error:
            report(self, error.findings)
            return False
        return True


class TritonDashboard(Construct):
    """A dashboard of an imported endpoint: what SageMaker and Triton measure, and the last errors."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: ImportedEndpoint,
        alarms: Alarms | None = None,
        scaling: Scaling | None = None,
    ) -> None:
        """Declare the dashboard.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What is shown.
            alarms: Thresholds that are drawn; default: none.
            scaling: Targets that are drawn; default: none.
        """
        super().__init__(scope, id)
        declaration = declaration_of(endpoint, alarms=alarms, scaling=scaling)
        found = resolve(self, declaration, needs_support=False)
        if found is not None:
            EndpointDashboard(self, "Resource", endpoint=found.endpoint)
