"""Every way through an update and its rollback, with a death at every point: scaling ends as it was."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.sagemaker.backend import CONFIGURATION_IN_USE
from guarded_endpoint import NEW, OLD, Account, Died, Guarded, StackIds
from scaling_guard.errors import GuardError

pytestmark = pytest.mark.nightly

ORDERS = {"forward": ("before", "endpoint", "after"), "reverse": ("after", "endpoint", "before")}


class UpdateFailed(Exception):
    """CloudFormation gives up an update, and rolls back."""


@dataclass
class Death:
    """The function dies in one of its calls, counted from 1, after so many changes."""

    call: int
    changes: int
    calls: int = 0
    happened: bool = False


class Update:
    """CloudFormation, from OLD to NEW; a call that dies is repeated, or fails the update."""

    def __init__(self, guarded: Guarded, stacks: StackIds, death: Death, *, repeats: bool) -> None:
        self._guarded = guarded
        self._stacks = stacks
        self._death = death
        self._repeats = repeats
        self._touched: list[str] = []

    def run(self, failure: str, order: tuple[str, ...]) -> None:
        self._guarded.stack_id = self._stacks.calm
        try:
            self._forward(failure)
        except (GuardError, UpdateFailed):
            self._guarded.stack_id = self._stacks.rolling_back
            self._repeats = True
            for part in [part for part in order if part in self._touched]:
                if part == "endpoint":
                    self._put_endpoint_back()
                else:
                    self._guard(part, OLD)
            for step in self._touched[::-1]:
                if step != "endpoint":  # its resource of the new type is deleted in the clean-up
                    self._guarded.guard(step, NEW, RequestType="Delete")

    def _put_endpoint_back(self) -> None:
        """The rollback stops where SageMaker went back by itself, and is continued without the endpoint."""
        try:
            self._guarded.move(OLD)
        except ClientError as error:
            assert CONFIGURATION_IN_USE in str(error)

    def _forward(self, failure: str) -> None:
        self._guard("before", NEW)
        self._touched.append("endpoint")
        if failure == "in the endpoint":
            raise UpdateFailed
        if failure != "silently":
            self._guarded.move(NEW)
        if failure == "beside after":
            raise UpdateFailed
        self._guard("after", NEW)
        if failure == "later":
            raise UpdateFailed

    def _guard(self, step: str, instance_type: str) -> None:
        self._touched.append(step)
        self._death.calls += 1
        if self._death.calls == self._death.call:
            try:
                self._guarded.guard(step, instance_type, self._guarded.account.dying(self._death.changes))
            except Died as died:
                self._death.happened = True
                if not self._repeats:
                    raise UpdateFailed from died
            else:
                return
        self._guarded.guard(step, instance_type)


def deaths(calls: range) -> Iterator[Death]:
    """In each of these calls after each number of changes that it makes."""
    for call in calls:
        for changes in itertools.count():
            death = Death(call, changes)
            yield death
            if not death.happened:  # the call makes fewer changes
                break


@pytest.fixture
def make(account: Account, request: pytest.FixtureRequest) -> Callable[[], Guarded]:
    """Endpoints on OLD with a scaling that has a bit of everything."""
    numbers = itertools.count()
    test = request.node.name.replace("[", "-").replace("]", "").replace(" ", "-").replace("_", "-")

    def make() -> Guarded:
        guarded = Guarded(account, f"{test[-40:].strip('-')}-{next(numbers)}", stack_id="")
        guarded.serve(OLD)
        guarded.scale()
        return guarded

    return make


@pytest.mark.parametrize(
    ("failure", "order", "calls"),
    [
        ("nowhere", "forward", range(1, 3)),
        ("in the endpoint", "forward", range(2, 3)),
        ("in the endpoint", "reverse", range(2, 3)),
        ("silently", "forward", range(3, 5)),
        ("silently", "reverse", range(3, 5)),
        ("beside after", "forward", range(2, 3)),
        ("beside after", "reverse", range(2, 3)),
        ("later", "forward", range(3, 5)),
        ("later", "reverse", range(3, 5)),
    ],
)
def test_scaling_ends_as_it_was_wherever_the_update_fails_and_the_function_dies(
    make: Callable[[], Guarded], stack_ids: StackIds, failure: str, order: str, calls: range
) -> None:
    died = 0
    for death in itertools.chain([Death(0, 0)], deaths(calls)):
        guarded = make()
        as_it_was = guarded.registered()
        Update(guarded, stack_ids, death, repeats=True).run(failure, ORDERS[order])
        assert (guarded.registered(), guarded.is_saved()) == (as_it_was, False), death
        assert death.calls == calls[-1]
        died += death.happened
    assert died >= len(calls)


@pytest.mark.parametrize("order", ORDERS)
def test_scaling_ends_as_it_was_when_the_death_of_the_function_fails_the_update(
    make: Callable[[], Guarded], stack_ids: StackIds, order: str
) -> None:
    for death in deaths(range(1, 3)):
        guarded = make()
        as_it_was = guarded.registered()
        Update(guarded, stack_ids, death, repeats=False).run("nowhere", ORDERS[order])
        assert (guarded.registered(), guarded.is_saved()) == (as_it_was, False), death
