"""Of two commands that change a stack, the second one waits and names who has it since when."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.support.deployment import DEPLOYMENT
from tests.support.embedded_keys import KEYS
from tests.support.faulty_s3 import faulty_s3
from triton_fleet.aws.access import Access, embedded_access
from triton_fleet.aws.deploy import stack_lease
from triton_fleet.aws.deploy.stack_lease import (
    DEPLOYS,
    DESTROYS,
    LEASES,
    RENEWAL_SECONDS,
    VALID_SECONDS,
    StackLeases,
    StackTerms,
)
from triton_fleet.awsapi.errors import answered_at
from triton_fleet.findings import CannotRunError
from triton_fleet.store.builds.lease import Lease

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

STACK = "triton-fleet-dev-simple"
KEY = f"{LEASES}{STACK}.json"
ALICE = StackTerms(holder="user/alice", token="clone of alice", commit="a" * 40)
BOB = StackTerms(holder="user/bob", token="clone of bob", commit="b" * 40)
SECONDS = 60


@dataclass
class Commands:
    """Commands on one account; `notices` are what they print, `s3` is asked beside them."""

    access: Access
    notices: list[str] = field(default_factory=list)
    notice: threading.Event = field(default_factory=threading.Event)

    def of(self, holder: StackTerms, *, contains: bool = False) -> StackLeases:
        leases = StackLeases(self.access, holder, self._notice, lambda _: contains)
        leases.begin()
        return leases

    @property
    def s3(self) -> S3Client:
        return self.access.client("s3")

    def content(self) -> dict[str, object]:
        document: dict[str, object] = json.loads(
            self.s3.get_object(Bucket=DEPLOYMENT.bucket, Key=KEY)["Body"].read()
        )
        return document

    def _notice(self, text: str) -> None:
        self.notices.append(text)
        self.notice.set()


@pytest.fixture(scope="module")
def access(aws_url: str) -> Access:
    return embedded_access(DEPLOYMENT, aws_url, KEYS)


@pytest.fixture
def commands(access: Access) -> Commands:
    """The bucket has no lease."""
    made_commands = Commands(access)
    with suppress(ClientError):
        made_commands.s3.create_bucket(Bucket=DEPLOYMENT.bucket)
    made_commands.s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=KEY)
    return made_commands


def test_a_lease_ends_with_its_command_and_is_never_deleted(commands: Commands) -> None:
    with commands.of(ALICE).lease(STACK) as second_value:
        assert second_value is None
        assert commands.content()["seconds"] == VALID_SECONDS
    assert (commands.content()["holder"], commands.content()["seconds"]) == ("user/alice", 0)


@pytest.mark.parametrize("seconds", [10**18, 10**400, -(10**400)], ids=["endless", "huge", "negative"])
@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_lease_is_valid_no_longer_than_any_command_writes_it(
    commands: Commands, seconds: int, since: str
) -> None:
    content = {"holder": "user/mallory", "token": "x", "build": "", "seconds": seconds, "since": since}
    commands.s3.put_object(Bucket=DEPLOYMENT.bucket, Key=KEY, Body=json.dumps(content).encode())
    terms = StackTerms(holder="user/bob", token="y", seconds=VALID_SECONDS, since=datetime.now(UTC))
    lease = Lease(commands.s3, DEPLOYMENT.bucket, KEY, terms).current()
    assert lease is not None
    assert lease.lifetime <= VALID_SECONDS
    assert str(lease.terms).startswith("user/mallory has been deploying it since ")


def test_what_ended_before_a_command_began_is_not_told(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    with commands.of(ALICE).lease(STACK):
        pass
    monkeypatch.setattr(stack_lease, "answered_at", lambda answer: answered_at(answer) + timedelta(seconds=2))
    with commands.of(BOB).lease(STACK) as second_value:
        assert second_value is None
    assert commands.notices == []


def test_a_second_command_waits_and_names_who_has_the_stack_since_when_from_which_commit(
    commands: Commands,
) -> None:
    def second() -> StackTerms | None:
        with commands.of(BOB).lease(STACK) as second_value:
            return second_value

    with ThreadPoolExecutor() as pool:
        with commands.of(ALICE).lease(STACK):
            waiting_future = pool.submit(second)
            assert commands.notice.wait(SECONDS)
            assert not waiting_future.done()
        second_value = waiting_future.result(SECONDS)
    (notice,) = commands.notices
    since = commands.content()["since"]
    assert isinstance(since, str)
    assert second_value is not None
    assert second_value.holder == "user/alice"
    assert notice == (
        f"{STACK}: user/alice has been deploying it since {second_value.since:%H:%M:%S} UTC from commit aaaaaaaaaaaa;"
        " waiting for it to end"
    )


def test_a_deploy_that_came_and_went_since_this_one_began_is_known(commands: Commands) -> None:
    slow = commands.of(BOB)
    with commands.of(ALICE).lease(STACK):
        pass
    with slow.lease(STACK) as second_value:
        assert second_value is not None
        assert second_value.holder == "user/alice"
    assert commands.notices == []


def test_a_lease_that_was_not_renewed_is_taken_over_and_its_former_holder_stops(commands: Commands) -> None:
    dead = commands.of(ALICE)
    with dead.lease(STACK):
        content = commands.content() | {"seconds": 0}
        commands.s3.put_object(Bucket=DEPLOYMENT.bucket, Key=KEY, Body=json.dumps(content).encode())
        with commands.of(BOB).lease(STACK):
            assert commands.content()["holder"] == "user/bob"
            dead.renew(STACK)
            with pytest.raises(CannotRunError, match=f"no longer has the lease of {STACK}") as caught:
                dead.require(STACK)
            assert "deploy again" in caught.value.remedy
    assert (commands.content()["holder"], commands.content()["seconds"]) == ("user/bob", 0)


def test_a_lease_is_renewed_before_it_expires(commands: Commands) -> None:
    leases = commands.of(ALICE)
    with leases.lease(STACK):
        before = commands.s3.head_object(Bucket=DEPLOYMENT.bucket, Key=KEY)["LastModified"]
        leases.renew(STACK)
        leases.require(STACK)
        assert commands.s3.head_object(Bucket=DEPLOYMENT.bucket, Key=KEY)["LastModified"] >= before
    assert 2 * RENEWAL_SECONDS < VALID_SECONDS


def test_a_clone_takes_over_what_its_own_killed_command_has_left_without_a_wait(commands: Commands) -> None:
    dead_lease = commands.of(ALICE).lease(STACK)
    dead_lease.__enter__()
    with commands.of(ALICE).lease(STACK) as second_value:
        assert second_value is None
    assert commands.notices == []


@pytest.mark.parametrize("action", [DEPLOYS, DESTROYS])
def test_a_deploy_that_was_killed_before_stops_no_deletion(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    with commands.of(ALICE).lease(STACK):
        content = commands.content()

    def put(seconds: int) -> None:
        body = json.dumps(content | {"seconds": seconds}).encode()
        commands.s3.put_object(Bucket=DEPLOYMENT.bucket, Key=KEY, Body=body)

    def expire_while_another_waits() -> None:
        assert commands.notice.wait(SECONDS)
        put(1)

    put(VALID_SECONDS)
    monkeypatch.setattr(stack_lease, "answered_at", lambda answer: answered_at(answer) + timedelta(hours=1))
    with ThreadPoolExecutor() as pool:
        expiry = pool.submit(expire_while_another_waits)
        with commands.of(BOB).lease(STACK, action) as second_value:
            assert (second_value is None) is (action == DESTROYS)
        expiry.result()
    assert commands.notices[-1] == f"{STACK}: user/alice has not renewed its lease: this command takes over"


def test_an_interruption_ends_all_leases(commands: Commands) -> None:
    leases = commands.of(ALICE)
    interrupted_lease = leases.lease(STACK)
    interrupted_lease.__enter__()
    leases.end()
    assert commands.content()["seconds"] == 0


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_without_the_right_a_command_goes_on_and_says_that_others_are_not_noticed(
    aws_url: str, commands: Commands, method: str
) -> None:
    with faulty_s3(aws_url) as proxy:
        proxy.deny(lambda request: request.method == method and KEY in request.path)
        denied_commands = Commands(embedded_access(DEPLOYMENT, proxy.url, KEYS))
        with denied_commands.of(ALICE).lease(STACK) as second_value:
            assert second_value is None
    (notice,) = denied_commands.notices
    assert notice.startswith(f"no permission to read and write s3://{DEPLOYMENT.bucket}/{LEASES}: ")


@pytest.mark.parametrize("is_same", [True, False])
def test_after_a_wait_only_what_still_differs_is_deployed(commands: Commands, is_same: bool) -> None:
    leases = commands.of(BOB, contains=True)
    with commands.of(ALICE).lease(STACK):
        pass
    with leases.turn(STACK, lambda: is_same) as is_needed:
        assert is_needed is not is_same
    text = "user/alice has deployed the same" if is_same else "this deploy replaces what user/alice deployed"
    assert commands.notices[0].startswith(f"{STACK}: {text}")


def test_a_stack_that_no_other_command_changed_is_deployed_as_planned(commands: Commands) -> None:
    with commands.of(BOB).turn(STACK, lambda: pytest.fail("compared twice")) as is_needed:
        assert is_needed


def test_nothing_is_leased_before_there_is_a_bucket(commands: Commands) -> None:
    commands.s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=KEY)
    commands.s3.delete_bucket(Bucket=DEPLOYMENT.bucket)
    with commands.of(ALICE).lease(STACK) as second_value:
        assert second_value is None
    assert commands.notices == []


@pytest.mark.parametrize(
    ("changes", "contains", "is_refused"),
    [
        ({}, True, False),
        ({}, False, True),
        ({"commit": None}, True, True),
        ({"has_changes": True}, True, True),
        ({"action": "destroys"}, True, True),
    ],
)
def test_only_what_ones_own_commit_contains_is_replaced(
    commands: Commands, changes: dict[str, Any], contains: bool, is_refused: bool
) -> None:
    leases = commands.of(BOB, contains=contains)
    terms = StackTerms(holder="user/alice", token="t", seconds=0, since=leases.current_time, commit="a" * 40)
    if is_refused:
        with pytest.raises(CannotRunError, match="user/alice has de[a-z]+ed") as caught:
            leases.require_newer(STACK, replace(terms, **changes))
        assert "run the command again" in caught.value.remedy
    else:
        leases.require_newer(STACK, replace(terms, **changes))
        assert commands.notices == [
            f"{STACK}: this deploy replaces what user/alice deployed from commit aaaaaaaaaaaa"
        ]
