"""What an upgrade does to the resources of a stack."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fleet.catalog.replacement import create_only
from fleet.upgrade.comparison import Change, Effect, compare
from fleet_emulator.types.catalog import create_only as in_cloudformation
from fleet_folder import ROOT

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
    return [(each.effect.value, each.logical_id, each.properties) for each in compare(before, after)]


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
    assert [each.effect for each in compare(template(X=before), template(X=after))] == [Effect.REPLACED]


def test_a_custom_resource_is_updated_by_its_function() -> None:
    before, after = ({"Type": "Custom::EndpointCheck", "Properties": {"A": value}} for value in (1, 2))
    assert [each.effect for each in compare(template(X=before), template(X=after))] == [Effect.UPDATED]


def test_metadata_alone_changes_nothing() -> None:
    assert compare(template(A=config("a")), template(A=config("b"))) == []


@pytest.mark.parametrize("attribute", ["DependsOn", "DeletionPolicy"])
def test_an_attribute_of_a_resource_is_an_update(attribute: str) -> None:
    before = {"A": bucket("a")}
    after = {"A": {**bucket("a"), attribute: "B"}}
    assert compare({"Resources": before}, {"Resources": after}) == [
        Change(effect=Effect.UPDATED, type="AWS::S3::Bucket", logical_id="A", properties=("attributes",))
    ]


def test_the_catalog_has_the_create_only_properties_of_each_type_that_a_template_declares() -> None:
    snapshots = [file.read_text() for file in (ROOT / "tests/synth/__snapshots__").rglob("*.json")]
    types = {kind for text in snapshots for kind in TYPE.findall(text)}
    assert "AWS::SageMaker::Endpoint" in types
    assert {each: create_only(each) for each in types} == {each: in_cloudformation(each) for each in types}
