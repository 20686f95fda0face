"""The scaling guard when AWS refuses something: what is reported, what fails, and what is waited for."""

from __future__ import annotations

import pytest

from scaling_guard.errors import GuardError
from tests.support.guarded_endpoint import NEW, OLD, OTHER_CONFIG, GuardedEndpoint, StackIds

pytestmark = pytest.mark.nightly


# --- what cannot be registered again


def test_a_scheduled_action_that_is_over_is_reported_and_nothing_more(
    moved_endpoint: GuardedEndpoint,
) -> None:
    clients = moved_endpoint.account.clients_that_refuse(
        "PutScheduledAction", "ValidationException", part="launch"
    )
    did = moved_endpoint.guard("after", NEW, clients)
    assert "Scheduled action launch could not be restored: An error occurred (ValidationException)" in did
    assert sorted(moved_endpoint.names()) == ["Gpu", "Load", "night"]
    assert not moved_endpoint.is_saved()


def test_a_start_that_has_passed_and_is_refused_is_left_out(scaled_endpoint: GuardedEndpoint) -> None:
    scaled_endpoint.put_action(
        "begun", "rate(1 day)", StartTime="2020-01-01T00:00:00Z", EndTime="2198-01-01T00:00:00Z"
    )
    scaled_endpoint.guard("before", NEW)
    scaled_endpoint.move(NEW)
    refusal = scaled_endpoint.account.clients_that_refuse(
        "PutScheduledAction", "ValidationException", part="StartTime"
    )
    did = scaled_endpoint.guard("after", NEW, refusal)
    assert sorted(scaled_endpoint.names()) == ["Gpu", "Load", "begun", "launch"]
    assert (
        "Scheduled action night could not be restored" in did
    )  # it starts in 2199, and may not start before
    [initial_action] = [
        a
        for a in scaled_endpoint.registered_target()["ScheduledActions"]
        if a["ScheduledActionName"] == "begun"
    ]
    assert "StartTime" not in initial_action
    assert initial_action["EndTime"].year == 2198


def test_a_policy_that_is_refused_fails_the_update_when_all_the_rest_is_there(
    moved_endpoint: GuardedEndpoint,
) -> None:
    clients = moved_endpoint.account.clients_that_refuse(
        "PutScalingPolicy", "ValidationException", part="Load"
    )
    with pytest.raises(GuardError) as failure:
        moved_endpoint.guard("after", NEW, clients)
    assert "Policy Load could not be restored: An error occurred (ValidationException)" in str(failure.value)
    assert f"It stays saved in s3://artifacts/scaling-guard/{moved_endpoint.name}/AllTraffic.json" in str(
        failure.value
    )
    assert sorted(moved_endpoint.names()) == ["Gpu", "launch", "night"]
    assert moved_endpoint.guard("after", NEW).startswith("The scaling of ")
    assert sorted(moved_endpoint.names()) == ["Gpu", "Load", "launch", "night"]


@pytest.mark.parametrize("operation", ["DescribeEndpoint", "PutObject", "DeregisterScalableTarget"])
def test_a_refusal_of_aws_is_told_with_what_to_do(scaled_endpoint: GuardedEndpoint, operation: str) -> None:
    with pytest.raises(GuardError) as failure:
        scaled_endpoint.guard(
            "before", NEW, scaled_endpoint.account.clients_that_refuse(operation, "AccessDeniedException")
        )
    for words in (
        f"The scaling of endpoint {scaled_endpoint.name} could not be adapted to {scaled_endpoint.config(NEW)}:",
        f"An error occurred (AccessDeniedException) when calling the {operation} operation",
        "remove the cause and deploy again",
    ):
        assert words in str(failure.value)
    assert scaled_endpoint.is_registered()


# --- a stack that rolls back


@pytest.mark.parametrize(
    ("operation", "location"),
    [("DescribeScalableTargets", ""), ("PutScalingPolicy", "Gpu"), ("DeleteObject", "")],
)
def test_in_a_stack_that_rolls_back_a_refusal_is_reported_only(
    moved_endpoint: GuardedEndpoint, stack_ids: StackIds, operation: str, location: str
) -> None:
    moved_endpoint.stack_id = stack_ids.rolling_back
    clients = moved_endpoint.account.clients_that_refuse(operation, "AccessDeniedException", part=location)
    did = moved_endpoint.answer_too_late(moved_endpoint.event("after", NEW), clients)["Data"]["Summary"]
    assert did.startswith("Reported only, because the stack rolls back: The scaling of ")
    assert f"when calling the {operation} operation" in did
    assert moved_endpoint.is_saved()


def test_in_a_stack_that_rolls_back_another_instance_type_is_no_failure(
    moved_endpoint: GuardedEndpoint, stack_ids: StackIds
) -> None:
    moved_endpoint.stack_id = stack_ids.rolling_back
    did = moved_endpoint.guard("after", OLD)
    assert f"runs on {NEW}, in configuration {moved_endpoint.config(NEW)}, not {OLD}" in did
    assert "SageMaker did not keep" not in did


def test_a_stack_that_cannot_be_asked_is_taken_to_go_forward(moved_endpoint: GuardedEndpoint) -> None:
    with pytest.raises(GuardError, match="SageMaker did not keep the update"):
        clients = moved_endpoint.account.clients_that_refuse("DescribeStacks", "AccessDenied")
        moved_endpoint.answer_too_late(moved_endpoint.event("after", OLD), clients)


# --- calls that fail once


@pytest.mark.parametrize(
    "operation",
    [
        "DescribeStacks",
        "DescribeEndpoint",
        "RegisterScalableTarget",
        "PutScalingPolicy",
        "PutScheduledAction",
    ],
)
def test_a_call_that_fails_once_does_not_fail_the_update(
    moved_endpoint: GuardedEndpoint, operation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[None] = []
    moved_endpoint.meanwhile = lambda: waits.append(None)
    clients = moved_endpoint.account.clients_that_refuse(
        operation, "ThrottlingException", message="Rate exceeded", times=1
    )
    moved_endpoint.guard("after", NEW, clients)
    assert (sorted(moved_endpoint.names()), moved_endpoint.is_saved()) == (
        ["Gpu", "Load", "launch", "night"],
        False,
    )
    assert len(waits) == 1
    assert f"(ThrottlingException) when calling the {operation} operation" in capsys.readouterr().out


@pytest.mark.parametrize("config", [OTHER_CONFIG, NEW])
@pytest.mark.parametrize("operation", ["DescribeStacks", "DescribeEndpoint", "RegisterScalableTarget"])
def test_calls_that_fail_once_in_a_rollback_do_not_leave_the_scaling_suspended(
    scaled_endpoint: GuardedEndpoint, stack_ids: StackIds, operation: str, config: str
) -> None:
    as_it_was = scaled_endpoint.registered_target()
    scaled_endpoint.guard("before", config)
    scaled_endpoint.stack_id = stack_ids.rolling_back
    scaled_endpoint.meanwhile = lambda: None
    for event in (
        scaled_endpoint.event("before", OLD, former=config),
        scaled_endpoint.event("before", config, RequestType="Delete"),
    ):
        scaled_endpoint.answer(
            event, scaled_endpoint.account.clients_that_refuse(operation, "InternalServiceException", times=1)
        )
    assert (scaled_endpoint.registered_target(), scaled_endpoint.is_saved()) == (as_it_was, False)


# --- the ways of Application Auto Scaling


@pytest.mark.parametrize("operation", ["PutScalingPolicy", "PutScheduledAction"])
def test_a_target_that_is_not_yet_seen_is_waited_for(
    moved_endpoint: GuardedEndpoint, pauses: list[float], operation: str
) -> None:
    clients = moved_endpoint.account.clients_that_refuse(operation, "ObjectNotFoundException", times=2)
    moved_endpoint.guard("after", NEW, clients)
    assert pauses == [1, 2]
    assert sorted(moved_endpoint.names()) == ["Gpu", "Load", "launch", "night"]


def test_an_update_of_the_same_target_by_others_is_waited_for_and_given_up_in_the_end(
    scaled_endpoint: GuardedEndpoint, pauses: list[float]
) -> None:
    clients = scaled_endpoint.account.clients_that_refuse(
        "DeregisterScalableTarget", "ConcurrentUpdateException"
    )
    with pytest.raises(GuardError, match="ConcurrentUpdateException"):
        scaled_endpoint.answer_too_late(scaled_endpoint.event("before", NEW), clients)
    assert pauses == [1, 2, 4, 8]
    assert scaled_endpoint.is_registered()
