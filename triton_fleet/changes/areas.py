"""In which parts of an endpoint two templates differ, in the words of its spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from triton_fleet.changes.templates import Template, successors

OTHER = "other resources"
ATTRIBUTES = ("DeletionPolicy", "UpdateReplacePolicy", "Condition")
"""What counts of a resource beside its properties; the order of its deployment does not."""


def differing_areas(before: Template, after: Template) -> tuple[str, ...]:
    """The parts that differ, each once: those of the endpoint itself first.

    Args:
        before: A template, or nothing.
        after: Another one.
    """
    old, new = before.get("Resources", {}), after.get("Resources", {})
    renamed = successors(old, new)
    pairs = [(each, new.get(renamed.get(name, name), {})) for name, each in old.items()]
    pairs += [({}, each) for name, each in new.items() if name not in old and name not in renamed.values()]
    found = {word for pair in pairs for word in _words(*pair) if word}
    order = [word for words in _areas().values() for word in words.values()]
    return tuple(sorted(found, key=lambda word: order.index(word) if word in order else len(order)))


def _words(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before == after:
        return
    areas = _areas().get((after or before)["Type"], {"": OTHER})
    old, new = before.get("Properties", {}), after.get("Properties", {})
    if not (before and after) or any(before.get(key) != after.get(key) for key in ATTRIBUTES):
        yield areas[""]
        return
    for path in _differing(old, new, ()):
        yield areas[max((area for area in areas if _begins(path, area)), key=len)]


def _begins(path: tuple[str, ...], beginning: str) -> bool:
    parts = tuple(beginning.split(".")) if beginning else ()
    return path[: len(parts)] == parts


def _differing(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the values that differ; an index is `*`."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _differing(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from _differing(old, new, (*path, "*"))
    else:
        yield path


@cache
def _areas() -> Mapping[str, Mapping[str, str]]:
    areas: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        (files("triton_fleet.changes") / "areas.yaml").read_text(encoding="utf-8")
    )
    return areas
