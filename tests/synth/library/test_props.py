"""Classes of props have the names, defaults and documentation of the sections of a spec."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from typing import Any

import pytest

import triton_endpoints
from tests.support.constructs_page import constructs_page, described_props, prop_classes
from triton_endpoints.library.props import UNSET
from triton_fleet.spec.instance import MEASURES
from triton_fleet.spec.schema import endpoint_schema


def test_every_prop_of_a_class_has_a_word_on_the_page() -> None:
    classes = [name for name in triton_endpoints.__all__ if inspect.isclass(getattr(triton_endpoints, name))]
    parts = {part.partition("\n")[0]: part for part in constructs_page().split("\n## ")}
    for name in set(classes) - {"MetricOptions"}:
        assert not [line for line in parts[name].partition("\n### ")[0].splitlines() if line.endswith("|  |")]


SECTIONS = endpoint_schema()["$defs"]


def keys_of(name: str) -> dict[str, Any]:
    """The keys of a section; methods of Scaling add its targets."""
    keys = SECTIONS[name]["properties"].items()
    return {key: schema for key, schema in keys if name != "Scaling" or key not in MEASURES}


def fields_of(name: str) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(prop_classes()[name]) if field.name != "targets"}


def documentation(key: dict[str, Any]) -> str:
    """The description of a key, with a default that is a value, as Python writes it."""
    text, default = " ".join(key["description"].split()), key.get("default")
    if default in (None, [], {}):
        return text
    severities = default.items() if isinstance(default, dict) else ()
    value = {severity: limit for severity, limit in severities if limit is not None} or default
    return f"{text} Default: `{repr(value).replace(chr(39), chr(34))}`."


@pytest.mark.parametrize("name", prop_classes())
class TestProps:
    def test_each_is_a_key_of_the_spec_and_each_key_is_a_prop(self, name: str) -> None:
        assert set(fields_of(name)) == set(keys_of(name))

    def test_one_that_is_left_out_has_the_default_of_the_spec(self, name: str) -> None:
        """A default of its own would be a second one, unless it is nothing in both."""
        required_keys = SECTIONS[name].get("required", [])
        for key, field in fields_of(name).items():
            is_nothing = keys_of(name)[key].get("default", UNSET) in (None, [])
            allowed_defaults = (
                [MISSING] if key in required_keys else [UNSET, *([None, ()] if is_nothing else [])]
            )
            assert field.default in allowed_defaults, key

    def test_its_documentation_is_that_of_the_key(self, name: str) -> None:
        documented_props = described_props(prop_classes()[name])
        for key, schema in keys_of(name).items():
            assert documented_props[key].startswith(documentation(schema).removesuffix(".")), key
