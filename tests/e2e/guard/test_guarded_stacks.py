"""The scaling guard in stacks: whose the policies are after each change, and deploys that meet scaling."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from fleet_emulator.stacks.stack import EmbeddedStack
from tests.support.embedded_app.host import RecordingHost
from tests.support.endpoint_capacity import await_service
from tests.support.guarded_stack import GuardedStack, deploy_guard

OLD, NEW = "ml.g5.xlarge", "ml.g6.xlarge"
MAX_LOOKS = 3000
"""How often a test looks whether the guard has suspended the scaling, every 0.02 seconds."""
_numbers = itertools.count()
TWO = {"GpuUtilization": 60.0, "CpuUtilization": 70.0}


@pytest.fixture(scope="module")
def with_guard(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> EmbeddedAws:
    deploy_guard(aws_and_host[0])
    return aws_and_host[0]


@pytest.fixture
def make(with_guard: EmbeddedAws, host: RecordingHost) -> Callable[..., GuardedStack]:
    def make(**given_values: object) -> GuardedStack:
        stack = GuardedStack(with_guard, f"scaled-{next(_numbers)}")
        stack.create(OLD, **given_values)
        return stack

    return make


def assert_scales(stack: GuardedStack, targets: dict[str, float], *, own: bool = True) -> None:
    assert stack.tracked_values() == targets
    assert (stack.are_own(), stack.is_suspended(), stack.is_saved()) == (own, False, False)


@pytest.fixture(params=["rolled back", pytest.param("moved", marks=pytest.mark.nightly)])
def changed_stack(
    make: Callable[..., GuardedStack], request: pytest.FixtureRequest
) -> tuple[GuardedStack, str]:
    """A stack whose instance type was changed, for good or until its rollback; and its type."""
    stack = make(targets=TWO)
    broken_values = request.param == "rolled back"
    assert (
        stack.update(NEW, targets=TWO, is_broken=broken_values)
        == f"UPDATE{'_ROLLBACK' if broken_values else ''}_COMPLETE"
    )
    type = OLD if broken_values else NEW
    assert stack.type() == type
    assert_scales(stack, TWO, own=not broken_values)
    return stack, type


def test_after_a_change_of_type_a_target_changes_and_a_policy_goes_and_comes_back(
    changed_stack: tuple[GuardedStack, str],
) -> None:
    stack, type = changed_stack
    second_value = {**TWO, "GpuUtilization": 50.0}
    assert stack.update(type, targets=second_value) == "UPDATE_COMPLETE"
    assert stack.tracked_values() == second_value
    assert stack.update(type, targets={"GpuUtilization": 50.0}) == "UPDATE_COMPLETE"
    assert_scales(stack, {"GpuUtilization": 50.0})
    assert stack.update(type, targets=second_value) == "UPDATE_COMPLETE"
    assert_scales(stack, second_value)


def test_after_a_change_of_type_a_policy_that_goes_at_once_goes(
    changed_stack: tuple[GuardedStack, str],
) -> None:
    stack, type = changed_stack
    assert stack.update(type, targets={"GpuUtilization": 60.0}) == "UPDATE_COMPLETE"
    assert stack.tracked_values() == {"GpuUtilization": 60.0}
    assert stack.update(type, targets=TWO) == "UPDATE_COMPLETE"
    assert stack.tracked_values() == TWO


def test_after_a_change_of_type_it_may_change_once_more(changed_stack: tuple[GuardedStack, str]) -> None:
    stack, type = changed_stack
    second_value = OLD if type == NEW else NEW
    assert stack.update(second_value, targets=TWO) == "UPDATE_COMPLETE"
    assert stack.type() == second_value
    assert_scales(stack, TWO)


def test_a_change_of_scaling_that_is_rolled_back_scales_as_before(make: Callable[..., GuardedStack]) -> None:
    stack = make(targets=TWO)
    second_value = {"GpuUtilization": 50.0}
    assert stack.update(OLD, targets=second_value, is_broken=True) == "UPDATE_ROLLBACK_COMPLETE"
    assert_scales(stack, TWO, own=False)
    assert stack.update(OLD, targets=second_value) == "UPDATE_COMPLETE"
    assert stack.tracked_values() == second_value


@pytest.mark.parametrize(
    ("type", "image"), [pytest.param(OLD, "triton:25.04", marks=pytest.mark.nightly), (NEW, "triton:25.05")]
)
def test_a_stack_of_an_earlier_release_is_updated(
    make: Callable[..., GuardedStack], type: str, image: str
) -> None:
    stack = make(targets=TWO, is_earlier=True)
    assert stack.update(type, targets=TWO, image=image, is_broken=True) == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.type() == OLD
    assert_scales(stack, TWO, own=False)
    assert stack.update(type, targets=TWO, image=image) == "UPDATE_COMPLETE"
    assert_scales(stack, TWO)


def test_a_stack_of_an_earlier_release_loses_a_policy_with_its_update(
    make: Callable[..., GuardedStack],
) -> None:
    stack = make(targets=TWO, is_earlier=True)
    assert stack.update(OLD, targets={"GpuUtilization": 60.0}) == "UPDATE_COMPLETE"
    assert_scales(stack, {"GpuUtilization": 60.0})


@contextmanager
def scaling(aws: EmbeddedAws, host: RecordingHost, stack: GuardedStack) -> Iterator[None]:
    """Scale the endpoint until the guard has suspended the scaling; it has to by the end of the block."""
    host.may_scale.clear()
    aws.scale(stack.name, 3, region="us-east-1")
    pause, suspensions = threading.Event(), list[bool]()

    def settle() -> None:
        for _ in range(MAX_LOOKS):
            if stack.is_suspended():
                suspensions.append(True)
                break
            pause.wait(0.02)
        host.may_scale.set()
        await_service(stack.sagemaker, stack.name)

    thread = threading.Thread(target=settle, daemon=True)
    thread.start()
    yield
    thread.join(MAX_LOOKS * 0.02)
    assert suspensions == [True]


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_deploy_that_begins_while_the_endpoint_scales_is_updated_or_rolled_back_and_scales_as_before(
    with_guard: EmbeddedAws, host: RecordingHost, make: Callable[..., GuardedStack], is_broken: bool
) -> None:
    stack = make()
    with scaling(with_guard, host, stack):
        text = stack.update(OLD, image="triton:25.05", is_broken=is_broken)
    assert text == f"UPDATE{'_ROLLBACK' if is_broken else ''}_COMPLETE"
    assert_scales(stack, {"GpuUtilization": 60.0})


@pytest.mark.parametrize(
    ("type", "is_earlier"),
    [
        (NEW, True),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in ((OLD, False), (OLD, True), (NEW, False))
        ),
    ],
)
def test_a_rollback_that_begins_while_the_endpoint_scales_waits_for_it(
    with_guard: EmbeddedAws,
    host: RecordingHost,
    make: Callable[..., GuardedStack],
    monkeypatch: pytest.MonkeyPatch,
    is_earlier: bool,
    type: str,
) -> None:
    stack = make(targets=TWO, is_earlier=is_earlier)
    tell, activities = EmbeddedStack.tell, ExitStack()

    def step(self: EmbeddedStack, declared_values: Any, status: str, **messages: Any) -> None:
        tell(self, declared_values, status, **messages)
        if (declared_values.logical_id, status) == ("Broken", "CREATE_FAILED"):
            activities.enter_context(scaling(with_guard, host, stack))

    monkeypatch.setattr(EmbeddedStack, "tell", step)
    with activities:
        text = stack.update(type, targets=TWO, image="triton:25.05", is_broken=True)
    assert (text, stack.type()) == ("UPDATE_ROLLBACK_COMPLETE", OLD)
    assert_scales(stack, TWO, own=not is_earlier and type == OLD)


def test_scaling_comes_back_when_the_new_instances_do_not_start(
    host: RecordingHost, make: Callable[..., GuardedStack]
) -> None:
    stack = make(targets=TWO)
    host.failure = "no capacity"
    for type in (OLD, NEW):
        assert stack.update(type, targets=TWO, image="triton:25.05") == "UPDATE_ROLLBACK_FAILED"
        assert stack.stacks.continue_rollback(stack.name, "Endpoint") == "UPDATE_ROLLBACK_COMPLETE"
        assert stack.tracked_values() == TWO
        assert (stack.is_suspended(), stack.is_saved()) == (False, False)
    host.failure = ""
    assert stack.update(NEW, targets=TWO, image="triton:25.05") == "UPDATE_COMPLETE"
    assert_scales(stack, TWO)
