"""The escape hatch: raw CloudFormation properties of a spec, laid over a resource."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import CfnResource


def lay_over(resource: CfnResource, properties: Mapping[str, object]) -> None:
    """Override properties by their dotted path, such as `ProductionVariants.0.EnableSSMAccess`."""
    for path, value in properties.items():
        resource.add_property_override(path, value)
