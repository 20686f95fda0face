"""A stack whose rollback stops at its endpoint, and ContinueUpdateRollback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.sagemaker.backend import CONFIGURATION_IN_USE
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import TOPIC, Stacks, endpoint


@pytest.fixture
def stopped_stack(stacks: Stacks, sagemaker: Any, host: RecordingHost, request: pytest.FixtureRequest) -> str:
    """A stack with an endpoint that SageMaker has called back itself, named after the test."""
    name = f"stopped-{abs(hash(request.node.name))}"
    stacks.create(name, {**endpoint(name), "Kept": parameter("before")})
    host.failure = "no capacity"
    update = {**endpoint(name, image="new"), "Kept": parameter("after"), "New": TOPIC}
    update["Endpoint"]["DependsOn"] = ["Kept", "New"]
    assert stacks.update(name, update) == "UPDATE_ROLLBACK_FAILED"
    host.failure = ""
    return name


def parameter(value: str) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}


def statuses(stacks: Stacks, name: str) -> dict[str, str]:
    stack_resources = stacks.api.describe_stack_resources(StackName=name)["StackResources"]
    return {
        stack_resource["LogicalResourceId"]: stack_resource["ResourceStatus"]
        for stack_resource in stack_resources
    }


def test_the_rollback_stops_at_the_endpoint_and_tells_which_configuration_it_wanted(
    stacks: Stacks, sagemaker: Any, stopped_stack: str
) -> None:
    stack = stacks.api.describe_stacks(StackName=stopped_stack)["Stacks"][0]
    assert stack["StackStatusReason"] == "The following resource(s) failed to update: [Endpoint]. "
    assert statuses(stacks, stopped_stack)["Endpoint"] == "UPDATE_FAILED"
    events = stacks.api.describe_stack_events(StackName=stopped_stack)["StackEvents"]
    last = next(event for event in events if event["LogicalResourceId"] == "Endpoint")
    assert last["ResourceStatusReason"] == CONFIGURATION_IN_USE
    runs = sagemaker.describe_endpoint(EndpointName=stopped_stack)["EndpointConfigName"]
    assert json.loads(last["ResourceProperties"])["EndpointConfigName"] == runs


def test_what_is_skipped_counts_as_before_and_all_else_is_put_back(
    stacks: Stacks, sagemaker: Any, stopped_stack: str
) -> None:
    number = len(stacks.events(stopped_stack))
    assert stacks.continue_rollback(stopped_stack, "Endpoint") == "UPDATE_ROLLBACK_COMPLETE"
    events = [(text, status) for text, status, _ in stacks.events(stopped_stack)[number:]]
    assert events[:2] == [(stopped_stack, "UPDATE_ROLLBACK_IN_PROGRESS"), ("Endpoint", "UPDATE_COMPLETE")]
    assert (stopped_stack, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS") in events
    ids = stacks.physical_ids(stopped_stack)
    assert ids.keys() == {"Endpoint", "Config", "Model", "Kept"}
    runs = sagemaker.describe_endpoint(EndpointName=stopped_stack)["EndpointConfigName"]
    assert ids["Config"].endswith(runs.lower())
    changed_value = {**endpoint(stopped_stack, image="newer"), "Kept": parameter("after")}
    assert stacks.update(stopped_stack, changed_value) == "UPDATE_COMPLETE"


def test_without_a_resource_to_skip_it_stops_again(stacks: Stacks, stopped_stack: str) -> None:
    assert stacks.continue_rollback(stopped_stack) == "UPDATE_ROLLBACK_FAILED"
    assert statuses(stacks, stopped_stack)["Endpoint"] == "UPDATE_FAILED"
    assert stacks.continue_rollback(stopped_stack, "Endpoint") == "UPDATE_ROLLBACK_COMPLETE"


@pytest.mark.parametrize("logical_id", ["Config", "Absent"])
def test_only_what_failed_in_the_rollback_is_skipped(
    stacks: Stacks, stopped_stack: str, logical_id: str
) -> None:
    with pytest.raises(ClientError, match=rf"\[{logical_id}\] cannot be skipped") as refusal:
        stacks.continue_rollback(stopped_stack, "Endpoint", logical_id)
    assert refusal.value.response["Error"]["Code"] == "ValidationError"
    assert stacks.status(stopped_stack) == "UPDATE_ROLLBACK_FAILED"


def test_a_stack_whose_rollback_did_not_fail_is_not_continued(stacks: Stacks) -> None:
    stacks.create("sound", {"Topic": TOPIC})
    with pytest.raises(ClientError, match="is in CREATE_COMPLETE state and can not be rolled back"):
        stacks.continue_rollback("sound")


def test_such_a_stack_takes_no_update_and_can_be_deleted_whole(
    stacks: Stacks, sagemaker: Any, stopped_stack: str
) -> None:
    with pytest.raises(ClientError, match="is in UPDATE_ROLLBACK_FAILED state and can not be updated"):
        stacks.update(stopped_stack, endpoint(stopped_stack))
    ran = sagemaker.describe_endpoint(EndpointName=stopped_stack)["EndpointConfigName"]
    new = stacks.physical_ids(stopped_stack)["Config"].rpartition("/")[2]
    assert new.lower() != ran.lower()
    stacks.api.delete_stack(StackName=stopped_stack)
    with pytest.raises(ClientError, match="does not exist"):
        stacks.status(stopped_stack)
    assert sagemaker.list_endpoints(NameContains=stopped_stack)["Endpoints"] == []
    remaining_texts = {
        endpoint_config["EndpointConfigName"].lower()
        for endpoint_config in sagemaker.list_endpoint_configs()["EndpointConfigs"]
    }
    assert not remaining_texts & {ran.lower(), new.lower()}
