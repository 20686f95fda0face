"""AWS::SSM::Parameter: moto takes its tags as the API has them, CloudFormation writes them as a map."""

from __future__ import annotations

from dataclasses import replace

from moto.ssm.models import Parameter as MotoParameter

from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, Resource


class Parameter(MotoType):
    """`Ref` is the parameter's name."""

    def __init__(self) -> None:
        super().__init__(MotoParameter)  # type: ignore[type-abstract]

    def create(self, declared: Declaration) -> Resource:
        """Make it with its tags."""
        return super().create(_tags_as_list(declared))

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Replace its value."""
        return super().update(resource, _tags_as_list(before), _tags_as_list(declared))


def _tags_as_list(declared: Declaration) -> Declaration:
    tags = [{"Key": key, "Value": value} for key, value in declared.properties.get("Tags", {}).items()]
    return replace(declared, properties={**declared.properties, "Tags": tags})
