"""Effects of an upgrade on the resources of a stack."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fleet_emulator.types.catalog import create_only_properties as in_cloudformation
from tests.support.fleet_folder import ROOT
from triton_fleet.changes.templates import Change, Effect, compare, create_only_properties

TYPE = re.compile(r"['\"]Type['\"]: ['\"](AWS::\w+::\w+)['\"]")


def template(**resources: dict[str, Any]) -> dict[str, Any]:
    return {"Resources": resources}


def bucket(name: str, **more: object) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name, **more}}


def config(path: str = "Stack/Endpoint/Config", **properties: object) -> dict[str, Any]:
    return {
        "Type": "AWS::SageMaker::EndpointConfig",
        "Properties": properties,
        "Metadata": {"aws:cdk:path": path},
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(change.effect.value, change.logical_id, change.properties) for change in compare(before, after)]


def test_a_template_is_the_same_as_itself() -> None:
    assert compare(template(A=bucket("a")), template(A=bucket("a"))) == []


def test_a_property_that_can_change_is_an_update() -> None:
    before, after = template(A=bucket("a")), template(A=bucket("a", VersioningConfiguration={}))
    assert changes(before, after) == [("updated", "A", ("VersioningConfiguration",))]


def test_a_property_that_is_set_at_creation_alone_replaces_the_resource() -> None:
    assert changes(template(A=bucket("a")), template(A=bucket("b"))) == [("replaced", "A", ("BucketName",))]


def test_another_logical_id_at_the_same_path_is_a_replacement() -> None:
    before, after = template(ConfigA=config(KmsKeyId="a")), template(ConfigB=config(KmsKeyId="b"))
    assert changes(before, after) == [("replaced", "ConfigA", ("logical id", "KmsKeyId"))]


def test_another_path_is_a_removal_and_an_addition() -> None:
    before, after = template(ConfigA=config()), template(ConfigB=config("Stack/Other"))
    assert changes(before, after) == [("added", "ConfigB", ()), ("removed", "ConfigA", ())]


def test_another_type_under_the_same_logical_id_is_a_replacement() -> None:
    assert changes(template(A=bucket("a")), template(A=config())) == [("replaced", "A", ("Type",))]


def test_a_type_that_the_catalog_does_not_have_counts_as_replaced() -> None:
    before, after = ({"Type": "AWS::New::Thing", "Properties": {"A": value}} for value in (1, 2))
    assert [change.effect for change in compare(template(X=before), template(X=after))] == [Effect.REPLACED]


def test_a_custom_resource_is_updated_by_its_function() -> None:
    before, after = ({"Type": "Custom::EndpointCheck", "Properties": {"A": value}} for value in (1, 2))
    assert [change.effect for change in compare(template(X=before), template(X=after))] == [Effect.UPDATED]


def test_metadata_alone_changes_nothing() -> None:
    assert compare(template(A=config("a")), template(A=config("b"))) == []


@pytest.mark.parametrize("attribute", ["DependsOn", "UpdatePolicy"])
def test_an_attribute_of_a_resource_is_an_update(attribute: str) -> None:
    before, after = template(A=bucket("a")), template(A={**bucket("a"), attribute: "B"})
    assert compare(before, after) == [
        Change(effect=Effect.UPDATED, type="AWS::S3::Bucket", logical_id="A", properties=(attribute,))
    ]


def served(image: str) -> dict[str, Any]:
    return template(
        Model={"Type": "AWS::SageMaker::Model", "Properties": {"PrimaryContainer": {"Image": image}}},
        Config=config(ProductionVariants=[{"ModelName": {"Fn::GetAtt": ["Model", "ModelName"]}}]),
        Endpoint={
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {"EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}},
        },
        Other=bucket("a"),
    )


def test_what_refers_to_a_replaced_resource_in_a_create_only_property_is_replaced() -> None:
    assert changes(served("a"), served("b")) == [
        ("replaced", "Config", ("ProductionVariants",)),
        ("replaced", "Model", ("PrimaryContainer",)),
        ("updated", "Endpoint", ("EndpointConfigName",)),
    ]


@pytest.mark.parametrize(
    "reference",
    [
        {"Ref": "A"},
        {"Fn::GetAtt": "A.Arn"},
        {"Fn::Sub": "arn:${A}"},
        {"Fn::Sub": ["${B}${A.Arn}", {"B": "b"}]},
        {"Fn::Sub": ["${B}", {"B": {"Ref": "A"}}]},
        {"Fn::Join": ["", ["a", {"Ref": "A"}]]},
    ],
)
def test_a_reference_of_each_form_to_a_replaced_resource_differs(reference: object) -> None:
    before, after = (template(A=bucket(name), B=bucket("b", Tags=reference)) for name in ("a", "c"))
    assert changes(before, after) == [("replaced", "A", ("BucketName",)), ("updated", "B", ("Tags",))]


@pytest.mark.parametrize("value", ["A", {"Ref": "AB"}, {"Fn::Sub": "${!A}"}, {"Fn::Sub": "A"}])
def test_what_refers_to_nothing_that_is_replaced_does_not_differ(value: object) -> None:
    before, after = (template(A=bucket(name), B=bucket("b", Tags=value)) for name in ("a", "c"))
    assert changes(before, after) == [("replaced", "A", ("BucketName",))]


@pytest.mark.parametrize("attribute", ["DeletionPolicy", "UpdateReplacePolicy"])
@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("Retain", "Delete", "unsafe"),
        ("Retain", None, "unsafe"),
        ("Snapshot", "Delete", "unsafe"),
        ("RetainExceptOnCreate", "Delete", "unsafe"),
        ("Retain", "RetainExceptOnCreate", "updated"),
        ("Delete", "Retain", "updated"),
        (None, "Delete", "updated"),
    ],
)
def test_a_policy_that_no_longer_retains_is_unsafe(
    attribute: str, before: str | None, after: str | None, effect: str
) -> None:
    old, new = (
        template(A={**bucket("a"), **({attribute: policy} if policy else {})}) for policy in (before, after)
    )
    assert changes(old, new) == [(effect, "A", (attribute,))]


def test_a_new_condition_is_unsafe_and_one_that_ends_is_an_update() -> None:
    always, sometimes = template(A=bucket("a")), template(A={**bucket("a"), "Condition": "B"})
    assert changes(always, sometimes) == [("unsafe", "A", ("Condition",))]
    assert changes(sometimes, always) == [("updated", "A", ("Condition",))]


def test_another_definition_of_the_condition_of_a_resource_is_unsafe() -> None:
    resource = {**bucket("a"), "Condition": "B"}
    before, after = ({**template(A=resource), "Conditions": {"B": value}} for value in (1, 2))
    assert changes(before, after) == [("unsafe", "A", ("Condition",)), ("updated", "B", ())]


@pytest.mark.parametrize("kind", ["Custom::EndpointCheck", "AWS::CloudFormation::CustomResource"])
def test_another_function_of_a_custom_resource_is_unsafe(kind: str) -> None:
    before, after = (template(A={"Type": kind, "Properties": {"ServiceToken": arn}}) for arn in "ab")
    assert ("unsafe", "A", ("ServiceToken",)) in changes(before, after)


def test_what_is_unsafe_is_listed_beside_the_replacement_of_the_same_resource() -> None:
    before = template(A={**bucket("a"), "DeletionPolicy": "Retain"})
    assert changes(before, template(A=bucket("b"))) == [
        ("replaced", "A", ("BucketName",)),
        ("unsafe", "A", ("DeletionPolicy",)),
    ]


def test_a_successor_that_is_no_longer_retained_is_unsafe() -> None:
    before, after = template(A={**config(), "DeletionPolicy": "Retain"}), template(B=config())
    assert changes(before, after) == [
        ("replaced", "A", ("logical id",)),
        ("unsafe", "A", ("DeletionPolicy",)),
    ]


@pytest.mark.parametrize(
    ("section", "element"),
    [
        ("Outputs", "Output"),
        ("Parameters", "Parameter"),
        ("Conditions", "Condition"),
        ("Mappings", "Mapping"),
        ("Rules", "Rule"),
    ],
)
def test_the_other_sections_are_compared_and_lose_nothing(section: str, element: str) -> None:
    changes = compare({section: {"A": 1, "B": 1, "C": 1}}, {section: {"A": 1, "B": 2, "D": 1}})
    assert [(change.effect.value, change.type, change.logical_id) for change in changes] == [
        ("added", element, "D"),
        ("removed", element, "C"),
        ("updated", element, "B"),
    ]
    assert not any(change.fails() for change in changes)


def test_an_output_of_a_replaced_resource_is_an_update() -> None:
    before, after = (
        {**template(A=bucket(name)), "Outputs": {"Name": {"Value": {"Ref": "A"}}}} for name in ("a", "b")
    )
    assert changes(before, after) == [("replaced", "A", ("BucketName",)), ("updated", "Name", ())]


@pytest.mark.parametrize(
    ("effect", "fails", "expected_fails"),
    [
        (Effect.ADDED, False, False),
        (Effect.UPDATED, False, False),
        (Effect.REPLACED, True, False),
        (Effect.REMOVED, True, True),
        (Effect.UNSAFE, True, True),
    ],
)
def test_an_expected_type_excuses_its_replacement_alone(
    effect: Effect, fails: bool, expected_fails: bool
) -> None:
    change = Change(effect=effect, type="AWS::S3::Bucket", logical_id="A")
    assert change.fails() == change.fails({"AWS::S3::Object"}) == fails
    assert change.fails({"AWS::S3::Bucket"}) == expected_fails


def test_the_catalog_has_the_create_only_properties_of_each_type_that_a_template_declares() -> None:
    snapshots = [file.read_text() for file in (ROOT / "tests/synth/__snapshots__").rglob("*.json")]
    types = {kind for text in snapshots for kind in TYPE.findall(text)}
    assert "AWS::SageMaker::Endpoint" in types
    assert {item: create_only_properties(item) for item in types} == {
        item: in_cloudformation(item) for item in types
    }
