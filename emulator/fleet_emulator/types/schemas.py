"""Which properties CloudFormation cannot change in place, by its own schemas, which cfn-lint carries."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

REGION = "us-east-1"


@cache
def create_only(resource_type: str) -> frozenset[str]:
    """The properties whose change replaces a resource; none of a type that has no schema."""
    name = _files().get(resource_type)
    if name is None:
        return frozenset()
    schema = json.loads((files("cfnlint.data.schemas") / "resources" / f"{name}.json").read_text())
    return frozenset(path.split("/")[2] for path in schema.get("createOnlyProperties", ()))


@cache
def _files() -> dict[str, str]:
    found = files("cfnlint.data.schemas") / "providers" / f"{REGION}.json"
    return dict(json.loads(found.read_text()))
