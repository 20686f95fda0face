"""The embedded AWS keeps the saved queries and the log groups of stacks, and lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks
from tests.support.running_aws import running_aws

QUERY = {"Name": "TritonFleet/a/errors", "QueryString": "limit 1", "LogGroupNames": ["/a"]}
KEY, OTHER_KEY = (f"arn:aws:kms:us-east-1:123456789012:key/{number}" for number in (1, 2))
NUMBERS = count()


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    with running_aws(RecordingHost()) as aws:
        yield aws


@pytest.fixture
def stack() -> str:
    return f"stack{next(NUMBERS)}"


def query(**changed_values: Any) -> dict[str, Any]:
    return {"Errors": {"Type": "AWS::Logs::QueryDefinition", "Properties": {**QUERY, **changed_values}}}


def group(**properties: Any) -> dict[str, Any]:
    return {"Group": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/g", **properties}}}


def test_a_saved_query_is_listed_under_an_id_that_it_keeps(aws: EmbeddedAws, stack: str) -> None:
    logs, stacks = client(aws, "logs"), Stacks(aws)
    assert stacks.create(stack, query()) == "CREATE_COMPLETE"
    id = stacks.physical_ids(stack)["Errors"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id)
    (query_definition,) = logs.describe_query_definitions(queryDefinitionNamePrefix="TritonFleet/a/")[
        "queryDefinitions"
    ]
    assert query_definition.pop("lastModified") > 0
    assert query_definition == {
        "queryLanguage": "CWLI",
        "queryDefinitionId": id,
        "name": "TritonFleet/a/errors",
        "queryString": "limit 1",
        "logGroupNames": ["/a"],
    }
    assert logs.describe_query_definitions(queryDefinitionNamePrefix="others")["queryDefinitions"] == []
    assert stacks.update(stack, query(Name="others", QueryString="limit 2")) == "UPDATE_COMPLETE"
    (actual_query_definition,) = logs.describe_query_definitions()["queryDefinitions"]
    assert [actual_query_definition[key] for key in ("queryDefinitionId", "name", "queryString")] == [
        id,
        "others",
        "limit 2",
    ]
    stacks.api.delete_stack(StackName=stack)
    stacks.api.get_waiter("stack_delete_complete").wait(StackName=stack, WaiterConfig={"Delay": 1})
    assert logs.describe_query_definitions()["queryDefinitions"] == []


@pytest.mark.parametrize("properties", [{"Name": ""}, {"Name": "x" * 256}, {"QueryString": "x" * 10_001}])
def test_a_query_beyond_the_limits_is_refused(
    aws: EmbeddedAws, stack: str, properties: dict[str, str]
) -> None:
    assert Stacks(aws).create(stack, query(**properties)) == "ROLLBACK_COMPLETE"
    assert any("has to have 1 to" in reason for _, _, reason in Stacks(aws).events(stack))


def test_a_log_group_has_the_key_that_its_stack_gives_it(aws: EmbeddedAws, stack: str) -> None:
    stacks = Stacks(aws)

    def key() -> Any:
        (log_group,) = client(aws, "logs").describe_log_groups(logGroupNamePrefix="/g")["logGroups"]
        return log_group.get("kmsKeyId")

    assert stacks.create(stack, group(KmsKeyId=KEY)) == "CREATE_COMPLETE"
    assert key() == KEY
    assert stacks.update(stack, group(KmsKeyId=OTHER_KEY, RetentionInDays=7)) == "UPDATE_COMPLETE"
    assert key() == OTHER_KEY
    assert stacks.update(stack, group()) == "UPDATE_COMPLETE"
    assert key() is None
