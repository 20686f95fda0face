"""Every way through an update and its rollback, with a death at every point: scaling ends as it was."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.sagemaker.backend import CONFIGURATION_IN_USE
from fleet_emulator.server import EmbeddedAws
from scaling_guard.errors import GuardError
from tests.support.embedded_app.host import RecordingHost
from tests.support.endpoint_capacity import await_service
from tests.support.guarded_endpoint import (
    NEW,
    OLD,
    OTHER_CONFIG,
    Account,
    FunctionDeath,
    GuardedEndpoint,
    StackIds,
)

pytestmark = pytest.mark.nightly
ORDERS = {"forward": ("before", "endpoint", "after"), "reverse": ("after", "endpoint", "before")}
OWN = {OLD: ["Own-1"], OTHER_CONFIG: ["Own-1"], NEW: ["Own-2"]}
"""The stack's policy, of one metric: another instance type is another policy."""


class UpdateError(Exception):
    """CloudFormation gives up an update, and rolls back."""


@dataclass
class Death:
    """The function dies in one of its calls, counted from 1, after so many changes."""

    call: int
    changes: int
    calls: int = 0
    has_happened: bool = False


class Update:
    """CloudFormation, from OLD to another configuration; a call that dies is repeated, or fails the update.

    It knows the stack's policies by their ARNs.
    """

    def __init__(
        self, endpoint: GuardedEndpoint, stacks: StackIds, death: Death, *, repeats: bool, goal: str = NEW
    ) -> None:
        self._endpoint = endpoint
        self._stacks = stacks
        self._death = death
        self._repeats = repeats
        self._goal = goal
        self._touched_names: list[str] = []
        self._made_names: dict[str, str] = {}

    def run(self, failure: str, order: tuple[str, ...]) -> None:
        endpoint, before = self._endpoint, self._endpoint.arns()
        endpoint.stack_id = self._stacks.calm
        try:
            self._forward(failure)
        except (GuardError, UpdateError):
            endpoint.stack_id = self._stacks.rolling_back
            self._repeats = True
            for part in [part for part in order if part in self._touched_names]:
                if part == "endpoint":
                    self._put_endpoint_back()
                else:
                    self._guard(part, OLD, self._goal)
            self._clean_up(self._made_names, self._goal)
        else:
            old = set(endpoint.own.get(OLD, [])) - set(endpoint.own.get(self._goal, []))
            self._clean_up({name: before[name] for name in old}, OLD)

    def _clean_up(self, policies: dict[str, str], config: str) -> None:
        """Delete what is left over: policies by their ARNs, and the resources of a configuration."""
        live = self._endpoint.arns()
        for name, arn in policies.items():
            if live.get(name) == arn:
                self._endpoint.delete_policy(name)
        for step in self._touched_names[::-1]:
            if step != "endpoint":
                self._endpoint.guard(step, config, RequestType="Delete")

    def _put_endpoint_back(self) -> None:
        """The rollback stops where SageMaker went back by itself, and is continued without the endpoint."""
        try:
            self._endpoint.move(OLD)
        except ClientError as error:
            assert CONFIGURATION_IN_USE in str(error)

    def _forward(self, failure: str) -> None:
        self._guard("before", self._goal, OLD)
        self._touched_names.append("endpoint")
        if failure == "in the endpoint":
            raise UpdateError
        if failure != "silently":
            self._endpoint.move(self._goal)
        if failure == "beside after":
            raise UpdateError
        self._guard("after", self._goal, OLD)
        self._make_policies()
        if failure == "later":
            raise UpdateError

    def _make_policies(self) -> None:
        """Make those that are new; the one that each replaces is deleted only in the clean-up."""
        own = self._endpoint.own
        for name in set(own.get(self._goal, [])) - set(own.get(OLD, [])):
            assert name not in self._endpoint.arns()
            self._endpoint.put_policy(name, 5)
            self._made_names[name] = self._endpoint.arns()[name]

    def _guard(self, step: str, config: str, former: str) -> None:
        self._touched_names.append(step)
        self._death.calls += 1
        if self._death.calls == self._death.call:
            clients = self._endpoint.account.clients_that_die(self._death.changes)
            try:
                self._endpoint.guard(step, config, clients, former=former)
            except FunctionDeath as died:
                self._death.has_happened = True
                if not self._repeats:
                    raise UpdateError from died
            else:
                return
        self._endpoint.guard(step, config, former=former)


def deaths(calls: range) -> Iterator[Death]:
    """In each of these calls after each number of changes that it makes."""
    for call in calls:
        for changes in itertools.count():
            death = Death(call, changes)
            yield death
            if not death.has_happened:  # the call makes fewer changes
                break


@pytest.fixture
def make(account: Account, request: pytest.FixtureRequest) -> Callable[[], GuardedEndpoint]:
    """Endpoints on OLD with a scaling that has a bit of everything."""
    numbers = itertools.count()
    name = request.node.name.translate(str.maketrans(dict.fromkeys("[] _./", "-")))

    def make() -> GuardedEndpoint:
        endpoint = GuardedEndpoint(account, f"{name[-40:].strip('-')}-{next(numbers)}", stack_id="")
        endpoint.serve(OLD)
        endpoint.scale()
        endpoint.put_policy("Own-1", 5)
        endpoint.own = OWN
        return endpoint

    return make


WAYS = [
    ("nowhere", "forward", range(1, 3)),
    ("in the endpoint", "forward", range(2, 3)),
    ("in the endpoint", "reverse", range(2, 3)),
    ("silently", "forward", range(3, 5)),
    ("silently", "reverse", range(3, 5)),
    ("beside after", "forward", range(2, 3)),
    ("beside after", "reverse", range(2, 3)),
    ("later", "forward", range(3, 5)),
    ("later", "reverse", range(3, 5)),
]
"""Where the update fails, in which order it is rolled back, and which calls of the guard that makes."""


def assert_scaling_is_as_it_was(
    endpoint: GuardedEndpoint, before: dict[str, object], death: Death, policy: str
) -> None:
    """The same but for the number in the name of the stack's policy, never suspended, and nothing is saved."""
    values = endpoint.registered_target()
    for scaling_policy in values["ScalingPolicies"]:
        if scaling_policy["PolicyName"] == policy:
            scaling_policy["PolicyName"] = "Own-1"
    assert (values, endpoint.is_saved()) == (before, False), death


@pytest.mark.nightly
@pytest.mark.parametrize("goal", [NEW, OTHER_CONFIG])
@pytest.mark.parametrize(("failure", "order", "calls"), WAYS)
def test_scaling_ends_as_it_was_wherever_the_update_fails_and_the_function_dies(
    make: Callable[[], GuardedEndpoint],
    stack_ids: StackIds,
    failure: str,
    order: str,
    calls: range,
    goal: str,
) -> None:
    number = 0
    for death in itertools.chain([Death(0, 0)], deaths(calls)):
        endpoint = make()
        as_it_was = endpoint.registered_target()
        Update(endpoint, stack_ids, death, repeats=True, goal=goal).run(failure, ORDERS[order])
        policy = OWN[goal if failure == "nowhere" else OLD][0]
        assert_scaling_is_as_it_was(endpoint, as_it_was, death, policy)
        assert death.calls == calls[-1]
        number += death.has_happened
    assert number >= len(calls)


@pytest.mark.nightly
@pytest.mark.parametrize("goal", [NEW, OTHER_CONFIG])
@pytest.mark.parametrize("order", ORDERS)
def test_scaling_ends_as_it_was_when_the_death_of_the_function_fails_the_update(
    make: Callable[[], GuardedEndpoint], stack_ids: StackIds, order: str, goal: str
) -> None:
    for death in deaths(range(1, 3)):
        endpoint = make()
        as_it_was = endpoint.registered_target()
        Update(endpoint, stack_ids, death, repeats=False, goal=goal).run("nowhere", ORDERS[order])
        policy = OWN[OLD if death.has_happened else goal][0]
        assert_scaling_is_as_it_was(endpoint, as_it_was, death, policy)


@pytest.mark.parametrize("goal", [NEW, OTHER_CONFIG])
@pytest.mark.parametrize(("failure", "order"), [("nowhere", "forward"), ("later", "reverse")])
def test_an_update_that_meets_scaling_and_its_rollback_leave_the_scaling_as_it_was(
    aws: EmbeddedAws,
    host: RecordingHost,
    make: Callable[[], GuardedEndpoint],
    stack_ids: StackIds,
    failure: str,
    order: str,
    goal: str,
) -> None:
    endpoint = make()
    as_it_was = endpoint.registered_target()
    host.may_scale.clear()
    aws.scale(endpoint.name, 4, region="us-east-1")
    waits: list[str] = []

    def settle() -> None:
        waits.append(endpoint.sagemaker.describe_endpoint(EndpointName=endpoint.name)["EndpointStatus"])
        host.may_scale.set()
        await_service(endpoint.sagemaker, endpoint.name)

    endpoint.meanwhile = settle
    Update(endpoint, stack_ids, Death(0, 0), repeats=True, goal=goal).run(failure, ORDERS[order])
    assert waits == ["Updating"]
    policy = OWN[goal if failure == "nowhere" else OLD][0]
    assert_scaling_is_as_it_was(endpoint, as_it_was, Death(0, 0), policy)


@pytest.mark.parametrize("order", ORDERS)
def test_a_change_of_the_scaling_alone_and_its_rollback_end_with_one_policy(
    make: Callable[[], GuardedEndpoint], stack_ids: StackIds, order: str
) -> None:
    """The endpoint's configuration stays: nothing is suspended, and nothing is waited for."""
    for failure, policy in {"later": "Own-1", "nowhere": "Own-2"}.items():
        endpoint = make()
        endpoint.own = {OLD: ["Own-1"], NEW: ["Own-2"]}
        unchanged_config = partial(str, endpoint.config(OLD))
        endpoint.config = lambda _, unchanged_value=unchanged_config: unchanged_value()  # type: ignore[method-assign,misc]
        endpoint.move = lambda instance_type: None  # type: ignore[method-assign]
        as_it_was = endpoint.registered_target()
        update = Update(endpoint, stack_ids, Death(0, 0), repeats=True)
        update.run(failure, ORDERS[order])
        assert_scaling_is_as_it_was(endpoint, as_it_was, Death(0, 0), policy)
