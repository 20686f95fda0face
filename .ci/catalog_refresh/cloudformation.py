"""Facts of CloudFormation's schemas, as cfn-lint has them for us-east-1."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from catalog_refresh.instance_types import schema_day
from catalog_refresh.package import Package
from catalog_refresh.proposal import Facts, Proposal, read_facts

PROPERTIES, REPLACEMENT, RETENTION = "properties.json", "create_only.yaml", "log_retention.yaml"
SCHEMAS = "cfnlint/data/schemas"
Reader: TypeAlias = Callable[[Mapping[str, Any]], Facts]
LIMIT_KEYS = (
    *("type", "enum", "minimum", "maximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "pattern"),
)
"""What the catalog keeps of a property's schema."""
ELSEWHERE = ("InferenceAmiVersion", "InstanceType")
"""Properties whose values are those of amis.yaml and api_types.yaml."""
WITHOUT_LIMIT = (("minLength", 0), ("minItems", 0))


def properties(cfn_lint: Package, folder: Path) -> Proposal:
    """The properties of the resources that properties.json has."""
    present = read_facts(folder, PROPERTIES)["resources"]
    resources = {name: _resource(_schema(cfn_lint, f"AWS::SageMaker::{name}")) for name in present}
    scope = "schemas of AWS::SageMaker in us-east-1; enums that other files of the catalog have are left out"
    return _proposal(cfn_lint, PROPERTIES, scope, {"resources": resources}, _properties_as_facts)


def create_only_properties(cfn_lint: Package, folder: Path) -> Proposal:
    """The properties whose change replaces a resource, of the types that create_only.yaml has."""
    present = read_facts(folder, REPLACEMENT)["types"]
    types = {name: _names(_schema(cfn_lint, name), "createOnlyProperties") for name in present}
    scope = "createOnlyProperties of the schemas in us-east-1"
    return _proposal(
        cfn_lint,
        REPLACEMENT,
        scope,
        {"types": types},
        lambda content: {name: dict.fromkeys(names, "") for name, names in content["types"].items()},
    )


def log_retention(cfn_lint: Package) -> Proposal:
    """The days that a log group takes."""
    days = _schema(cfn_lint, "AWS::Logs::LogGroup")["properties"]["RetentionInDays"]["enum"]
    return _proposal(
        cfn_lint,
        RETENTION,
        "RetentionInDays of AWS::Logs::LogGroup",
        {"days": sorted(days)},
        lambda content: {f"{day} days": {"": ""} for day in content["days"]},
    )


def _proposal(
    cfn_lint: Package, file: str, scope: str, content: Mapping[str, Any], facts: Reader
) -> Proposal:
    return Proposal(
        file=file, origin=str(cfn_lint), scope=scope, day=schema_day(cfn_lint), content=content, facts=facts
    )


def _schema(cfn_lint: Package, resource: str) -> dict[str, Any]:
    file = cfn_lint.read_json(f"{SCHEMAS}/providers/us-east-1.json")[resource]
    return cfn_lint.read_json(f"{SCHEMAS}/resources/{file}.json")


def _names(schema: Mapping[str, Any], key: str) -> list[str]:
    """The properties, of paths such as `/properties/Name/Inner` the outermost."""
    return sorted({path.split("/")[2] for path in schema.get(key, ())})


def _resource(schema: Mapping[str, Any]) -> dict[str, Any]:
    read_only_names = {"readOnly": _names(schema, "readOnlyProperties")}
    types = {name: _type(about) for name, about in sorted(schema.get("definitions", {}).items())}
    return {"": read_only_names | _type(schema), **types}


def _type(schema: Mapping[str, Any]) -> dict[str, Any]:
    required_names = {"required": sorted(schema["required"])} if schema.get("required") else {}
    property_types = {
        name: _limits(name, about) for name, about in sorted(schema.get("properties", {}).items())
    }
    return {**required_names, "properties": property_types}


def _limits(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A property without its text, limits of nothing, and a pattern that Python cannot read."""
    limits = {
        key: schema[key] for key in LIMIT_KEYS if key in schema and (key, schema[key]) not in WITHOUT_LIMIT
    }
    if name in ELSEWHERE:
        limits.pop("enum", None)
    if "\\p{" in limits.get("pattern", ""):
        del limits["pattern"]
    if "$ref" in schema:
        limits["is"] = schema["$ref"].rpartition("/")[2]
    if "items" in schema:
        limits["items"] = _limits("", schema["items"])
    return limits


def _properties_as_facts(content: Mapping[str, Any]) -> Facts:
    """Each property by resource, type and name, and what a type requires or has read-only."""
    return {
        " ".join(filter(None, (resource, name, key))): {"": json.dumps(about)}
        for resource, types in content["resources"].items()
        for name, schema in types.items()
        for key, about in {**schema, **schema["properties"]}.items()
        if key != "properties"
    }
