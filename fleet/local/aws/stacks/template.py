"""What a template says about its resources without being resolved: who refers to whom, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

_SUBSTITUTED = re.compile(r"\$\{([^!.}]+)[^}]*\}")


def references(node: Any) -> Iterator[str]:
    """The names of all that `Ref`, `Fn::GetAtt` and `Fn::Sub` refer to, parameters included."""
    if isinstance(node, list):
        for each in node:
            yield from references(each)
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if key == "Ref":
            yield value
        elif key == "Fn::GetAtt":
            yield value.split(".")[0] if isinstance(value, str) else value[0]
        elif key == "Fn::Sub":
            text, names = (value, {}) if isinstance(value, str) else value
            yield from (name for name in _SUBSTITUTED.findall(text) if name not in names)
            yield from references(names)
        else:
            yield from references(value)


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
