"""The function that owns log groups, as CloudFormation calls it: against the embedded AWS's CloudWatch Logs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from endpoint_logs.handler import LogsError, handler
from endpoint_logs.retry import PAUSE_SECONDS
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.guarded_endpoint import StackIds

KEY, OTHER_KEY = (f"arn:aws:kms:us-east-1:123456789012:key/{name}" for name in ("one", "other"))
TAGS = {"team": "search"}
_numbers = itertools.count()


@pytest.fixture(scope="module")
def stacks(aws: EmbeddedAws) -> StackIds:
    return StackIds.of(aws)


class Owner:
    """The custom resource of an endpoint's log group, in a stack that goes forward or rolls back."""

    def __init__(self, aws: EmbeddedAws, stack_id: str) -> None:
        self.group = f"/aws/sagemaker/Endpoints/e{next(_numbers)}"
        self.stack_id = stack_id
        self.clients: Callable[[str], Any] = cache(partial(client, aws))
        self.calls: list[str] = []
        self.logs.meta.events.register("before-call", self._before)
        self.refusals: dict[str, list[str]] = {}

    @property
    def logs(self) -> Any:
        return self.clients("logs")

    def _before(self, model: Any, **_: Any) -> None:
        self.calls.append(model.name)
        if self.refusals.get(model.name):
            code = self.refusals[model.name].pop(0)
            if not code:
                return
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, model.name)

    def ask(self, kind: str, old: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
        """An event with the properties as CloudFormation sends them: numbers are texts."""
        usual = {"LogGroups": [self.group], "RetentionInDays": "30", "Tags": TAGS}
        event: dict[str, Any] = {
            "RequestType": kind,
            "StackId": self.stack_id,
            "LogicalResourceId": "LogsOwned",
            "ResourceProperties": {**usual, **properties},
        }
        if kind != "Create":
            event["PhysicalResourceId"] = "physical"
            event["OldResourceProperties"] = {**usual, **(old or {})}
        return handler(event, None, self.clients, {})

    def did(self, kind: str, old: dict[str, Any] | None = None, **properties: Any) -> str:
        return str(self.ask(kind, old, **properties)["Data"]["Summary"])

    def log_group(self) -> dict[str, Any]:
        (group,) = self.logs.describe_log_groups(logGroupNamePrefix=self.group)["logGroups"]
        tags = self.logs.list_tags_for_resource(resourceArn=group["logGroupArn"])["tags"]
        return {"days": group.get("retentionInDays"), "key": group.get("kmsKeyId"), "tags": tags}


@pytest.fixture
def owner(aws: EmbeddedAws, stacks: StackIds) -> Owner:
    return Owner(aws, stacks.calm)


def test_a_group_that_is_missing_is_made(owner: Owner) -> None:
    assert owner.did("Create", KmsKey=KEY) == f"Created {owner.group} with a retention of 30 days."
    assert owner.log_group() == {"days": 30, "key": KEY, "tags": TAGS}


def test_a_group_that_is_there_is_taken_over_with_all_that_is_in_it(owner: Owner) -> None:
    owner.logs.create_log_group(logGroupName=owner.group)
    owner.logs.create_log_stream(logGroupName=owner.group, logStreamName="AllTraffic/i-1")
    assert owner.did("Create", KmsKey=KEY) == f"Adopted {owner.group} with a retention of 30 days."
    assert owner.log_group() == {"days": 30, "key": KEY, "tags": TAGS}
    assert len(owner.logs.describe_log_streams(logGroupName=owner.group)["logStreams"]) == 1


def test_a_group_that_was_deleted_by_hand_is_made_again_by_an_update(owner: Owner) -> None:
    owner.ask("Create")
    owner.logs.delete_log_group(logGroupName=owner.group)
    assert owner.did("Update", RetentionInDays="90").startswith("Created")
    assert owner.log_group()["days"] == 90


def test_an_update_changes_retention_key_and_tags(owner: Owner) -> None:
    owner.ask("Create", KmsKey=KEY, Tags={"team": "search", "old": "x"})
    before = {"KmsKey": KEY, "Tags": {"team": "search", "old": "x"}}
    owner.ask("Update", before, RetentionInDays="7", KmsKey=OTHER_KEY, Tags={"team": "ranking"})
    assert owner.log_group() == {"days": 7, "key": OTHER_KEY, "tags": {"team": "ranking"}}


def test_a_key_that_is_no_longer_asked_for_is_taken_off(owner: Owner) -> None:
    owner.ask("Create", KmsKey=KEY)
    owner.ask("Update", {"KmsKey": KEY})
    assert owner.log_group()["key"] is None


def test_a_key_that_somebody_else_gave_stays(owner: Owner) -> None:
    owner.logs.create_log_group(logGroupName=owner.group, kmsKeyId=OTHER_KEY)
    owner.ask("Create")
    assert owner.log_group()["key"] == OTHER_KEY


def test_every_call_may_be_repeated(owner: Owner) -> None:
    owner.ask("Create", KmsKey=KEY)
    owner.ask("Create", KmsKey=KEY)
    assert owner.log_group() == {"days": 30, "key": KEY, "tags": TAGS}


def test_its_name_for_cloudformation_never_changes(owner: Owner) -> None:
    resource_id = owner.ask("Create")["PhysicalResourceId"]
    assert resource_id == f"{owner.stack_id.rpartition(':')[2]}/LogsOwned"
    assert owner.ask("Update", LogGroups=["/triton-fleet/x/metrics"])["PhysicalResourceId"] == "physical"
    assert owner.ask("Delete")["PhysicalResourceId"] == "physical"


def test_a_deletion_keeps_the_groups_and_says_so_without_asking_anybody(owner: Owner) -> None:
    owner.ask("Create")
    owner.calls.clear()
    assert owner.did("Delete") == (
        f"Kept {owner.group}: lines expire after 30 days, and an empty log group costs nothing."
    )
    assert owner.calls == []
    assert owner.log_group()["days"] == 30


def test_a_container_that_makes_the_group_at_the_same_moment_is_waited_for(
    owner: Owner, pauses: list[float]
) -> None:
    owner.refusals = {
        "CreateLogGroup": ["OperationAbortedException"] * 2,
        "PutRetentionPolicy": ["OperationAbortedException"],
    }
    owner.ask("Create")
    assert pauses == [1, 2, 1]
    assert owner.log_group()["days"] == 30


def test_two_groups_that_are_busy_at_every_call_are_waited_for_as_long_as_the_function_has_time(
    owner: Owner, pauses: list[float]
) -> None:
    calls = "CreateLogGroup", "AssociateKmsKey", "PutRetentionPolicy", "UntagResource", "TagResource"
    owner.refusals = {
        name: [*["OperationAbortedException"] * 4, "", *["OperationAbortedException"] * 4] for name in calls
    }
    groups = [owner.group, f"{owner.group}-metrics"]
    owner.ask("Update", {"Tags": {"old": "x"}}, KmsKey=KEY, LogGroups=groups)
    assert [item for item in owner.refusals.values() if item] == []
    assert sum(pauses) == len(groups) * len(calls) * sum(PAUSE_SECONDS)


@pytest.mark.parametrize("operation", ["CreateLogGroup", "PutRetentionPolicy", "TagResource"])
def test_a_refusal_fails_the_deployment_in_words(owner: Owner, operation: str) -> None:
    owner.refusals = {operation: ["AccessDeniedException"]}
    with pytest.raises(LogsError) as failure:
        owner.ask("Create")
    assert f"The log group {owner.group} could not be created or configured: ClientError" in str(
        failure.value
    )
    assert str(failure.value).endswith(
        "Remove the cause and deploy again; where its tag triton-fleet:environment names another environment, remove"
        " the tag or delete the group."
    )


def test_a_key_that_cloudwatch_may_not_use_is_told_with_what_its_policy_lacks(owner: Owner) -> None:
    owner.logs.create_log_group(logGroupName=owner.group)
    owner.refusals = {"AssociateKmsKey": ["InvalidParameterException"]}
    with pytest.raises(LogsError, match="the policy of .*key/one has to let CloudWatch Logs use it"):
        owner.ask("Update", KmsKey=KEY)


def test_in_a_stack_that_rolls_back_a_refusal_is_reported_only(aws: EmbeddedAws, stacks: StackIds) -> None:
    owner = Owner(aws, stacks.rolling_back)
    owner.refusals = {"CreateLogGroup": ["AccessDeniedException"]}
    other_text = f"{owner.group}-other"
    did = owner.did("Update", LogGroups=[owner.group, other_text])
    assert did.startswith(
        f"Reported only, because the stack rolls back: The log group {owner.group} could not"
    )
    assert f"Created {other_text}" in did
