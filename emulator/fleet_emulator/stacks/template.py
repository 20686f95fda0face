"""The resources of a template that is not resolved: which refers to which, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

_SUBSTITUTED = re.compile(r"\$\{([^!}]+)\}")


def references(node: Any) -> Iterator[str]:
    """The names of all that `Ref`, `Fn::GetAtt` and `Fn::Sub` refer to, parameters included."""
    yield from (name for name, _ in referred_attributes(node))


def referred_attributes(node: Any) -> Iterator[tuple[str, str]]:
    """The same, each with the attribute of `Fn::GetAtt`; it is empty for a `Ref`."""
    if isinstance(node, list):
        for each in node:
            yield from referred_attributes(each)
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if key == "Ref":
            yield value, ""
        elif key == "Fn::GetAtt":
            name, _, attribute = (value if isinstance(value, str) else ".".join(map(str, value))).partition(
                "."
            )
            yield name, attribute
        elif key == "Fn::Sub":
            text, names = (value, {}) if isinstance(value, str) else value
            for found in _SUBSTITUTED.findall(text):
                name, _, attribute = found.partition(".")
                if name not in names:
                    yield name, attribute
            yield from referred_attributes(names)
        else:
            yield from referred_attributes(value)


def in_dependency_order(resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The logical ids, each after all that it needs.

    Raises:
        ValueError: resources need each other.
    """
    graph = {
        logical_id: [name for name in _needs(resource) if name in resources]
        for logical_id, resource in resources.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise ValueError(f"Circular dependency between resources: [{', '.join(error.args[1][1:])}]") from None


def _needs(resource: Mapping[str, Any]) -> list[str]:
    depends_on = resource.get("DependsOn", [])
    explicit = [depends_on] if isinstance(depends_on, str) else depends_on
    return [*explicit, *references(resource.get("Properties", {}))]
