"""Whom the alarms of a library's endpoint notify: the support's topics, or actions of the app's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from aws_cdk import Names
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_fleet.spec.alarms import SEVERITIES, AlarmSeverity

Actions: TypeAlias = Sequence[cloudwatch.IAlarmAction]
AlarmActions: TypeAlias = Actions | Mapping[Literal["warning", "critical"], Actions]
"""The actions of all alarms, or of the alarms of each severity."""


class SupportTopics:
    """The topics of a support that is in the same stack: references that CloudFormation orders."""

    may_need_endpoint = False

    def __init__(self, arns: Mapping[AlarmSeverity, str]) -> None:
        self._arns = arns

    def arns(self, severity: AlarmSeverity, alarm: cloudwatch.CfnAlarm) -> Sequence[str]:
        """The topic of the severity."""
        return [self._arns[severity]]


class OwnActions:
    """Actions of the app's, bound to each alarm; they replace the topics."""

    may_need_endpoint = True

    def __init__(self, scope: Construct, actions: AlarmActions) -> None:
        self._scope = scope
        self._actions: Mapping[AlarmSeverity, Actions] = (
            actions if isinstance(actions, Mapping) else dict.fromkeys(SEVERITIES, actions)
        )

    def arns(self, severity: AlarmSeverity, alarm: cloudwatch.CfnAlarm) -> Sequence[str]:
        """The ARNs of the actions of the severity."""
        actions = self._actions.get(severity, ())
        if not actions:
            return []
        # An id that no alarm of another endpoint has: actions give permissions by it.
        name = f"{Names.unique_id(self._scope)}{alarm.node.id}"
        reference = cloudwatch.Alarm.from_alarm_arn(self._scope, name, alarm.attr_arn)
        return [action.bind(self._scope, reference).alarm_action_arn for action in actions]
