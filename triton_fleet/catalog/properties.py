"""The CloudFormation properties of an endpoint's resources: their names, types and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from triton_fleet.catalog.data_file import data_file

FILE = "properties.json"
INDEX = re.compile(r"0|[1-9][0-9]*")
"""JavaScript, and so the CDK, takes numbers up to 4,294,967,294 as one; larger ones are refused like it."""
LIMITS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "minLength": "shortest",
    "maxLength": "longest",
    "minItems": "fewest",
    "maxItems": "most_items",
    "pattern": "pattern",
}
"""Attributes of a property by what CloudFormation's schemas call them."""
NUMBER = {
    "integer": re.compile(r"-?[0-9]+(\.0+)?"),
    "number": re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"),
}
Schema: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Property:
    """The facts about a property; None or nothing where CloudFormation sets no limit.

    Attributes:
        types: `string`, `integer`, `number`, `boolean`, `array`, `object`; none: any type.
        allowed_values: All values that it takes.
        minimum: Of a number.
        maximum: Of a number.
        shortest: Characters of a text.
        longest: Characters of a text.
        fewest: Items of a list.
        most_items: Items of a list.
        pattern: What a text has in it; none where Python cannot read CloudFormation's.
        names: The properties of an object; none: any name.
        required_names: Those of them that are required.
        is_read_only: Whether CloudFormation alone sets it.
    """

    types: tuple[str, ...] = ()
    allowed_values: tuple[object, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    shortest: int | None = None
    longest: int | None = None
    fewest: int | None = None
    most_items: int | None = None
    pattern: str | None = None
    names: frozenset[str] = frozenset()
    required_names: tuple[str, ...] = ()
    is_read_only: bool = False

    def takes(self, value: object) -> bool:
        """Whether CloudFormation takes the value; it reads a number or `true` from text, too."""
        return not self.types or any(self._takes(kind, value) for kind in self.types)

    @property
    def accepted_values(self) -> str:
        """The values that it takes, in words."""
        if self.allowed_values:
            return f"one of {', '.join(map(str, self.allowed_values))}"
        return " or ".join(self._in_words(kind) for kind in self.types)

    def _takes(self, kind: str, value: object) -> bool:
        if kind == "object":
            return isinstance(value, Mapping)
        if kind == "array":
            # The keys of a mapping count items of an existing list.
            is_list = isinstance(value, list | tuple) and _within(len(value), self.fewest, self.most_items)
            return is_list or isinstance(value, Mapping)
        text = _text(value)
        if text is None or (self.allowed_values and text not in map(str, self.allowed_values)):
            return False
        if kind in NUMBER:
            return bool(NUMBER[kind].fullmatch(text)) and _within(float(text), self.minimum, self.maximum)
        if kind == "boolean":
            return text.lower() in ("true", "false")
        fits = _within(len(text), self.shortest, self.longest)
        return fits and (self.pattern is None or re.search(self.pattern, text) is not None)

    def _in_words(self, kind: str) -> str:
        match kind:
            case "integer" | "number":
                word = "a whole number" if kind == "integer" else "a number"
                return word + _bounds(self.minimum, self.maximum)
            case "array":
                return "a list" + _bounds(self.fewest, self.most_items, " items")
            case "string":
                form = f" that matches {self.pattern}" if self.pattern else ""
                return "text" + _bounds(self.shortest, self.longest, " characters") + form
            case "boolean":
                return "true or false"
            case _:
                return "a mapping" + (f" of {', '.join(sorted(self.names))}" if self.names else "")


@dataclass(frozen=True)
class PropertyPath:
    """The last known property on a path, and what of the path CloudFormation does not have below it."""

    property: Property
    rest: tuple[str, ...] = ()


def property_at(resource: str, parts: Sequence[str]) -> PropertyPath:
    """The facts about a property by its path, such as `("ProductionVariants", "0", "VolumeSizeInGB")`.

    Raises:
        KeyError: the catalog does not have the resource.
    """
    schemas: Mapping[str, Schema] = data_file(FILE)["resources"][resource]
    schema: Schema = {"is": ""}
    for index, part in enumerate(parts):
        inner = _below(schemas, schema, part)
        if inner is None:
            return PropertyPath(_property(schemas, schema), tuple(parts[index:]))
        schema = inner
    is_read_only = len(parts) == 1 and parts[0] in schemas[""]["readOnly"]
    return PropertyPath(_property(schemas, schema, is_read_only=is_read_only))


def properties_date() -> str:
    """The day on which CloudFormation's properties were as the catalog has them, such as `2026-10-20`."""
    return str(data_file(FILE)["date"])


def is_index(part: str) -> bool:
    """Whether a part of a path counts the items of a list, from 0."""
    return INDEX.fullmatch(part) is not None


def _text(value: object) -> str | None:
    """A single value as a template has it; None for a mapping, a list and no value."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def _within(size: float, minimum: float | None, maximum: float | None) -> bool:
    return (minimum is None or size >= minimum) and (maximum is None or size <= maximum)


def _bounds(minimum: float | None, maximum: float | None, unit: str = "") -> str:
    match minimum, maximum:
        case None, None:
            return ""
        case None, _:
            return f" of at most {maximum}{unit}"
        case _, None:
            return f" of at least {minimum}{unit}"
        case _:
            return f" of {minimum} to {maximum}{unit}"


def _below(schemas: Mapping[str, Schema], schema: Schema, part: str) -> Schema | None:
    if "is" in schema:
        below: Schema | None = schemas[schema["is"]]["properties"].get(part)
        return below
    if "items" in schema:
        items: Schema = schema["items"]
        return items if is_index(part) else None
    return {} if "object" in _types(schema) or not schema else None


def _types(schema: Schema) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _property(schemas: Mapping[str, Schema], schema: Schema, *, is_read_only: bool = False) -> Property:
    if "is" in schema:
        inside = schemas[schema["is"]]
        keys = tuple(inside.get("required", ()))
        return Property(types=("object",), names=frozenset(inside["properties"]), required_names=keys)
    limits = {ours: schema[theirs] for theirs, ours in LIMITS.items() if theirs in schema}
    return Property(
        types=_types(schema),
        allowed_values=tuple(schema.get("enum", ())),
        is_read_only=is_read_only,
        **limits,
    )


@dataclass(frozen=True, kw_only=True)
class WiderRange:
    """The values of a property that one source accepts beyond CloudFormation's schema; `by` names it."""

    minimum: int
    maximum: int
    by: str


def pool_regions() -> tuple[str, ...]:
    """Regions in which AWS lists instance pools."""
    return tuple(data_file("capacity.yaml")["pool_regions"])


@cache
def wider_range(name: str) -> WiderRange | None:
    """The range of another source for a property of a variant; None where the sources agree."""
    facts = data_file("capacity.yaml")["wider_ranges"].get(name)
    return None if facts is None else WiderRange(**facts)
