"""How what runs differs from what is declared, property by property."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton_fleet.aws.drift.declaration import UNKNOWN, AnyCase

NAMES = ("Sid", "Id", "Name", "ScheduledActionName", "VariantName")
"""Keys whose values name an item of a list, so that the order of the list makes no difference."""
MAX_VALUE_LENGTH = 60
"""Signs of a value that is shown to people; JSON has all of it."""
WORDS = {
    "ActionsEnabled": "actions",
    "DashboardBody": "widgets",
    "DesiredInstanceCount": "instances",
    "DesiredWeight": "weight",
    "EndpointConfigName": "endpoint configuration",
    "ManagedPolicyArns": "attached policies",
    "MaxCapacity": "max instances",
    "MinCapacity": "min instances",
    "PermissionsBoundary": "permissions boundary",
    "AssumeRolePolicyDocument": "trust",
    "Policies": "inline policy",
    "ScalingPolicies": "scaling policies",
    "ScheduledActions": "schedule",
    "SuspendedState": "suspended",
    "Threshold": "threshold",
    "kmsKeyId": "key",
    "retentionInDays": "days of retention",
}
"""Names of properties in words; others keep AWS's name."""


class Whole(dict[str, Any]):
    """A declared mapping that has to have nothing beyond what is declared."""


class Absent:
    """A value that is not there."""

    def __repr__(self) -> str:
        """For people."""
        return "none"


ABSENT = Absent()


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One property that runs otherwise than declared; `path` is empty for a resource that was deleted."""

    path: tuple[str, ...]
    template_value: Any
    actual: Any

    def __str__(self) -> str:
        """In words."""
        if not self.path:
            return "deleted"
        if isinstance(self.template_value, bool | Absent) and isinstance(self.actual, bool):
            return f"{words(self.path)} {_switch(self.template_value)} → {_switch(self.actual)}"
        return f"{words(self.path)} {value_text(self.template_value)} → {value_text(self.actual)}"


DELETION = Difference(path=(), template_value="declared", actual="deleted")


def differences(template_value: Any, actual: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """The differences; properties that are not declared are compared only within a `Whole`.

    Numbers are compared by value, and lists without order where they hold plain values or named items.
    """
    if template_value is UNKNOWN:
        return
    template_value, actual = _by_name(template_value), _by_name(actual)
    if isinstance(template_value, Mapping) and isinstance(actual, Mapping):
        extra = (
            [key for key in actual if key not in template_value] if isinstance(template_value, Whole) else []
        )
        for key in [*template_value, *extra]:
            yield from differences(template_value.get(key, ABSENT), actual.get(key, ABSENT), (*path, key))
    elif not _is_same(template_value, actual):
        yield Difference(path=path, template_value=template_value, actual=actual)


def words(path: tuple[str, ...]) -> str:
    """A property's path as people name it."""
    return " ".join(WORDS.get(part, part) for part in path)


def value_text(value: Any) -> str:
    """A value for people; a long one ends with an ellipsis."""
    text = (
        value
        if isinstance(value, str)
        else repr(value)
        if value is ABSENT
        else json.dumps(value, default=str)
    )
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"


def _switch(value: Any) -> str:
    return "none" if value is ABSENT else "on" if value else "off"


def _by_name(value: Any) -> Any:
    """A list of named items as a mapping; a list of one item as that item would be in a policy."""
    if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
        for name in NAMES:
            if len({str(item.get(name, "")) for item in value} - {""}) == len(value):
                return Whole({str(item[name]): item for item in value})
        return Whole({str(number): item for number, item in enumerate(value, start=1)})
    return value


def _is_same(template_value: Any, actual: Any) -> bool:
    if isinstance(template_value, list) or isinstance(actual, list):
        declared_values, actual_values = _plain(template_value), _plain(actual)
        return UNKNOWN in declared_values or sorted(map(_text, declared_values)) == sorted(
            map(_text, actual_values)
        )
    if isinstance(template_value, AnyCase):
        return template_value.lower() == str(actual).lower()
    return _text(template_value) == _text(actual)


def _plain(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is ABSENT else [value]


def _text(value: Any) -> str:
    """A value by which two are compared: 1, 1.0 and "1" are one, and so are true and "true".

    Each character beyond ASCII is a question mark, as in what GetTemplate answers. Source:
    aws-cloudformation/cloudformation-coverage-roadmap 814 and 1220.
    """
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        text = (
            json.dumps(value, sort_keys=True, default=repr, ensure_ascii=False)
            if isinstance(value, Mapping)
            else str(value)
        )
        return text.encode("ascii", "replace").decode()


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The differences of one resource, which people know as the subject.

    `restore` brings it back to what is declared; None where only a new stack does. Several resources may
    share one.
    """

    subject: str
    differences: tuple[Difference, ...]
    restore: Callable[[], object] | None
