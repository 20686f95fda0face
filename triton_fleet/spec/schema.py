"""JSON Schemas of the YAML files, for editors; written by `fleet schema` and compared in the tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.policy import Policy
from triton_fleet.spec.prices import PRICES, PRICES_SCHEMA, FleetPrices
from triton_fleet.spec.source import POLICIES, SPEC_SCHEMA, SPECS
from triton_fleet.spec.values import descriptions

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}
_DEFINITION = "#/$defs/"


class _InputSchema(GenerateJsonSchema):
    """Defaults as a file has them, `600s` where pydantic has a number of seconds; keys with descriptions."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        schema_of_model = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        defaults, texts = model.model_construct().model_dump(mode="json"), descriptions(model)
        for key, value in schema_of_model["properties"].items():
            if "default" in value:
                value["default"] = defaults[key]
            if key in texts:
                value["description"] = texts[key]
        return schema_of_model

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        mapping = super().dict_schema(schema)
        return {**mapping, "additionalProperties": False} if "patternProperties" in mapping else mapping


@cache
def endpoint_schema() -> dict[str, Any]:
    """Of `model_specs/NAME.yaml`; every caller gets the same object."""
    return EndpointSpec.model_json_schema(schema_generator=_InputSchema)


def environment_schema() -> dict[str, Any]:
    """The schema of `environments/ENV.yaml`, with any content of `defaults` and `overrides`."""
    return Environment.model_json_schema(schema_generator=_InputSchema)


def policy_schema() -> dict[str, Any]:
    """Of `policies/NAME.yaml`."""
    return Policy.model_json_schema(schema_generator=_InputSchema)


def prices_schema() -> dict[str, Any]:
    """Of `prices.yaml`."""
    return FleetPrices.model_json_schema(schema_generator=_InputSchema)


@cache
def policy_schema_text() -> str:
    """The text of policies/policy.schema.json."""
    return _text(policy_schema())


@cache
def _partial_schema() -> dict[str, Any]:
    """The schema of profiles and of folders' files: any part of a spec."""
    schema = _mergeable(endpoint_schema())
    del schema["properties"]["endpoint"]
    schema["description"] = "Keys of specs that are laid over it."
    schema["properties"]["overrides"]["additionalProperties"] = {"$ref": "#/$defs/PartialEndpoint"}
    return _with_partial_endpoint(schema)


@cache
def _spec_file_schema() -> dict[str, Any]:
    """The schema of a spec's file: everything but its name may be in a layer below it."""
    schema = _mergeable(endpoint_schema())
    schema["required"] = ["endpoint"]
    schema["properties"]["endpoint"] = endpoint_schema()["properties"]["endpoint"]
    schema["properties"]["overrides"]["additionalProperties"] = {"$ref": "#/$defs/PartialEndpoint"}
    return _with_partial_endpoint(schema)


@cache
def _environment_file_schema() -> dict[str, Any]:
    """The schema of an environment's file, with any part of a spec under `defaults` and `overrides`."""
    schema = _with_partial_endpoint(environment_schema())
    ref = {"$ref": "#/$defs/PartialEndpoint"}
    properties = schema["properties"]
    properties["defaults"] = {"description": properties["defaults"]["description"], **ref}
    properties["overrides"]["additionalProperties"] = ref
    return schema


def _with_partial_endpoint(schema: dict[str, Any]) -> dict[str, Any]:
    partial = _mergeable(endpoint_schema())
    for key in ("endpoint", "overrides", "environments"):
        del partial["properties"][key]
    definitions = partial.pop("$defs", {})
    schema["$defs"] = {**schema.get("$defs", {}), **definitions, "PartialEndpoint": partial}
    return schema


def schemas(root: Path) -> dict[Path, str]:
    """Each schema file and the text that it must hold; of policies and prices where a fleet has some."""
    of_policies = {root / POLICIES / "policy.schema.json": policy_schema_text()}
    of_prices = {root / PRICES_SCHEMA: _text(prices_schema())}
    return {
        root / SPECS / SPEC_SCHEMA: _text(_spec_file_schema()),
        root / SPECS / "partial.schema.json": _text(_partial_schema()),
        root / "environments" / "environment.schema.json": _text(_environment_file_schema()),
        **(of_policies if (root / POLICIES).is_dir() else {}),
        **(of_prices if (root / PRICES).is_file() else {}),
    }


def _mergeable(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of one of several layers: any key may be in another one, and `null` takes it away.

    What is in a list stays as it is: a list replaces the list below it.
    """
    in_lists = _definitions_of_lists(schema)
    definitions = {
        name: definition if name in in_lists else _any_part(definition)
        for name, definition in schema["$defs"].items()
    }
    return {**_any_part(schema), "$defs": definitions}


def _any_part(schema: dict[str, Any]) -> dict[str, Any]:
    part = {key: value for key, value in schema.items() if key != "required"}
    if "properties" in part:
        part["properties"] = {key: _or_null(value) for key, value in part["properties"].items()}
    return part


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("additionalProperties"), dict):
        schema = {**schema, "additionalProperties": _or_null(schema["additionalProperties"])}
    if patterns := schema.get("patternProperties"):
        values = {pattern: _or_null(inner) for pattern, inner in patterns.items()}
        schema = {**schema, "patternProperties": values}
    about: dict[str, Any] = {key: schema[key] for key in ("description", "default", "title") if key in schema}
    forms = schema.get("anyOf") or [{key: value for key, value in schema.items() if key not in about}]
    return {**about, "anyOf": forms if _NULL in forms else [*forms, _NULL]}


def _definitions_of_lists(schema: dict[str, Any]) -> set[str]:
    """The definitions that stand in lists, or in those of lists."""
    lists, queue = set[str](), [mapping["items"] for mapping in _mappings(schema) if "items" in mapping]
    while queue:
        for mapping in _mappings(queue.pop()):
            name = str(mapping.get("$ref", "")).removeprefix(_DEFINITION)
            if name and name not in lists:
                lists.add(name)
                queue.append(schema["$defs"][name])
    return lists


def _mappings(schema: Any) -> Iterator[dict[str, Any]]:
    """All mappings of a schema, itself among them."""
    if isinstance(schema, dict):
        yield schema
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for item in inner:
        yield from _mappings(item)


def _text(schema: dict[str, Any]) -> str:
    return json.dumps({"$schema": DIALECT, **schema}, indent=2, ensure_ascii=False) + "\n"
