"""Two templates of one stack, compared as CloudFormation would update one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet.catalog.replacement import create_only

Template = Mapping[str, Any]
PATH = "aws:cdk:path"
CUSTOM = "Custom::"


class Effect(StrEnum):
    """What an update does to a resource."""

    ADDED = "added"
    UPDATED = "updated"
    REPLACED = "replaced"
    REMOVED = "removed"


LOSSES = frozenset({Effect.REPLACED, Effect.REMOVED})
"""Effects after which a resource that runs today no longer exists."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One resource that an update touches; `properties` are the ones that differ."""

    effect: Effect
    type: str
    logical_id: str
    properties: tuple[str, ...] = ()


def compare(before: Template, after: Template) -> list[Change]:
    """The changes from one template to another, by logical id.

    A resource with another logical id is the same one where its type and its path in the CDK app are.
    """
    old, new = before.get("Resources", {}), after.get("Resources", {})
    successors = _successors(old, new)
    return sorted(_changes(old, new, successors), key=lambda change: (change.effect, change.logical_id))


def _changes(old: Template, new: Template, successors: Mapping[str, str]) -> Iterator[Change]:
    for name, resource in old.items():
        if name in new:
            yield from _update(name, resource, new[name])
        elif name in successors:
            differing = _differing(resource, new[successors[name]])
            yield Change(
                effect=Effect.REPLACED,
                type=resource["Type"],
                logical_id=name,
                properties=("logical id", *differing),
            )
        else:
            yield Change(effect=Effect.REMOVED, type=resource["Type"], logical_id=name)
    for name in new.keys() - old.keys() - set(successors.values()):
        yield Change(effect=Effect.ADDED, type=new[name]["Type"], logical_id=name)


def _update(name: str, before: Template, after: Template) -> Iterator[Change]:
    kind = before["Type"]
    if kind != after["Type"]:
        yield Change(effect=Effect.REPLACED, type=kind, logical_id=name, properties=("Type",))
        return
    differing = _differing(before, after)
    replacing = create_only(kind)
    unknown = replacing is None and not kind.startswith(CUSTOM)
    replaced = unknown or not (replacing or frozenset()).isdisjoint(differing)
    if differing:
        effect = Effect.REPLACED if replaced else Effect.UPDATED
        yield Change(effect=effect, type=kind, logical_id=name, properties=differing)
    elif _without_metadata(before) != _without_metadata(after):
        yield Change(effect=Effect.UPDATED, type=kind, logical_id=name, properties=("attributes",))


def _differing(before: Template, after: Template) -> tuple[str, ...]:
    old, new = before.get("Properties", {}), after.get("Properties", {})
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))


def _successors(old: Template, new: Template) -> dict[str, str]:
    """New logical ids by the old ones that they take the place of."""
    free = {_identity(new[name]): name for name in new.keys() - old.keys()}
    return {name: free[key] for name in old.keys() - new.keys() if (key := _identity(old[name])) in free}


def _identity(resource: Template) -> tuple[str, str]:
    return resource["Type"], str(resource.get("Metadata", {}).get(PATH, ""))


def _without_metadata(resource: Template) -> dict[str, Any]:
    return {key: value for key, value in resource.items() if key != "Metadata"}
