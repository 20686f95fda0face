"""JSON Schemas of the YAML files, for editors; written by `fleet schema` and compared in the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from fleet.spec.endpoint import EndpointSpec
from fleet.spec.environment import Environment

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _AsWritten(GenerateJsonSchema):
    """Defaults as a file has them: `600s`, where pydantic has the number of seconds that we keep."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        written = schema["cls"].model_construct().model_dump(mode="json")
        for key, value in found["properties"].items():
            if "default" in value:
                value["default"] = written[key]
        return found


def endpoint_schema() -> dict[str, Any]:
    """Of `model_specs/NAME.yaml`."""
    return EndpointSpec.model_json_schema(schema_generator=_AsWritten)


def environment_schema() -> dict[str, Any]:
    """The schema of `environments/ENV.yaml`, with any content of `defaults` and `overrides`."""
    return Environment.model_json_schema(schema_generator=_AsWritten)


def _with_parts_of_specs(environment: dict[str, Any]) -> dict[str, Any]:
    """The same, with any part of a spec there."""
    partial = _without_required(endpoint_schema())
    environment["$defs"] = {
        **environment.get("$defs", {}),
        **partial.pop("$defs", {}),
        "PartialEndpoint": partial,
    }
    ref = {"$ref": "#/$defs/PartialEndpoint"}
    properties = environment["properties"]
    properties["defaults"] = {"description": properties["defaults"]["description"], **ref}
    properties["overrides"]["additionalProperties"] = ref
    return environment


def schemas(root: Path) -> dict[Path, str]:
    """Each schema file and the text that it must hold."""
    return {
        root / "model_specs" / "endpoint.schema.json": _text(endpoint_schema()),
        root / "environments" / "environment.schema.json": _text(_with_parts_of_specs(environment_schema())),
    }


def _without_required(schema: Any) -> Any:
    """An environment may set any part of a spec, so nothing of it is required there."""
    if isinstance(schema, dict):
        return {key: _without_required(value) for key, value in schema.items() if key != "required"}
    if isinstance(schema, list):
        return [_without_required(value) for value in schema]
    return schema


def _text(schema: dict[str, Any]) -> str:
    return json.dumps({"$schema": DIALECT, **schema}, indent=2, ensure_ascii=False) + "\n"
