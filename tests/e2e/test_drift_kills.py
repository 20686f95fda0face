"""A revert of drift that was killed at a request is finished by the next one."""

from __future__ import annotations

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.deployment import DEPLOYMENT
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks
from tests.support.embedded_keys import KEYS
from tests.support.kills import ends_before_step, sent_to
from triton_fleet.aws.access import embedded_access
from triton_fleet.aws.drift.stack_drift import StackDrift, restore_stack, stack_drifts
from triton_fleet.awsapi.stack import find_stack

ALARM = {
    "Namespace": "x",
    "MetricName": "y",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1,
    "ComparisonOperator": "GreaterThanThreshold",
}


def stack_drift(aws: EmbeddedAws, name: str) -> StackDrift:
    access = embedded_access(DEPLOYMENT, aws.url, KEYS)
    stack = find_stack(access.client("cloudformation"), name)
    assert stack is not None
    (drift,) = stack_drifts(access, [(name, stack)])
    assert (drift.busy, drift.problem) == ("", None)
    return drift


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=() if step == 24 else pytest.mark.nightly) for step in (2, 20, 24, 28, 32)],
)
def test_a_revert_that_was_killed_at_a_request_is_finished_by_the_next(
    aws: EmbeddedAws, stacks: Stacks, step: int
) -> None:
    name = f"killed-{step}"
    group = {"LogGroupName": name, "RetentionInDays": 30}
    resources = {
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {**ALARM, "AlarmName": name}},
        "Group": {"Type": "AWS::Logs::LogGroup", "Properties": group},
    }
    assert stacks.create(name, resources) == "CREATE_COMPLETE"
    client(aws, "cloudwatch").put_metric_alarm(**{**ALARM, "AlarmName": name, "Threshold": 2})
    client(aws, "logs").put_retention_policy(logGroupName=name, retentionInDays=3)
    drift, access = stack_drift(aws, name), embedded_access(DEPLOYMENT, aws.url, KEYS)
    assert drift.comparisons
    assert not ends_before_step(lambda: restore_stack(access, drift), step, sent_to(aws.url))
    stacks.final_status(name)
    remaining_drift = stack_drift(aws, name)
    if remaining_drift.comparisons:
        restore_stack(embedded_access(DEPLOYMENT, aws.url, KEYS), remaining_drift)
    assert stack_drift(aws, name).comparisons == ()
