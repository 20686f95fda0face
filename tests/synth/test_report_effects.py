"""The words of a report for each key of a spec, compared with what the embedded CloudFormation does to it.

Resources are given names as CloudFormation gives them: one that is replaced has another name, which those that
refer to it see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.stacks.resources import in_dependency_order
from fleet_emulator.types.catalog import recreates
from fleet_emulator.types.resource import Declaration
from tests.synth.flips import IN_THE_TEMPLATE
from tests.synth.flips_elsewhere import template
from tests.synth.test_every_key import seen_pair
from triton_fleet.changes.templates import Template, compare
from triton_fleet.changes.update_effect import UpdateEffect, replaces_model, update_effect

pytestmark = pytest.mark.nightly


class Update:
    """The embedded CloudFormation's decision on each resource of a stack that is updated."""

    def __init__(self, before: Template, after: Template) -> None:
        self.names = {logical: f"{logical}-1" for logical in before["Resources"]}
        old = self.declarations(before, self.names)
        self.recreated_types, self.updated_types = set[str](), set[str]()
        resources: Mapping[str, Any] = after["Resources"]
        for logical in in_dependency_order(resources):
            declared_declaration = self._declaration(logical, resources[logical], self.names)
            earlier = old.get(logical)
            if earlier is None or (
                declared_declaration.changed_properties(earlier) and recreates(earlier, declared_declaration)
            ):
                self.names[logical] = f"{logical}-2"
                self.recreated_types.add(declared_declaration.type)
            elif declared_declaration.changed_properties(earlier):
                self.updated_types.add(declared_declaration.type)
        names = before["Resources"].keys() - resources.keys()
        self.recreated_types |= {before["Resources"][logical]["Type"] for logical in names}

    def effect(self) -> UpdateEffect:
        """The effect that this is."""
        if "AWS::SageMaker::Endpoint" in self.recreated_types:
            return UpdateEffect.REPLACED
        if (
            "AWS::SageMaker::Endpoint" in self.updated_types
            and "AWS::SageMaker::EndpointConfig" in self.recreated_types
        ):
            return UpdateEffect.CONFIGURATION
        return UpdateEffect.IN_PLACE if self.recreated_types | self.updated_types else UpdateEffect.NOTHING

    def declarations(self, template: Template, names: Mapping[str, str]) -> dict[str, Declaration]:
        return {
            logical: self._declaration(logical, resource, names)
            for logical, resource in template["Resources"].items()
        }

    def _declaration(self, logical: str, resource: Any, names: Mapping[str, str]) -> Declaration:
        return Declaration(
            logical_id=logical,
            type=resource["Type"],
            properties=resolve_value(resource.get("Properties", {}), names),
            stack_name="stack",
            stack_id="arn:stack",
            account_id="111122223333",
            region="us-east-1",
        )


def resolve_value(value: Any, names: Mapping[str, str]) -> Any:
    """A value with the names of the resources that it refers to."""
    match value:
        case {"Ref": name}:
            return names.get(name, name)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{names.get(name, name)}.{attribute}"
        case dict():
            return {key: resolve_value(item, names) for key, item in value.items()}
        case list():
            return [resolve_value(item, names) for item in value]
        case _:
            return value


def templates(key: str, path: Path) -> tuple[Template, Template]:
    first_document, other_document = (
        json.loads(json.dumps(item)) for item in seen_pair(key, IN_THE_TEMPLATE[key], template, path)
    )
    return first_document, other_document


@pytest.mark.parametrize("key", sorted(IN_THE_TEMPLATE.keys() - {"endpoint"}))
def test_what_a_key_does_is_what_cloudformation_then_does(key: str, tmp_path: Path) -> None:
    before, after = templates(key, tmp_path)
    changes, update = compare(before, after), Update(before, after)
    assert update_effect(changes) is update.effect()
    assert replaces_model(changes) is ("AWS::SageMaker::Model" in update.recreated_types)


def test_another_name_is_another_endpoint(tmp_path: Path) -> None:
    before, after = templates("endpoint", tmp_path)
    assert update_effect(compare(before, after)) is UpdateEffect.REPLACED
    assert Update(before, after).effect() is UpdateEffect.REPLACED
