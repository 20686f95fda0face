"""DescribeChangeSet: what each resource of a stack would become."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.stacks import TOPIC, Stacks, endpoint

NAME = "planned"


@pytest.fixture(scope="module")
def stack_names() -> set[str]:
    return set()


@pytest.fixture
def planned_stacks(stacks: Stacks, stack_names: set[str]) -> Stacks:
    """A stack with an endpoint."""
    if not stack_names:
        assert stacks.create(NAME, deploy_stack()) == "CREATE_COMPLETE"
        stack_names.add(NAME)
    return stacks


def deploy_stack(**changes: Any) -> dict[str, Any]:
    return {**endpoint(NAME, **changes), "Topic": TOPIC}


def changes(stacks: Stacks, resources: dict[str, Any], *, values: bool = False) -> dict[str, dict[str, Any]]:
    """Each ResourceChange by its logical id."""
    names = {"StackName": NAME, "ChangeSetName": "plan"}
    template = json.dumps({"Resources": resources})
    stacks.api.create_change_set(**names, ChangeSetType="UPDATE", TemplateBody=template)
    result = stacks.api.describe_change_set(**names, IncludePropertyValues=values)
    stacks.api.delete_change_set(**names)
    return {
        change["ResourceChange"]["LogicalResourceId"]: change["ResourceChange"]
        for change in result["Changes"]
    }


def with_type(resources: dict[str, Any]) -> dict[str, Any]:
    resources["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = "ml.g6.xlarge"
    return resources


def test_a_new_instance_type_replaces_the_configuration_and_updates_the_endpoint(
    planned_stacks: Stacks,
) -> None:
    actual_changes = changes(planned_stacks, with_type(deploy_stack()))
    assert actual_changes.keys() == {"Config", "Endpoint"}
    config, served = actual_changes["Config"], actual_changes["Endpoint"]
    assert (config["Action"], config["Replacement"], config["Scope"]) == ("Modify", "True", ["Properties"])
    assert config["Details"] == [
        {
            "Target": {
                "Attribute": "Properties",
                "Name": "ProductionVariants",
                "RequiresRecreation": "Always",
            },
            "Evaluation": "Static",
            "ChangeSource": "DirectModification",
        }
    ]
    assert config["PhysicalResourceId"] == planned_stacks.physical_ids(NAME)["Config"]
    assert (served["Action"], served["Replacement"]) == ("Modify", "False")
    assert served["Details"] == [
        {
            "Target": {
                "Attribute": "Properties",
                "Name": "EndpointConfigName",
                "RequiresRecreation": "Never",
            },
            "Evaluation": "Dynamic",
            "ChangeSource": "ResourceAttribute",
            "CausingEntity": "Config.EndpointConfigName",
        }
    ]


def test_what_depends_on_a_new_model_may_be_replaced(planned_stacks: Stacks) -> None:
    actual_changes = changes(planned_stacks, deploy_stack(image="triton:25.05"))
    assert {name: actual_change["Replacement"] for name, actual_change in actual_changes.items()} == {
        "Model": "True",
        "Config": "Conditional",
        "Endpoint": "False",
    }


def test_what_is_new_and_what_goes_is_told(planned_stacks: Stacks) -> None:
    resources = deploy_stack()
    resources["Other"] = resources.pop("Topic")
    actual_changes = changes(planned_stacks, resources)
    assert {name: actual_change["Action"] for name, actual_change in actual_changes.items()} == {
        "Other": "Add",
        "Topic": "Remove",
    }
    assert "Replacement" not in actual_changes["Other"]


def test_another_logical_id_is_another_resource_for_those_that_refer_to_it(planned_stacks: Stacks) -> None:
    resources = deploy_stack()
    resources["Config2"] = resources.pop("Config")
    resources["Endpoint"]["Properties"]["EndpointConfigName"] = {
        "Fn::GetAtt": ["Config2", "EndpointConfigName"]
    }
    actual_changes = changes(planned_stacks, resources)
    assert {name: actual_change["Action"] for name, actual_change in actual_changes.items()} == {
        "Config2": "Add",
        "Endpoint": "Modify",
        "Config": "Remove",
    }
    (detail,) = actual_changes["Endpoint"]["Details"]
    assert (detail["Evaluation"], detail["ChangeSource"]) == ("Dynamic", "DirectModification")


def test_tags_replace_nothing_and_nobody_follows(planned_stacks: Stacks) -> None:
    resources = deploy_stack()
    resources["Config"]["Properties"]["Tags"] = [{"Key": "team", "Value": "search"}]
    actual_changes = changes(planned_stacks, resources)
    assert {
        name: (actual_change["Replacement"], actual_change["Scope"])
        for name, actual_change in actual_changes.items()
    } == {"Config": ("False", ["Tags"])}


def test_a_policy_alone_is_a_change(planned_stacks: Stacks) -> None:
    resources = deploy_stack()
    resources["Topic"] = {**TOPIC, "DeletionPolicy": "Retain"}
    actual_changes = changes(planned_stacks, resources)
    assert {
        name: (actual_change["Replacement"], actual_change["Scope"])
        for name, actual_change in actual_changes.items()
    } == {"Topic": ("False", ["DeletionPolicy"])}


def test_a_part_of_a_value_that_is_not_there_yet_is_unknown_as_well(planned_stacks: Stacks) -> None:
    resources = deploy_stack(image="triton:25.05")
    part = {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Model"}]}]}
    resources["Topic"] = {**TOPIC, "Properties": {"DisplayName": part}}
    actual_changes = changes(planned_stacks, resources)
    (detail,) = actual_changes["Topic"]["Details"]
    assert detail["Evaluation"] == "Dynamic"


def test_values_are_shown_to_who_asks_for_them(planned_stacks: Stacks) -> None:
    resources = with_type(deploy_stack())
    assert "AfterContext" not in changes(planned_stacks, resources)["Endpoint"]
    served = changes(planned_stacks, resources, values=True)["Endpoint"]
    before, after = (
        json.loads(served[side])["Properties"]["EndpointConfigName"]
        for side in ("BeforeContext", "AfterContext")
    )
    assert before.startswith("Config-")
    assert after.startswith("{{changeSet:")


def test_what_a_change_set_calls_a_replacement_is_one_when_it_is_executed(stacks: Stacks) -> None:
    parameter = {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Type": "String", "Name": "/one", "Value": "x"},
    }
    rule = {"Type": "AWS::Events::Rule", "Properties": {"Name": "one", "EventPattern": {"source": ["x"]}}}
    named_values = {"Parameter": parameter, "Rule": rule}
    assert stacks.create("renamed", named_values) == "CREATE_COMPLETE"
    other_document = json.loads(
        json.dumps(named_values).replace('"/one"', '"/other"').replace('"one"', '"other"')
    )
    names = {"StackName": "renamed", "ChangeSetName": "plan"}
    stacks.api.create_change_set(
        **names, ChangeSetType="UPDATE", TemplateBody=json.dumps({"Resources": other_document})
    )
    changes = stacks.api.describe_change_set(**names)["Changes"]
    stacks.api.delete_change_set(**names)
    assert [change["ResourceChange"]["Replacement"] for change in changes] == ["True", "True"]
    assert stacks.update("renamed", other_document) == "UPDATE_COMPLETE"
    resource_ids = [
        stack_event["LogicalResourceId"]
        for stack_event in stacks.api.describe_stack_events(StackName="renamed")["StackEvents"]
        if "creation of a new physical resource" in stack_event.get("ResourceStatusReason", "")
    ]
    assert sorted(resource_ids) == ["Parameter", "Rule"]


def test_the_execution_of_one_deletes_the_other_change_sets_of_its_stack(stacks: Stacks) -> None:
    stacks.create("raced", {"Topic": TOPIC})
    for name in ("first", "second"):
        template = json.dumps({"Resources": {"Topic": TOPIC, name.title(): TOPIC}})
        stacks.api.create_change_set(
            StackName="raced", ChangeSetName=name, ChangeSetType="UPDATE", TemplateBody=template
        )
    stacks.api.execute_change_set(StackName="raced", ChangeSetName="second")
    assert stacks.final_status("raced") == "UPDATE_COMPLETE"
    with pytest.raises(ClientError, match=r"ChangeSetNotFound.*ChangeSet \[first\] does not exist"):
        stacks.api.execute_change_set(StackName="raced", ChangeSetName="first")
    assert set(stacks.physical_ids("raced")) == {"Topic", "Second"}
