"""The schemas that editors use say the same as the types that validate."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.support.fleet_folder import ENVIRONMENT, ROOT, SPEC

SHIPPED_FILES = [
    file for folder in ("model_specs", "profiles", "environments") for file in ROOT.glob(f"{folder}/*.yaml")
]


def errors(kind: str, text: str) -> list[str]:
    folder = {"environment": "environments"}.get(kind, "model_specs")
    result: list[Any] = list(validator(folder, kind).iter_errors(yaml.safe_load(text)))
    return [error.message for error in result]


@cache
def validator(folder: str, kind: str) -> Any:
    schema = json.loads((ROOT / folder / f"{kind}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("file", SHIPPED_FILES, ids=lambda file: file.name)
def test_the_shipped_files_are_valid(file: Path) -> None:
    kind = "endpoint" if file.parent.name == "model_specs" else "environment"
    if file.parent.name == "profiles" or file.name == "_folder.yaml":
        kind = "partial"
    assert errors(kind, file.read_text()) == []


@pytest.mark.parametrize(
    "keys",
    [
        "scalling: {}",
        "container: {thread_cuont: 1}",
        "scaling: {min: 1, max: 2, scale_in: 600}",
        "timeouts: {startup: soon}",
        "instance: {type: g5.xlarge}",
        "mode: several",
    ],
)
def test_an_editor_marks_what_fleet_check_refuses(keys: str) -> None:
    assert errors("endpoint", SPEC + keys)


def test_an_environment_may_set_any_part_of_a_spec_and_nothing_else() -> None:
    part = "overrides: {sentences: {instance: {count: 2}, scaling: {max: 3}}}"
    assert errors("environment", f"{ENVIRONMENT}{part}") == []
    assert errors("environment", f"{ENVIRONMENT}{part.replace('count', 'cuont')}")


@pytest.mark.parametrize("file", ["endpoint", "partial"])
def test_what_a_layer_below_has_may_be_left_out_and_taken_away(file: str) -> None:
    keys = "profile: gpu\ninstance: {count: 2}\nscaling: null\ntags: {a: null}\noverrides: {prod: {triton: '25.04'}}"
    assert errors(file, f"{'endpoint: a' if file == 'endpoint' else ''}\n{keys}") == []


def test_a_profile_names_no_endpoint() -> None:
    assert errors("partial", "endpoint: a")


@pytest.mark.parametrize(
    "keys",
    [
        "endpoint: null",
        "endpoint: a\noverrides: {dev: {environments: [dev]}}",
        "endpoint: a\noverrides: {dev: {overrides: {}}}",
        "endpoint: a\noverrides: {dev: {endpoint: b}}",
    ],
)
def test_a_key_that_a_layer_cannot_have_is_marked(keys: str) -> None:
    assert errors("endpoint", keys)
    assert errors("partial", keys.removeprefix("endpoint: a\n"))


@pytest.mark.parametrize("value", ["null", "[]", "gpu", "[gpu, cpu]"])
def test_profiles_are_one_several_or_none(value: str) -> None:
    assert errors("endpoint", f"endpoint: a\nprofile: {value}\noverrides: null") == []


def test_what_is_in_a_list_is_whole() -> None:
    assert errors("partial", "models: [{archive: a}]")


def test_every_key_of_a_spec_is_explained() -> None:
    schema = json.loads((ROOT / "model_specs" / "endpoint.schema.json").read_text())
    objects = [schema, *schema["$defs"].values()]
    silent = [
        f"{entry['title']}.{key}"
        for entry in objects
        for key, value in entry.get("properties", {}).items()
        if "description" not in value and "$ref" not in json.dumps(value)
    ]
    assert silent == []


@pytest.mark.parametrize("kind", ["endpoint", "environment"])
def test_every_default_is_a_value_that_its_key_takes(kind: str) -> None:
    folder = {"environment": "environments"}.get(kind, "model_specs")
    schema = json.loads((ROOT / folder / f"{kind}.schema.json").read_text())
    wrong = [
        f"{entry['title']}.{key}: {value['default']}"
        for entry in [schema, *schema["$defs"].values()]
        for key, value in entry.get("properties", {}).items()
        if "default" in value
        and not Draft202012Validator({**value, "$defs": schema["$defs"]}).is_valid(value["default"])
    ]
    assert wrong == []
