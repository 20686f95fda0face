"""Alarms, scaling and a dashboard for any endpoint, each a construct of its own."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_endpoints.endpoint.alarms import EndpointAlarms
from triton_endpoints.endpoint.dashboard import EndpointDashboard
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_endpoints.library.alarm_actions import AlarmActions, alarm_references
from triton_endpoints.library.declaration import alarm_targets
from triton_endpoints.library.environment import EnvironmentProp, report
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.props import Alarms, Scaling
from triton_endpoints.library.reference import AnyEndpoint, Companion
from triton_endpoints.library.shared_parts import claim
from triton_endpoints.library.support import EndpointSupport
from triton_fleet.endpoint.resolved_endpoint import VARIANT
from triton_fleet.findings import FindingsError


class TritonAlarms(Construct):
    """Alarms of any endpoint, with the rules and the defaults of a spec's `alarms`."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: AnyEndpoint,
        alarms: Alarms = Alarms(),  # noqa: B008 (it is frozen)
        scaling: Scaling | None = None,
        alarm_actions: AlarmActions | None = None,
        environment: EnvironmentProp | None = None,
        support: EndpointSupport | None = None,
        instance_type: str | None = None,
        variant: str = VARIANT,
    ) -> None:
        """Declare the alarms.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What they watch.
            alarms: Thresholds; default: those of a spec.
            scaling: How the endpoint is scaled, which `at_capacity` depends on; default: not at all.
            alarm_actions: What alarms do; default: the topics of the support; without either, nothing.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: as the
                endpoint is described, else `app`.
            support: What has the topics of alarms; default: as the endpoint is described.
            instance_type: The type of the variant, which rules need; default: as the endpoint is described.
            variant: The name of the endpoint's variant.
        """
        super().__init__(scope, id)
        self.alarms: tuple[cloudwatch.IAlarm, ...] = ()
        """One for each threshold and severity."""
        if not has_right_types(self, TritonAlarms, locals()):
            return
        companion = Companion(
            endpoint=endpoint,
            environment=environment,
            support=support,
            instance_type=instance_type,
            variant=variant,
        )
        resolution = companion.resolve(self, alarms=alarms, scaling=scaling, shares=alarm_actions is None)
        if resolution is None:
            return
        targets = alarm_targets(self, resolution, alarm_actions)
        cfn_alarms = EndpointAlarms(self, "Resource", endpoint=resolution.endpoint, targets=targets).alarms
        self.alarms = alarm_references(self, cfn_alarms)


class TritonScaling(Construct):
    """Scaling of any endpoint's instances, whose type can then no longer be changed.

    SageMaker refuses another instance type while the variant is scaled. The scaling guard, which takes
    scaling aside for that, is part of a TritonEndpoint.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: AnyEndpoint,
        scaling: Scaling,
        environment: EnvironmentProp | None = None,
        instance_type: str | None = None,
        variant: str = VARIANT,
    ) -> None:
        """Declare the scalable target and its policies.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What is scaled.
            scaling: The range and the targets.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: as the
                endpoint is described, else `app`.
            instance_type: The type of the variant, which rules need; default: as the endpoint is described.
            variant: The name of the endpoint's variant.
        """
        super().__init__(scope, id)
        self.target: autoscaling.CfnScalableTarget | None = None
        """The scalable target; None where the props are wrong."""
        if not has_right_types(self, TritonScaling, locals()):
            return
        companion = Companion(
            endpoint=endpoint, environment=environment, instance_type=instance_type, variant=variant
        )
        resolution = companion.resolve(self, scaling=scaling)
        if (
            resolution is not None
            and resolution.endpoint.scaling is not None
            and self._claims(companion.endpoint_name, variant)
        ):
            own = EndpointScaling(
                self,
                "Resource",
                scaling=resolution.endpoint.scaling,
                endpoint_name=companion.endpoint_name,
                variant=variant,
            )
            self.target = own.target
            own.node.add_dependency(endpoint)

    def _claims(self, endpoint: str, variant: str) -> bool:
        subject = f"the scaling of variant {variant!r} of endpoint {endpoint!r}"
        try:
            claim(self, subject, "leave one out: a variant is scaled once")
        except FindingsError as error:
            report(self, error.findings)
            return False
        return True


class TritonDashboard(Construct):
    """A dashboard of any endpoint: what SageMaker and Triton measure, and the last errors."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: AnyEndpoint,
        alarms: Alarms | None = None,
        scaling: Scaling | None = None,
        widgets: Sequence[cloudwatch.IWidget] = (),
        environment: EnvironmentProp | None = None,
        instance_type: str | None = None,
        variant: str = VARIANT,
    ) -> None:
        """Declare the dashboard.

        Args:
            scope: The parent; its stack has the endpoint's account and region.
            id: The construct's own.
            endpoint: What is shown.
            alarms: Thresholds that are drawn; default: none.
            scaling: Targets that are drawn; default: none.
            widgets: Widgets of your own, which follow the others.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: as the
                endpoint is described, else `app`.
            instance_type: The type of the variant, which rules need; default: as the endpoint is described.
            variant: The name of the endpoint's variant.
        """
        super().__init__(scope, id)
        if not has_right_types(self, TritonDashboard, locals()):
            return
        companion = Companion(
            endpoint=endpoint, environment=environment, instance_type=instance_type, variant=variant
        )
        resolution = companion.resolve(self, alarms=alarms, scaling=scaling)
        if resolution is not None:
            EndpointDashboard(self, "Resource", endpoint=resolution.endpoint, widgets=widgets)
