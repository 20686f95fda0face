"""The scaling guard when a stack is deleted, and in clean-ups."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.endpoint_capacity import await_service
from tests.support.guarded_answers import clients_with_answer
from tests.support.guarded_endpoint import OLD, GuardedEndpoint


def test_the_endpoint_is_deleted_only_when_sagemaker_takes_that(
    aws: EmbeddedAws, scaled_endpoint: GuardedEndpoint, slow: RecordingHost
) -> None:
    aws.scale(scaled_endpoint.name, 4, region="us-east-1")

    def settle() -> None:
        slow.may_scale.set()
        await_service(scaled_endpoint.sagemaker, scaled_endpoint.name)

    scaled_endpoint.meanwhile = settle
    clients = clients_with_answer(scaled_endpoint, "DescribeStacks", StackStatus="DELETE_IN_PROGRESS")
    scaled_endpoint.answer(scaled_endpoint.event("after", OLD, RequestType="Delete"), clients)
    scaled_endpoint.sagemaker.delete_endpoint(EndpointName=scaled_endpoint.name)


def test_an_endpoint_that_is_under_way_for_too_long_is_reported_with_a_remedy(
    scaled_endpoint: GuardedEndpoint,
) -> None:
    def after(name: str, parsed: dict[str, Any]) -> None:
        if name == "DescribeStacks":
            parsed["Stacks"][0]["StackStatus"] = "DELETE_IN_PROGRESS"
        elif name == "DescribeEndpoint":
            parsed["EndpointStatus"] = "Updating"

    event = scaled_endpoint.event("after", OLD, RequestType="Delete")
    did = scaled_endpoint.answer_too_late(event, scaled_endpoint.account.clients(after=after))["Data"][
        "Summary"
    ]
    assert did == (
        f"endpoint {scaled_endpoint.name} is Updating, for more than 50 minutes: SageMaker will refuse to delete it, and the "
        "deletion of the stack will fail. Wait until `aws sagemaker wait endpoint-in-service --region us-east-1 "
        f"--endpoint-name {scaled_endpoint.name}` ends, then delete the stack again."
    )


@pytest.mark.parametrize("state", ["UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE"])
def test_a_clean_up_waits_for_no_endpoint(scaled_endpoint: GuardedEndpoint, state: str) -> None:
    def after(name: str, parsed: dict[str, Any]) -> None:
        if name == "DescribeStacks":
            parsed["Stacks"][0]["StackStatus"] = state
        elif name == "DescribeEndpoint":
            parsed["EndpointStatus"] = "Updating"

    event = scaled_endpoint.event("before", OLD, RequestType="Delete")
    event["ResourceProperties"]["CleanupLooks"] = "15"
    assert scaled_endpoint.answer(event, scaled_endpoint.account.clients(after=after))["IsComplete"]


def test_the_role_is_kept_for_some_minutes_after_the_endpoint_is_gone(
    scaled_endpoint: GuardedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    event = scaled_endpoint.event("before", OLD, RequestType="Delete")
    event["ResourceProperties"]["CleanupLooks"] = "3"
    clients = clients_with_answer(scaled_endpoint, "DescribeStacks", StackStatus="DELETE_IN_PROGRESS")
    scaled_endpoint.sagemaker.delete_endpoint(EndpointName=scaled_endpoint.name)
    waits: list[None] = []
    scaled_endpoint.meanwhile = lambda: waits.append(None)
    for _ in range(2):  # another endpoint of the name is waited for as long
        did = scaled_endpoint.answer(event, clients)["Data"]["Summary"]
        assert did == f"Endpoint {scaled_endpoint.name} is deleted, and its scaling with it."
    assert len(waits) == 6
    words = f"Waiting: SageMaker removes network interfaces and key grants of endpoint {scaled_endpoint.name} with its role"
    assert f"{words}; look 3 of 3" in capsys.readouterr().out
    assert not scaled_endpoint.is_saved()


def test_an_endpoint_without_network_and_key_is_not_waited_for(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.sagemaker.delete_endpoint(EndpointName=scaled_endpoint.name)
    assert scaled_endpoint.answer(scaled_endpoint.event("before", OLD, RequestType="Delete"))["IsComplete"]
