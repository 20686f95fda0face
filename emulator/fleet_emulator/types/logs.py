"""AWS::Logs::LogGroup, which moto makes without its key and cannot update or delete, and QueryDefinition."""

from __future__ import annotations

from typing import cast
from uuid import uuid4

from moto.cloudformation.exceptions import ValidationError
from moto.logs.models import LogGroup as MotoLogGroup
from moto.logs.models import logs_backends

from fleet_emulator.logs.backend import EmbeddedLogs
from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, Resource, ResourceType

_MAX_LENGTHS = {"Name": 255, "QueryString": 10_000}


class LogGroup(MotoType):
    """`Ref` is the log group's name."""

    replacing_properties = frozenset({"LogGroupName"})

    def __init__(self) -> None:
        super().__init__(MotoLogGroup)  # type: ignore[type-abstract]

    def create(self, declaration: Declaration) -> Resource:
        """Create the group with its key."""
        resource = super().create(declaration)
        _backend(declaration).encrypt(resource.physical_resource_id, declaration.properties.get("KmsKeyId"))
        return resource

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Set the key and the retention; without one, events are kept for ever."""
        name = resource.physical_resource_id
        _backend(declaration).encrypt(name, declaration.properties.get("KmsKeyId"))
        if "RetentionInDays" in declaration.properties:
            _backend(declaration).put_retention_policy(name, declaration.properties["RetentionInDays"])
        else:
            _backend(declaration).delete_retention_policy(name)
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the log group with its events."""
        _backend(declaration).delete_log_group(resource.physical_resource_id)


class QueryDefinition(ResourceType):
    """A saved query, which nothing can run here; `Ref` is the id that CloudFormation would give it.

    Source of the limits: CloudWatch Logs API reference, PutQueryDefinition.
    """

    def create(self, declaration: Declaration) -> Resource:
        """Check it, and save it under a new id."""
        return self._save(Resource(str(uuid4())), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Check it again, and save it under its id."""
        return self._save(resource, declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Forget it."""
        del _backend(declaration).definitions[resource.physical_resource_id]

    @staticmethod
    def _save(resource: Resource, declaration: Declaration) -> Resource:
        properties = declaration.properties
        for name, longest in _MAX_LENGTHS.items():
            if not 1 <= len(properties.get(name, "")) <= longest:
                raise ValidationError(message=f"{name} has to have 1 to {longest} characters")
        _backend(declaration).define(
            resource.physical_resource_id,
            name=properties["Name"],
            text=properties["QueryString"],
            groups=properties.get("LogGroupNames", []),
        )
        return resource


def _backend(declaration: Declaration) -> EmbeddedLogs:
    return cast("EmbeddedLogs", logs_backends[declaration.account_id][declaration.region])
