"""JSON Schemas of the YAML files, for editors; written by `fleet schema` and compared in the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fleet.spec.endpoint import EndpointSpec
from fleet.spec.environment import Environment

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas(root: Path) -> dict[Path, str]:
    """Each schema file and the text that it must hold."""
    endpoint = EndpointSpec.model_json_schema()
    environment = Environment.model_json_schema()
    partial = _without_required(endpoint)
    environment["$defs"] = {
        **environment.get("$defs", {}),
        **partial.pop("$defs", {}),
        "PartialEndpoint": partial,
    }
    ref = {"$ref": "#/$defs/PartialEndpoint"}
    properties = environment["properties"]
    properties["defaults"] = {"description": properties["defaults"]["description"], **ref}
    properties["overrides"]["additionalProperties"] = ref
    return {
        root / "model_specs" / "endpoint.schema.json": _text(endpoint),
        root / "environments" / "environment.schema.json": _text(environment),
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
