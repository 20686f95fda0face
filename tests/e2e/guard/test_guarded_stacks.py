"""The scaling guard in stacks: whose the policies are after each change, and deploys that meet scaling."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import pytest

from endpoint_capacity import await_service
from fleet_emulator.server import EmbeddedAws
from guarded_stack import GuardedStack, deploy_guard
from tests.e2e.embedded_app.host import RecordingHost

OLD, NEW = "ml.g5.xlarge", "ml.g6.xlarge"
_numbers = itertools.count()
TWO = {"GpuUtilization": 60.0, "CpuUtilization": 70.0}


@pytest.fixture(scope="module")
def with_guard(running: tuple[EmbeddedAws, RecordingHost]) -> EmbeddedAws:
    deploy_guard(running[0])
    return running[0]


@pytest.fixture
def make(with_guard: EmbeddedAws, host: RecordingHost) -> Callable[..., GuardedStack]:
    def make(**given: object) -> GuardedStack:
        stack = GuardedStack(with_guard, f"scaled-{next(_numbers)}")
        stack.create(OLD, **given)
        return stack

    return make


def assert_scales(stack: GuardedStack, targets: dict[str, float], *, own: bool = True) -> None:
    assert stack.tracked() == targets
    assert (stack.are_own(), stack.suspended(), stack.is_saved()) == (own, False, False)


@pytest.fixture(params=["moved", "rolled back"])
def changed(make: Callable[..., GuardedStack], request: pytest.FixtureRequest) -> tuple[GuardedStack, str]:
    """A stack whose instance type was changed, for good or until its rollback; and its type."""
    stack = make(targets=TWO)
    broken = request.param == "rolled back"
    assert stack.update(NEW, targets=TWO, broken=broken) == f"UPDATE{'_ROLLBACK' if broken else ''}_COMPLETE"
    type = OLD if broken else NEW
    assert stack.type() == type
    assert_scales(stack, TWO, own=not broken)
    return stack, type


def test_after_a_change_of_type_a_target_changes_and_a_policy_goes_and_comes_back(
    changed: tuple[GuardedStack, str],
) -> None:
    stack, type = changed
    other = {**TWO, "GpuUtilization": 50.0}
    assert stack.update(type, targets=other) == "UPDATE_COMPLETE"
    assert stack.tracked() == other
    assert stack.update(type, targets={"GpuUtilization": 50.0}) == "UPDATE_COMPLETE"
    assert_scales(stack, {"GpuUtilization": 50.0})
    assert stack.update(type, targets=other) == "UPDATE_COMPLETE"
    assert_scales(stack, other)


def test_after_a_change_of_type_a_policy_that_goes_at_once_goes(changed: tuple[GuardedStack, str]) -> None:
    stack, type = changed
    assert stack.update(type, targets={"GpuUtilization": 60.0}) == "UPDATE_COMPLETE"
    assert stack.tracked() == {"GpuUtilization": 60.0}
    assert stack.update(type, targets=TWO) == "UPDATE_COMPLETE"
    assert stack.tracked() == TWO


def test_after_a_change_of_type_it_may_change_once_more(changed: tuple[GuardedStack, str]) -> None:
    stack, type = changed
    other = OLD if type == NEW else NEW
    assert stack.update(other, targets=TWO) == "UPDATE_COMPLETE"
    assert stack.type() == other
    assert_scales(stack, TWO)


def test_a_change_of_scaling_that_is_rolled_back_scales_as_before(make: Callable[..., GuardedStack]) -> None:
    stack = make(targets=TWO)
    other = {"GpuUtilization": 50.0}
    assert stack.update(OLD, targets=other, broken=True) == "UPDATE_ROLLBACK_COMPLETE"
    assert_scales(stack, TWO, own=False)
    assert stack.update(OLD, targets=other) == "UPDATE_COMPLETE"
    assert stack.tracked() == other


@pytest.mark.parametrize(("type", "image"), [(OLD, "triton:25.04"), (NEW, "triton:25.05")])
def test_a_stack_of_an_earlier_release_is_updated(
    make: Callable[..., GuardedStack], type: str, image: str
) -> None:
    stack = make(targets=TWO, is_earlier=True)
    assert stack.update(type, targets=TWO, image=image, broken=True) == "UPDATE_ROLLBACK_COMPLETE"
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


@pytest.mark.parametrize("broken", [False, True])
def test_a_deploy_that_begins_while_the_endpoint_scales_ends_well(
    with_guard: EmbeddedAws, host: RecordingHost, make: Callable[..., GuardedStack], broken: bool
) -> None:
    stack = make()
    host.may_scale.clear()
    with_guard.scale(stack.name, 3, region="us-east-1")
    pause = threading.Event()

    def settle() -> None:
        while not stack.suspended():
            pause.wait(0.02)
        host.may_scale.set()
        await_service(stack.sagemaker, stack.name)

    settling = threading.Thread(target=settle)
    settling.start()
    ended = stack.update(OLD, image="triton:25.05", broken=broken)
    settling.join()
    assert ended == f"UPDATE{'_ROLLBACK' if broken else ''}_COMPLETE"
    assert_scales(stack, {"GpuUtilization": 60.0})


def test_scaling_comes_back_when_the_new_instances_do_not_start(
    host: RecordingHost, make: Callable[..., GuardedStack]
) -> None:
    stack = make(targets=TWO)
    host.failure = "no capacity"
    for type in (OLD, NEW):
        assert stack.update(type, targets=TWO, image="triton:25.05") == "UPDATE_ROLLBACK_FAILED"
        assert stack.stacks.continue_rollback(stack.name, "Endpoint") == "UPDATE_ROLLBACK_COMPLETE"
        assert stack.tracked() == TWO
        assert (stack.suspended(), stack.is_saved()) == (False, False)
    host.failure = ""
    assert stack.update(NEW, targets=TWO, image="triton:25.05") == "UPDATE_COMPLETE"
    assert_scales(stack, TWO)
