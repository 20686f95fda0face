"""CloudFormation's drift detection, and change sets that take drift back."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks

ALARM = {
    "Type": "AWS::CloudWatch::Alarm",
    "Properties": {
        "AlarmName": "drift-alarm",
        "Namespace": "x",
        "MetricName": "y",
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
    },
}
RESOURCES = {
    "Group": {
        "Type": "AWS::Logs::LogGroup",
        "Properties": {"LogGroupName": "drift", "RetentionInDays": 30},
    },
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "declared"}},
    "Alarm": ALARM,
}


@pytest.fixture
def stack(stacks: Stacks, request: pytest.FixtureRequest) -> str:
    name = f"drift-{abs(hash(request.node.name))}"
    resources = {
        **RESOURCES,
        "Group": {
            **RESOURCES["Group"],
            "Properties": {"LogGroupName": name, "RetentionInDays": 30},
        },
        "Alarm": {**ALARM, "Properties": {**ALARM["Properties"], "AlarmName": name}},  # type: ignore[dict-item]
    }
    assert stacks.create(name, resources) == "CREATE_COMPLETE"
    return name


def stack_drift_ids(api: Any, **request: Any) -> dict[str, str]:
    return {"StackDriftDetectionId": api.detect_stack_drift(**request)["StackDriftDetectionId"]}


def detect_drift(api: Any, stack: str, *ids: str) -> dict[str, dict[str, Any]]:
    """The drift of resources by logical id, once the detection has ended."""
    id = stack_drift_ids(api, StackName=stack, **({"LogicalResourceIds": ids} if ids else {}))
    pause = threading.Event()
    while api.describe_stack_drift_detection_status(**id)["DetectionStatus"] == "DETECTION_IN_PROGRESS":
        pause.wait(0.01)
    resource_drifts = api.describe_stack_resource_drifts(StackName=stack)["StackResourceDrifts"]
    return {resource_drift["LogicalResourceId"]: resource_drift for resource_drift in resource_drifts}


def test_a_detection_is_in_progress_first_and_one_at_a_time(stacks: Stacks, stack: str) -> None:
    id = stack_drift_ids(stacks.api, StackName=stack)
    with pytest.raises(ClientError, match="already in progress"):
        stacks.api.detect_stack_drift(StackName=stack)
    first = stacks.api.describe_stack_drift_detection_status(**id)
    assert (first["DetectionStatus"], "StackDriftStatus" in first) == ("DETECTION_IN_PROGRESS", False)
    former_result = stacks.api.describe_stack_drift_detection_status(**id)
    assert (former_result["DetectionStatus"], former_result["StackDriftStatus"]) == (
        "DETECTION_COMPLETE",
        "IN_SYNC",
    )
    with pytest.raises(ClientError, match="does not exist"):
        stacks.api.detect_stack_drift(StackName=stack, LogicalResourceIds=["Absent"])


def test_what_cloudformation_does_not_read_is_not_checked(
    aws: EmbeddedAws, stacks: Stacks, stack: str
) -> None:
    client(aws, "cloudwatch").disable_alarm_actions(AlarmNames=[stack])
    client(aws, "logs").put_retention_policy(logGroupName=stack, retentionInDays=1)
    values = detect_drift(stacks.api, stack)
    assert values.keys() == {"Group", "Topic"}
    (difference,) = values["Group"]["PropertyDifferences"]
    assert difference == {
        "PropertyPath": "/RetentionInDays",
        "ExpectedValue": "30",
        "ActualValue": "1",
        "DifferenceType": "NOT_EQUAL",
    }
    assert values["Topic"]["StackResourceDriftStatus"] == "IN_SYNC"


def test_a_deleted_resource_is_deleted(aws: EmbeddedAws, stacks: Stacks, stack: str) -> None:
    client(aws, "logs").delete_log_group(logGroupName=stack)
    assert detect_drift(stacks.api, stack, "Group")["Group"]["StackResourceDriftStatus"] == "DELETED"


def test_a_drift_aware_change_set_takes_back_what_was_changed(
    aws: EmbeddedAws, stacks: Stacks, stack: str
) -> None:
    common: Any = {"StackName": stack, "UsePreviousTemplate": True, "ChangeSetType": "UPDATE"}
    client(aws, "logs").put_retention_policy(logGroupName=stack, retentionInDays=1)
    change_set = stacks.api.create_change_set(ChangeSetName="revert", DeploymentMode="REVERT_DRIFT", **common)
    stacks.api.execute_change_set(ChangeSetName=change_set["Id"])
    assert stacks.final_status(stack) == "UPDATE_COMPLETE"
    assert detect_drift(stacks.api, stack, "Group")["Group"]["StackResourceDriftStatus"] == "IN_SYNC"
    change_set = stacks.api.create_change_set(ChangeSetName="again", DeploymentMode="REVERT_DRIFT", **common)
    assert stacks.api.describe_change_set(ChangeSetName=change_set["Id"])["Status"] == "FAILED"
