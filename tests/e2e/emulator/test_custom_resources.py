"""The embedded AWS's custom resources: handlers of our own behind a CDK provider, called as CloudFormation calls.

What CloudFormation and the provider do is described in the README of aws-cdk-lib/custom-resources.
"""

from __future__ import annotations

from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.functions import (
    archive,
    custom,
    kinds,
    provider,
    recorder_requests,
    upload,
    waiting_provider,
)
from tests.support.embedded_app.stacks import TOPIC, Stacks, absent_model

FAILED_STATUS = "Received response status [FAILED] from custom resource. Message returned: "
LOCKED_MESSAGE = f"{FAILED_STATUS}Error: the table is locked\n\nLogs: /aws/lambda/"


def broken_stack(after: str) -> dict[str, Any]:
    """Resources of which one fails, when another is through."""
    return {"Topic": TOPIC, "Broken": absent_model() | {"DependsOn": ["Topic", after]}}


def event_messages(stacks: Stacks, name: str, resource: str, status: str) -> list[str]:
    return [text for actor, what, text in stacks.events(name) if (actor, what) == (resource, status)]


def test_a_creation_is_asked_for_with_what_the_template_says(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    properties: dict[str, Any] = {
        "Number": 1,
        "Float": 1.5,
        "Flag": True,
        "List": [False, {"Deep": 2}],
        "Zero": 0,
    }
    assert stacks.create("asked", {**provider(recorder), "Asked": custom(**properties)}) == "CREATE_COMPLETE"
    [event] = recorder_requests(aws, "Asked")
    token = event["ServiceToken"]
    assert token.startswith("arn:aws:lambda:us-east-1:123456789012:function:asked-Framework-")
    assert event == {
        "RequestType": "Create",
        "RequestId": event["RequestId"],
        "StackId": stacks.api.describe_stacks(StackName="asked")["Stacks"][0]["StackId"],
        "ServiceToken": token,
        "ResourceType": "Custom::Thing",
        "LogicalResourceId": "Asked",
        "ResourceProperties": {
            "ServiceToken": token,
            "Number": "1",
            "Float": "1.5",
            "Flag": "true",
            "List": ["false", {"Deep": "2"}],
            "Zero": "0",
        },
    }
    # Without an id from the handler, that of the request is the resource's.
    assert stacks.physical_ids("asked")["Asked"] == event["RequestId"]


def test_the_type_without_a_name_of_its_own_is_hosted_too(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    plain = custom(Id="x") | {"Type": "AWS::CloudFormation::CustomResource"}
    stacks.create("plain", {**provider(recorder), "Plain": plain})
    assert kinds(aws, "Plain") == [("Create", "")]


def test_others_read_what_the_handler_answers(stacks: Stacks, recorder: dict[str, str]) -> None:
    resources = {
        **provider(recorder, environment={"GREETING": "good day"}),
        "Answering": custom(Id="thing-1"),
    }
    outputs = {
        "Id": {"Value": {"Ref": "Answering"}},
        "Greeting": {"Value": {"Fn::GetAtt": ["Answering", "Greeting"]}},
        "Count": {"Value": {"Fn::GetAtt": ["Answering", "Count"]}},
    }
    assert stacks.create("answering", resources, Outputs=outputs) == "CREATE_COMPLETE"
    assert stacks.outputs("answering") == {"Id": "thing-1", "Greeting": "good day", "Count": "3"}


def test_what_the_handler_did_not_answer_cannot_be_read(stacks: Stacks, recorder: dict[str, str]) -> None:
    value = {"Type": "String", "Value": {"Fn::GetAtt": ["Silent", "Absent"]}}
    resources = {**provider(recorder), "Silent": custom(), "Setting": {"Type": "AWS::SSM::Parameter"}}
    resources["Setting"]["Properties"] = value
    assert stacks.create("silent", resources) == "ROLLBACK_COMPLETE"
    [reason] = event_messages(stacks, "silent", "Setting", "CREATE_FAILED")
    assert "Vendor response doesn't contain Absent key" in reason


def test_an_update_is_asked_for_only_when_a_property_changes(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    stacks.create("updated", {**provider(recorder), "Updated": custom(Id="u", Size=1)})
    stacks.update("updated", {**provider(recorder, Description="new"), "Updated": custom(Id="u", Size=1)})
    assert kinds(aws, "Updated") == [("Create", "")]
    assert (
        stacks.update("updated", {**provider(recorder), "Updated": custom(Id="u", Size=2)})
        == "UPDATE_COMPLETE"
    )
    update = recorder_requests(aws, "Updated")[1]
    assert (update["RequestType"], update["PhysicalResourceId"]) == ("Update", "u")
    assert update["ResourceProperties"]["Size"] == "2"
    assert update["OldResourceProperties"]["Size"] == "1"


def test_an_update_runs_the_code_that_came_with_it(aws: EmbeddedAws, stacks: Stacks) -> None:
    def resources(version: str) -> dict[str, Any]:
        sources = {
            "recorder/handler.py": "from .answer import DATA\n"
            "def on_event(event, context, client, environ): return {'Data': DATA}\n",
            "recorder/answer.py": f"DATA = {{'Version': '{version}'}}\n",
        }
        code = upload(aws, f"{version}.zip", archive(sources))
        return {**provider(code), "Versioned": custom(Version=version)}

    outputs = {"Version": {"Value": {"Fn::GetAtt": ["Versioned", "Version"]}}}
    stacks.create("versioned", resources("one"), Outputs=outputs)
    assert stacks.outputs("versioned") == {"Version": "one"}
    stacks.update("versioned", resources("two"), Outputs=outputs)
    assert stacks.outputs("versioned") == {"Version": "two"}


def test_another_physical_id_is_a_replacement_whose_predecessor_is_deleted(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    stacks.create("moving", {**provider(recorder), "Moving": custom(Id="old")})
    assert stacks.update("moving", {**provider(recorder), "Moving": custom(Id="new")}) == "UPDATE_COMPLETE"
    assert kinds(aws, "Moving") == [("Create", ""), ("Update", "old"), ("Delete", "old")]
    assert recorder_requests(aws, "Moving")[2]["ResourceProperties"]["Id"] == "old"
    assert stacks.physical_ids("moving")["Moving"] == "new"
    statuses = [status for _, status, _ in stacks.events("moving")]
    assert statuses.index("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS") < statuses.index("DELETE_COMPLETE")


def test_a_rollback_updates_back_and_deletes_what_was_new(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    stacks.create("returning", {**provider(recorder), "Returning": custom(Id="old")})
    update = {**provider(recorder), "Returning": custom(Id="new"), **broken_stack(after="Returning")}
    assert stacks.update("returning", update) == "UPDATE_ROLLBACK_COMPLETE"
    requests = [("Create", ""), ("Update", "old"), ("Update", "new"), ("Delete", "new")]
    assert kinds(aws, "Returning") == requests
    back = recorder_requests(aws, "Returning")[2]
    assert (back["ResourceProperties"]["Id"], back["OldResourceProperties"]["Id"]) == ("old", "new")
    assert stacks.physical_ids("returning")["Returning"] == "old"
    assert "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS" in [s for _, s, _ in stacks.events("returning")]


def test_a_creation_that_fails_is_told_and_not_deleted(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    assert (
        stacks.create("failing", {**provider(recorder), "Failing": custom(Fails="Create")})
        == "ROLLBACK_COMPLETE"
    )
    [reason] = event_messages(stacks, "failing", "Failing", "CREATE_FAILED")
    assert reason.startswith(LOCKED_MESSAGE)
    assert kinds(aws, "Failing") == [("Create", "")]


def test_an_update_that_fails_is_followed_by_one_back(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    stacks.create("unsteady", {**provider(recorder), "Unsteady": custom(Id="u")})
    assert (
        stacks.update("unsteady", {**provider(recorder), "Unsteady": custom(Id="u", Fails="Update")})
        == "UPDATE_ROLLBACK_COMPLETE"
    )
    assert event_messages(stacks, "unsteady", "Unsteady", "UPDATE_FAILED")[0].startswith(LOCKED_MESSAGE)
    assert kinds(aws, "Unsteady") == [("Create", ""), ("Update", "u"), ("Update", "u")]
    assert recorder_requests(aws, "Unsteady")[2]["OldResourceProperties"]["Fails"] == "Update"


def test_a_deletion_that_fails_in_a_rollback_leaves_it_failed(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    resources = {
        **provider(recorder),
        "Sticky": custom(Id="s", Fails="Delete"),
        **broken_stack(after="Sticky"),
    }
    assert stacks.create("sticky", resources) == "ROLLBACK_FAILED"
    assert event_messages(stacks, "sticky", "Sticky", "DELETE_FAILED")[0].startswith(LOCKED_MESSAGE)
    assert kinds(aws, "Sticky") == [("Create", ""), ("Delete", "s")]


def test_a_resource_is_deleted_under_its_own_id_and_no_other(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    resources = {**provider(recorder), "Kept": custom(Id="k"), "Lost": custom(Id="l", Renames="Delete")}
    stacks.create("deleting", resources)
    stacks.api.delete_stack(StackName="deleting")
    assert stacks.final_status("deleting") == "DELETE_FAILED"
    assert kinds(aws, "Kept") == [("Create", ""), ("Delete", "k")]
    [reason] = event_messages(stacks, "deleting", "Lost", "DELETE_FAILED")
    words = 'DELETE: cannot change the physical resource ID from "l" to "another" during deletion'
    assert words in reason


def test_a_resource_keeps_its_service_token(stacks: Stacks, recorder: dict[str, str]) -> None:
    stacks.create("loyal", {**provider(recorder), "Loyal": custom(Id="l")})
    update = {**provider(recorder), "Loyal": custom(Id="l", token={"Ref": "Topic"}), "Topic": TOPIC}
    assert stacks.update("loyal", update) == "UPDATE_ROLLBACK_COMPLETE"
    assert event_messages(stacks, "loyal", "Loyal", "UPDATE_FAILED") == [
        "Modifying service token is not allowed."
    ]


def test_a_resource_is_waited_for_until_its_provider_says_it_is_complete(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    outputs = {name: {"Value": {"Fn::GetAtt": ["Slow", name]}} for name in ("Greeting", "Looks")}
    resources = {**waiting_provider(recorder, attempts=30), "Slow": custom(Id="slow")}
    assert stacks.create("slow", resources, Outputs=outputs) == "CREATE_COMPLETE"
    assert stacks.outputs("slow") == {"Greeting": "hello", "Looks": "2"}
    look = recorder_requests(aws, "LooksSlow")[0]
    assert look["Ticket"] == "from on_event"
    assert (look["RequestType"], look["PhysicalResourceId"]) == ("Create", "slow")


def test_a_resource_that_never_completes_times_out_and_is_deleted(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    resources = {**waiting_provider(recorder, attempts=1), "Endless": custom(Id="endless", Never="Create")}
    assert stacks.create("endless", resources) == "ROLLBACK_COMPLETE"
    [reason] = event_messages(stacks, "endless", "Endless", "CREATE_FAILED")
    assert reason.startswith(f"{FAILED_STATUS}Operation timed out")
    assert kinds(aws, "Endless") == [("Create", ""), ("Delete", "endless")]


@pytest.mark.parametrize(
    ("name", "token", "reason"),
    [
        ("topic", {"Ref": "Topic"}, "which does not host Custom::Thing"),
        (
            "elsewhere",
            "arn:aws:lambda:us-east-1:999999999999:function:theirs",
            "which does not host Custom::Thing",
        ),
        ("direct", {"Fn::GetAtt": ["Handler", "Arn"]}, "is not behind the CDK's custom_resources.Provider"),
    ],
)
def test_what_is_not_hosted_is_listed_and_told(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str], name: str, token: Any, reason: str
) -> None:
    resources = {**provider(recorder), "Topic": TOPIC, "Alien": custom(token=token)}
    outputs = {"Any": {"Value": {"Fn::GetAtt": ["Alien", "Any"]}}}
    assert stacks.create(name, resources, Outputs=outputs) == "CREATE_COMPLETE"
    assert f"Custom::Thing Alien ({name})" in aws.skipped_resources
    assert reason in event_messages(stacks, name, "Alien", "CREATE_COMPLETE")[0]
    assert stacks.update(name, {**resources, "Alien": custom(token=token, Size=2)}) == "UPDATE_COMPLETE"
    stacks.api.delete_stack(StackName=name)
    assert recorder_requests(aws, "Alien") == []


def test_a_handler_that_cannot_run_here_is_listed_and_not_run(aws: EmbeddedAws, stacks: Stacks) -> None:
    """It would make its own clients, which lead to the user's real account."""
    source = "def on_event(event, context): raise SystemExit"
    code = upload(aws, "alien.zip", archive({"recorder/handler.py": source}))
    assert stacks.create("alien", {**provider(code), "Alien": custom()}) == "CREATE_COMPLETE"
    assert "Custom::Thing Alien (alien)" in aws.skipped_resources
    assert "lacks client and environ" in event_messages(stacks, "alien", "Alien", "CREATE_COMPLETE")[0]


def test_a_function_that_does_not_exist_fails(stacks: Stacks) -> None:
    token = "arn:aws:lambda:us-east-1:123456789012:function:absent"
    assert stacks.create("orphan", {"Orphan": custom(token=token)}) == "ROLLBACK_COMPLETE"
    assert event_messages(stacks, "orphan", "Orphan", "CREATE_FAILED") == [f"Function not found: {token}"]
