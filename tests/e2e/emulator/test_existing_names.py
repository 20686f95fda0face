"""Change sets with names that the account has: CloudFormation's early validation, and its import."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import TOPIC, Stacks, absent_model

VALIDATION = "The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck]."
RETAIN_POLICY = {"DeletionPolicy": "RetainExceptOnCreate"}


def named_topic(name: str) -> dict[str, Any]:
    """One of each kind that Foundation keeps, and what is made besides."""
    return {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}, **RETAIN_POLICY},
        "Images": {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryName": name}, **RETAIN_POLICY},
        "Log": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, **RETAIN_POLICY},
        "Topic": TOPIC,
    }


def plan(stacks: Stacks, name: str, resources: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A change set that creates the stack, as CloudFormation describes it."""
    names = {"StackName": name, "ChangeSetName": "plan"}
    stacks.api.create_change_set(
        **names, ChangeSetType="CREATE", TemplateBody=json.dumps({"Resources": resources}), **options
    )
    return dict(stacks.api.describe_change_set(**names))


@pytest.fixture
def stack_name(stacks: Stacks, request: pytest.FixtureRequest) -> str:
    """The name of a stack that was deleted, and of what it has left."""
    name = f"kept-{request.node.name.replace('_', '-')[-40:]}"
    assert stacks.create(name, named_topic(name)) == "CREATE_COMPLETE"
    stacks.api.delete_stack(StackName=name)
    return name


def test_a_name_that_exists_fails_at_the_change_set_and_leaves_no_event_of_a_resource(
    stacks: Stacks, stack_name: str
) -> None:
    planned_values = plan(stacks, stack_name, named_topic(stack_name))
    assert (planned_values["Status"], planned_values["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert planned_values["StatusReason"].startswith(VALIDATION)
    assert [text for text, _, _ in stacks.events(stack_name)] == [stack_name]
    events = stacks.api.describe_events(
        StackName=stack_name, ChangeSetName="plan", Filters={"FailedEvents": True}
    )
    operation_events = {
        operation_event["LogicalResourceId"]: operation_event for operation_event in events["OperationEvents"]
    }
    assert operation_events.keys() == {"Bucket", "Images", "Log"}
    assert operation_events["Bucket"]["ValidationName"] == "NAME_CONFLICT_VALIDATION"
    reason = f"Resource of type 'AWS::S3::Bucket' with identifier '{stack_name}' already exists."
    assert operation_events["Bucket"]["ValidationStatusReason"] == reason


def test_what_exists_is_imported_as_it_is(aws: EmbeddedAws, stacks: Stacks, stack_name: str) -> None:
    client(aws, "s3").put_object(Bucket=stack_name, Key="model", Body=b"kept")
    planned_values = plan(stacks, stack_name, named_topic(stack_name), ImportExistingResources=True)
    actions = {
        change["ResourceChange"]["LogicalResourceId"]: change["ResourceChange"]["Action"]
        for change in planned_values["Changes"]
    }
    assert actions == {"Bucket": "Import", "Images": "Import", "Log": "Import", "Topic": "Add"}
    stacks.api.execute_change_set(StackName=stack_name, ChangeSetName="plan")
    assert stacks.final_status(stack_name) == "CREATE_COMPLETE"
    assert ("Bucket", "IMPORT_COMPLETE", "") in stacks.events(stack_name)
    assert stacks.physical_ids(stack_name)["Bucket"] == stack_name
    assert client(aws, "s3").get_object(Bucket=stack_name, Key="model")["Body"].read() == b"kept"


def test_what_was_imported_outlives_the_rollback_of_the_creation(
    aws: EmbeddedAws, stacks: Stacks, stack_name: str
) -> None:
    broken_values = named_topic(stack_name) | {
        "Broken": {**absent_model(), "DependsOn": ["Bucket", "Images", "Log"]}
    }
    plan(stacks, stack_name, broken_values, ImportExistingResources=True)
    stacks.api.execute_change_set(StackName=stack_name, ChangeSetName="plan")
    assert stacks.final_status(stack_name) == "ROLLBACK_COMPLETE"
    assert stack_name in [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]


def test_only_what_a_deletion_policy_retains_is_imported(stacks: Stacks, stack_name: str) -> None:
    unkept = named_topic(stack_name)
    del unkept["Bucket"]["DeletionPolicy"]
    planned_values = plan(stacks, stack_name, unkept, ImportExistingResources=True)
    assert planned_values["Status"] == "FAILED"
    assert planned_values["StatusReason"].endswith(f"The affected resources are Bucket ({stack_name})")


def test_a_stack_that_is_updated_meets_existing_names_too(stacks: Stacks, stack_name: str) -> None:
    name = f"{stack_name}-2"
    assert stacks.create(name, {"Topic": TOPIC}) == "CREATE_COMPLETE"
    names = {"StackName": name, "ChangeSetName": "plan", "ChangeSetType": "UPDATE"}
    template = json.dumps({"Resources": named_topic(stack_name)})
    stacks.api.create_change_set(**names, TemplateBody=template)
    result = stacks.api.describe_change_set(StackName=name, ChangeSetName="plan")
    assert result["StatusReason"].startswith(VALIDATION)
    stacks.api.create_change_set(
        **names | {"ChangeSetName": "import"}, TemplateBody=template, ImportExistingResources=True
    )
    stacks.api.execute_change_set(StackName=name, ChangeSetName="import")
    assert stacks.final_status(name) == "UPDATE_COMPLETE"
