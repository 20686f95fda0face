"""Two templates of one stack, compared as CloudFormation would update one to the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from triton_fleet.catalog.data_file import data_file

Template = Mapping[str, Any]
PATH = "aws:cdk:path"
CUSTOM = "Custom::"
CUSTOM_RESOURCE = "AWS::CloudFormation::CustomResource"
SECTIONS = {
    "Outputs": "Output",
    "Parameters": "Parameter",
    "Conditions": "Condition",
    "Mappings": "Mapping",
    "Rules": "Rule",
}
"""Sections of a template besides its resources, each with the noun of one of its elements."""

_POLICIES = ("DeletionPolicy", "UpdateReplacePolicy")
_RETAINING_POLICIES = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})
_NOT_ATTRIBUTES = frozenset({"Type", "Properties", "Metadata"})
_SUBSTITUTION = re.compile(r"\$\{([^!.}][^.}]*)[^}]*\}")


class Effect(StrEnum):
    """The effect of an update on a resource, or on another element of the template."""

    ADDED = "added"
    UPDATED = "updated"
    REPLACED = "replaced"
    REMOVED = "removed"
    UNSAFE = "unsafe"
    """CloudFormation refuses the update, or may now delete the resource or its data."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One element that an update touches; `properties` are its properties and attributes that differ.

    `type` is the type of a resource; elements of other sections have a noun, such as Output.
    """

    effect: Effect
    type: str
    logical_id: str
    properties: tuple[str, ...] = ()

    def fails(self, replaceable_types: Collection[str] = ()) -> bool:
        """Whether an upgrade must not make this change.

        Args:
            replaceable_types: Types of resources whose replacement is intended.
        """
        if self.type in SECTIONS.values():
            return False
        if self.effect == Effect.REPLACED:
            return self.type not in replaceable_types
        return self.effect in {Effect.REMOVED, Effect.UNSAFE}


def compare(before: Template, after: Template) -> list[Change]:
    """The changes from one template to another, by logical id.

    A resource with another logical id is the same one where its type and its path in the CDK app are.
    A property that refers to a replaced resource differs, and may in turn replace its own resource.
    """
    replacements: frozenset[str] = frozenset()
    while True:
        changes = [*_resources(before, after, replacements), *_sections(before, after, replacements)]
        new_replacements = frozenset(
            change.logical_id for change in changes if change.effect == Effect.REPLACED
        )
        if new_replacements == replacements:
            return sorted(changes, key=lambda change: (change.effect, change.type, change.logical_id))
        replacements = new_replacements


def _resources(before: Template, after: Template, replacements: Set[str]) -> Iterator[Change]:
    old, new = _in(before, "Resources"), _in(after, "Resources")
    conditions = _differing_keys(_in(before, "Conditions"), _in(after, "Conditions"))
    next_ids = successors(old, new)
    for name, resource in old.items():
        kind = resource["Type"]
        if name not in new and name not in next_ids:
            yield Change(effect=Effect.REMOVED, type=kind, logical_id=name)
            continue
        successor = new[next_ids.get(name, name)]
        attributes = _differing_keys(resource, successor) - _NOT_ATTRIBUTES
        properties = _differing_properties(resource, successor, replacements)
        unsafe = tuple(_unsafe_attributes(resource, successor, conditions))
        if name in new and _is_custom(kind) and "ServiceToken" in properties:
            unsafe = (*unsafe, "ServiceToken")
        if unsafe:
            yield Change(effect=Effect.UNSAFE, type=kind, logical_id=name, properties=unsafe)
        attributes, properties = attributes.difference(unsafe), properties.difference(unsafe)
        changes = tuple(sorted(attributes | properties))
        if name not in new:
            changes = ("logical id", *changes)
            yield Change(effect=Effect.REPLACED, type=kind, logical_id=name, properties=changes)
        elif kind != successor["Type"]:
            yield Change(effect=Effect.REPLACED, type=kind, logical_id=name, properties=("Type",))
        elif changes:
            effect = Effect.REPLACED if _replaces(kind, properties) else Effect.UPDATED
            yield Change(effect=effect, type=kind, logical_id=name, properties=changes)
    for name in new.keys() - old.keys() - set(next_ids.values()):
        yield Change(effect=Effect.ADDED, type=new[name]["Type"], logical_id=name)


def _unsafe_attributes(before: Template, after: Template, conditions: Set[str]) -> Iterator[str]:
    """The attributes whose change may delete something.

    Args:
        before: The resource.
        after: What takes its place.
        conditions: Those of the template whose definitions differ.
    """
    for policy in _POLICIES:
        if before.get(policy) in _RETAINING_POLICIES and after.get(policy) not in _RETAINING_POLICIES:
            yield policy
    condition = after.get("Condition")
    if condition is not None and (condition != before.get("Condition") or condition in conditions):
        yield "Condition"


def _replaces(kind: str, properties: Set[str]) -> bool:
    protected_names = create_only_properties(kind)
    if protected_names is None:
        return bool(properties) and not _is_custom(kind)
    return not protected_names.isdisjoint(properties)


def _is_custom(kind: str) -> bool:
    return kind == CUSTOM_RESOURCE or kind.startswith(CUSTOM)


def _differing_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _differing_properties(before: Template, after: Template, replacements: Set[str]) -> set[str]:
    old, new = _in(before, "Properties"), _in(after, "Properties")
    return _differing_keys(old, new) | {
        name for name, value in new.items() if _refers_to(value, replacements)
    }


def _sections(before: Template, after: Template, replacements: Set[str]) -> Iterator[Change]:
    for section, element in SECTIONS.items():
        old, new = _in(before, section), _in(after, section)
        for name in old.keys() | new.keys():
            if name not in new:
                yield Change(effect=Effect.REMOVED, type=element, logical_id=name)
            elif name not in old:
                yield Change(effect=Effect.ADDED, type=element, logical_id=name)
            elif old[name] != new[name] or _refers_to(new[name], replacements):
                yield Change(effect=Effect.UPDATED, type=element, logical_id=name)


def _in(element: Template, key: str) -> Mapping[str, Any]:
    section: Mapping[str, Any] = element.get(key, {})
    return section


def successors(old: Template, new: Template) -> dict[str, str]:
    """New logical ids of resources by the old ones that they take the place of."""
    free = {_identity(new[name]): name for name in new.keys() - old.keys()}
    return {name: free[key] for name in old.keys() - new.keys() if (key := _identity(old[name])) in free}


def _identity(resource: Template) -> tuple[str, str]:
    return resource["Type"], str(resource.get("Metadata", {}).get(PATH, ""))


def create_only_properties(resource_type: str) -> frozenset[str] | None:
    """The properties whose change replaces a resource of a type; None where the catalog has no such type."""
    properties = data_file("create_only.yaml")["types"].get(resource_type)
    return None if properties is None else frozenset(properties)


def _refers_to(value: object, resources: Set[str]) -> bool:
    """Whether a value has a Ref, Fn::GetAtt or Fn::Sub of one of some resources.

    Args:
        value: A property, or another part of a template.
        resources: Logical ids.
    """
    if not resources:
        return False
    if isinstance(value, list):
        return any(_refers_to(item, resources) for item in value)
    if not isinstance(value, dict):
        return False
    return any(
        _names(function, argument) & resources or _refers_to(argument, resources)
        for function, argument in value.items()
    )


def _names(function: str, argument: object) -> frozenset[str]:
    """The logical ids that one intrinsic function names itself."""
    first = argument[0] if isinstance(argument, list) and argument else argument
    if not isinstance(first, str):
        return frozenset()
    if function == "Ref":
        return frozenset({first})
    if function == "Fn::GetAtt":
        return frozenset({first.partition(".")[0]})
    return frozenset(_SUBSTITUTION.findall(first)) if function == "Fn::Sub" else frozenset()
