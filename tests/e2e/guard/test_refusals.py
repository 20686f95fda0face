"""The scaling guard when AWS refuses something: what is reported, what fails, and what is waited for."""

from __future__ import annotations

import pytest

from scaling_guard.errors import GuardError
from tests.support.guarded_endpoint import NEW, OLD, OTHER, Guarded, StackIds

pytestmark = pytest.mark.nightly


# --- what cannot be registered again


def test_a_scheduled_action_that_is_over_is_reported_and_nothing_more(moved: Guarded) -> None:
    clients = moved.account.refusing("PutScheduledAction", "ValidationException", where="launch")
    did = moved.guard("after", NEW, clients)
    assert "Scheduled action launch could not be restored: An error occurred (ValidationException)" in did
    assert sorted(moved.names()) == ["Gpu", "Load", "night"]
    assert not moved.is_saved()


def test_a_start_that_has_passed_and_is_refused_is_left_out(scaled: Guarded) -> None:
    scaled.put_action(
        "begun", "rate(1 day)", StartTime="2020-01-01T00:00:00Z", EndTime="2198-01-01T00:00:00Z"
    )
    scaled.guard("before", NEW)
    scaled.move(NEW)
    refusal = scaled.account.refusing("PutScheduledAction", "ValidationException", where="StartTime")
    did = scaled.guard("after", NEW, refusal)
    assert sorted(scaled.names()) == ["Gpu", "Load", "begun", "launch"]
    assert (
        "Scheduled action night could not be restored" in did
    )  # it starts in 2199, and may not start before
    [initial_action] = [
        a for a in scaled.registered()["ScheduledActions"] if a["ScheduledActionName"] == "begun"
    ]
    assert "StartTime" not in initial_action
    assert initial_action["EndTime"].year == 2198


def test_a_policy_that_is_refused_fails_the_update_when_all_the_rest_is_there(moved: Guarded) -> None:
    clients = moved.account.refusing("PutScalingPolicy", "ValidationException", where="Load")
    with pytest.raises(GuardError) as failure:
        moved.guard("after", NEW, clients)
    assert "Policy Load could not be restored: An error occurred (ValidationException)" in str(failure.value)
    assert f"It stays saved in s3://artifacts/scaling-guard/{moved.name}/AllTraffic.json" in str(
        failure.value
    )
    assert sorted(moved.names()) == ["Gpu", "launch", "night"]
    assert moved.guard("after", NEW).startswith("The scaling of ")
    assert sorted(moved.names()) == ["Gpu", "Load", "launch", "night"]


@pytest.mark.parametrize("operation", ["DescribeEndpoint", "PutObject", "DeregisterScalableTarget"])
def test_a_refusal_of_aws_is_told_with_what_to_do(scaled: Guarded, operation: str) -> None:
    with pytest.raises(GuardError) as failure:
        scaled.guard("before", NEW, scaled.account.refusing(operation, "AccessDeniedException"))
    for words in (
        f"The scaling of endpoint {scaled.name} could not be adapted to {scaled.config(NEW)}:",
        f"An error occurred (AccessDeniedException) when calling the {operation} operation",
        "remove the cause and deploy again",
    ):
        assert words in str(failure.value)
    assert scaled.is_registered()


# --- a stack that rolls back


@pytest.mark.parametrize(
    ("operation", "location"),
    [("DescribeScalableTargets", ""), ("PutScalingPolicy", "Gpu"), ("DeleteObject", "")],
)
def test_in_a_stack_that_rolls_back_a_refusal_is_reported_only(
    moved: Guarded, stack_ids: StackIds, operation: str, location: str
) -> None:
    moved.stack_id = stack_ids.rolling_back
    clients = moved.account.refusing(operation, "AccessDeniedException", where=location)
    did = moved.answer_too_late(moved.event("after", NEW), clients)["Data"]["Summary"]
    assert did.startswith("Reported only, because the stack rolls back: The scaling of ")
    assert f"when calling the {operation} operation" in did
    assert moved.is_saved()


def test_in_a_stack_that_rolls_back_another_instance_type_is_no_failure(
    moved: Guarded, stack_ids: StackIds
) -> None:
    moved.stack_id = stack_ids.rolling_back
    did = moved.guard("after", OLD)
    assert f"runs on {NEW}, in configuration {moved.config(NEW)}, not {OLD}" in did
    assert "SageMaker did not keep" not in did


def test_a_stack_that_cannot_be_asked_is_taken_to_go_forward(moved: Guarded) -> None:
    with pytest.raises(GuardError, match="SageMaker did not keep the update"):
        clients = moved.account.refusing("DescribeStacks", "AccessDenied")
        moved.answer_too_late(moved.event("after", OLD), clients)


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
    moved: Guarded, operation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[None] = []
    moved.meanwhile = lambda: waits.append(None)
    clients = moved.account.refusing(operation, "ThrottlingException", message="Rate exceeded", times=1)
    moved.guard("after", NEW, clients)
    assert (sorted(moved.names()), moved.is_saved()) == (["Gpu", "Load", "launch", "night"], False)
    assert len(waits) == 1
    assert f"(ThrottlingException) when calling the {operation} operation" in capsys.readouterr().out


@pytest.mark.parametrize("config", [OTHER, NEW])
@pytest.mark.parametrize("operation", ["DescribeStacks", "DescribeEndpoint", "RegisterScalableTarget"])
def test_calls_that_fail_once_in_a_rollback_do_not_leave_the_scaling_suspended(
    scaled: Guarded, stack_ids: StackIds, operation: str, config: str
) -> None:
    as_it_was = scaled.registered()
    scaled.guard("before", config)
    scaled.stack_id = stack_ids.rolling_back
    scaled.meanwhile = lambda: None
    for event in (
        scaled.event("before", OLD, former=config),
        scaled.event("before", config, RequestType="Delete"),
    ):
        scaled.answer(event, scaled.account.refusing(operation, "InternalServiceException", times=1))
    assert (scaled.registered(), scaled.is_saved()) == (as_it_was, False)


# --- the ways of Application Auto Scaling


@pytest.mark.parametrize("operation", ["PutScalingPolicy", "PutScheduledAction"])
def test_a_target_that_is_not_yet_seen_is_waited_for(
    moved: Guarded, pauses: list[float], operation: str
) -> None:
    clients = moved.account.refusing(operation, "ObjectNotFoundException", times=2)
    moved.guard("after", NEW, clients)
    assert pauses == [1, 2]
    assert sorted(moved.names()) == ["Gpu", "Load", "launch", "night"]


def test_an_update_of_the_same_target_by_others_is_waited_for_and_given_up_in_the_end(
    scaled: Guarded, pauses: list[float]
) -> None:
    clients = scaled.account.refusing("DeregisterScalableTarget", "ConcurrentUpdateException")
    with pytest.raises(GuardError, match="ConcurrentUpdateException"):
        scaled.answer_too_late(scaled.event("before", NEW), clients)
    assert pauses == [1, 2, 4, 8]
    assert scaled.is_registered()
