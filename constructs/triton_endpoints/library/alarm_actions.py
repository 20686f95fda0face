"""Whom the alarms of a library's endpoint notify: the support's topics, the app's own actions, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from aws_cdk import Names
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_endpoints.endpoint.alarms import AlarmTargets
from triton_fleet.spec.alarms import SEVERITIES, AlarmSeverity

Actions: TypeAlias = Sequence[cloudwatch.IAlarmAction]
AlarmActions: TypeAlias = Actions | Mapping[Literal["warning", "critical"], Actions]
"""The actions of all alarms, or of the alarms of each severity."""


def alarm_references(
    scope: Construct, alarms: Sequence[cloudwatch.CfnAlarm]
) -> tuple[cloudwatch.IAlarm, ...]:
    """Alarms as the richer classes of the CDK take them."""
    return tuple(
        cloudwatch.Alarm.from_alarm_arn(scope, f"{alarm.node.id}Alarm", alarm.attr_arn) for alarm in alarms
    )


class SupportTopics(AlarmTargets):
    """The topics of a support that is in the same stack: references that CloudFormation orders."""

    def __init__(self, arns: Mapping[AlarmSeverity, str]) -> None:
        self._arns = arns

    def arns(self, severity: AlarmSeverity, scope: Construct) -> Sequence[str]:
        """The topic of the severity."""
        return [self._arns[severity]]


class OwnActions(AlarmTargets):
    """Actions of the app's, bound to each alarm; they replace the topics."""

    may_need_endpoint = True

    def __init__(self, scope: Construct, actions: AlarmActions) -> None:
        self._scope = scope
        self._actions: Mapping[AlarmSeverity, Actions] = (
            actions if isinstance(actions, Mapping) else dict.fromkeys(SEVERITIES, actions)
        )

    def add_to(self, alarm: cloudwatch.CfnAlarm, severity: AlarmSeverity) -> None:
        """Bind the actions of the severity to the alarm."""
        actions = self._actions.get(severity, ())
        if not actions:
            return
        # An id that no alarm of another endpoint has: actions give permissions by it.
        name = f"{Names.unique_id(self._scope)}{alarm.node.id}"
        reference = cloudwatch.Alarm.from_alarm_arn(self._scope, name, alarm.attr_arn)
        arns = [action.bind(self._scope, reference).alarm_action_arn for action in actions]
        alarm.alarm_actions = alarm.ok_actions = arns
