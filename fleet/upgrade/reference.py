"""References of a template's values to its resources."""

from __future__ import annotations

import re
from collections.abc import Set

_SUBSTITUTED = re.compile(r"\$\{([^!.}][^.}]*)[^}]*\}")


def refers_to(value: object, resources: Set[str]) -> bool:
    """Whether a value has a Ref, Fn::GetAtt or Fn::Sub of one of some resources.

    Args:
        value: A property, or another part of a template.
        resources: Logical ids.
    """
    if not resources:
        return False
    if isinstance(value, list):
        return any(refers_to(each, resources) for each in value)
    if not isinstance(value, dict):
        return False
    return any(
        _names(function, argument) & resources or refers_to(argument, resources)
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
    return frozenset(_SUBSTITUTED.findall(first)) if function == "Fn::Sub" else frozenset()
