"""The effect of an update on an endpoint, and the parts of its spec in which two templates differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from triton_fleet.changes.templates import Change, Effect, Template, successors

OTHER_RESOURCES = "other resources"
ATTRIBUTES = ("DeletionPolicy", "UpdateReplacePolicy", "Condition")
"""What counts of a resource beside its properties; the order of its deployment does not."""


def differing_areas(before: Template, after: Template) -> tuple[str, ...]:
    """The parts that differ, each once: those of the endpoint itself first.

    Args:
        before: A template, or nothing.
        after: Another one.
    """
    old, new = before.get("Resources", {}), after.get("Resources", {})
    next_ids = successors(old, new)
    pairs = [(resource, new.get(next_ids.get(name, name), {})) for name, resource in old.items()]
    pairs += [
        ({}, resource) for name, resource in new.items() if name not in old and name not in next_ids.values()
    ]
    areas = {word for pair in pairs for word in _words(*pair) if word}
    order = [word for words in _areas().values() for word in words.values()]
    return tuple(sorted(areas, key=lambda word: order.index(word) if word in order else len(order)))


def _words(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before == after:
        return
    areas = _areas().get((after or before)["Type"], {"": OTHER_RESOURCES})
    old, new = before.get("Properties", {}), after.get("Properties", {})
    if not (before and after) or any(before.get(key) != after.get(key) for key in ATTRIBUTES):
        yield areas[""]
        return
    for path in _differing_paths(old, new, ()):
        yield areas[max((area for area in areas if _begins(path, area)), key=len)]


def _begins(path: tuple[str, ...], prefix: str) -> bool:
    parts = tuple(prefix.split(".")) if prefix else ()
    return path[: len(parts)] == parts


def _differing_paths(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the values that differ; an index is `*`."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _differing_paths(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from _differing_paths(old, new, (*path, "*"))
    else:
        yield path


@cache
def _areas() -> Mapping[str, Mapping[str, str]]:
    areas: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        (files("triton_fleet.changes") / "areas.yaml").read_text(encoding="utf-8")
    )
    return areas


ENDPOINT = "AWS::SageMaker::Endpoint"
CONFIGURATION = "AWS::SageMaker::EndpointConfig"
MODEL = "AWS::SageMaker::Model"


class UpdateEffect(StrEnum):
    """The effect of a deploy; the order is that of risk, the greatest first."""

    UNKNOWN = "unknown"
    """One of both revisions cannot be synthesised."""
    REPLACED = "replaced"
    """Another endpoint takes its place: calls fail meanwhile."""
    REMOVED = "removed"
    """The files are gone; the endpoint runs until it is destroyed."""
    CREATED = "created"
    CONFIGURATION = "new configuration"
    """The endpoint stays and moves its traffic to new instances."""
    IN_PLACE = "in place"
    """Nothing that serves is touched: scaling, alarms, tags, logs, permissions, checks."""
    NOTHING = "nothing"
    """The templates are the same."""

    @property
    def risk(self) -> int:
        """0 for the greatest."""
        return list(UpdateEffect).index(self)

    @property
    def interrupts(self) -> bool:
        """Whether calls fail, at once or when the named command has run."""
        return self in (UpdateEffect.REPLACED, UpdateEffect.REMOVED)


def update_effect(changes: Sequence[Change]) -> UpdateEffect:
    """The effect of changes on an endpoint that both templates declare."""
    types = {
        change.type for change in changes if change.effect in (Effect.REPLACED, Effect.ADDED, Effect.REMOVED)
    }
    if ENDPOINT in types:
        return UpdateEffect.REPLACED
    if CONFIGURATION in types:
        return UpdateEffect.CONFIGURATION
    return UpdateEffect.IN_PLACE if changes else UpdateEffect.NOTHING


def replaces_model(changes: Sequence[Change]) -> bool:
    """Whether the new configuration has a new Model: another image, archive, variable or network."""
    return any(change.type == MODEL and change.effect is Effect.REPLACED for change in changes)


def unsafe_changes(changes: Sequence[Change]) -> tuple[str, ...]:
    """Changes that CloudFormation refuses, or that may delete something."""
    return tuple(
        f"{change.type} {change.logical_id} ({', '.join(change.properties)})"
        for change in changes
        if change.effect is Effect.UNSAFE
    )
