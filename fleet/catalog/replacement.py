"""Which changes of a property make CloudFormation replace a resource."""

from __future__ import annotations

from fleet.catalog.data_file import data_file


def create_only(resource_type: str) -> frozenset[str] | None:
    """The properties whose change replaces a resource of a type; None where the catalog has no such type."""
    properties = data_file("create_only.yaml")["types"].get(resource_type)
    return None if properties is None else frozenset(properties)
