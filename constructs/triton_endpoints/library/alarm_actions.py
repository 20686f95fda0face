"""Whom the alarms of a library's endpoint notify: the support's topics, the app's own actions, or nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from aws_cdk import Names
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_endpoints.endpoint.alarms import AlarmTargets
from triton_fleet.findings import Finding
from triton_fleet.spec.alarms import SEVERITIES, AlarmSeverity
from triton_fleet.spec.problems import did_you_mean

Actions: TypeAlias = Sequence[cloudwatch.IAlarmAction]
AlarmActions: TypeAlias = Actions | Mapping[Literal["warning", "critical"], Actions]
"""The actions of all alarms, or of the alarms of each severity."""


def action_findings(actions: AlarmActions | None) -> Iterator[Finding]:
    """Findings about actions: severities that do not exist, and what is not a list."""
    prop = "alarm_actions"
    by_path: Mapping[str, object]
    if isinstance(actions, Mapping):
        for severity in actions:
            if severity not in SEVERITIES:
                message = f"`{prop}` has the key {severity!r}, which is not a severity"
                hint = did_you_mean(str(severity), SEVERITIES)
                yield Finding(code="FL112", message=message, file=Path(f"{prop}.{severity}"), hint=hint)
        by_path = {f"{prop}.{severity}": value for severity, value in actions.items()}
    else:
        by_path = {prop: actions}
    for path, value in by_path.items():
        if value is not None and not isinstance(value, Sequence):
            message = f"`{path}` is a {type(value).__name__}"
            hint = "give a list of actions, or one for each severity"
            yield Finding(code="FL112", message=message, file=Path(path), hint=hint)


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
