"""AWS::Logs::LogGroup, as moto's can neither be updated nor deleted by a stack, and QueryDefinition."""

from __future__ import annotations

from uuid import uuid4

from moto.cloudformation.exceptions import ValidationError
from moto.logs.models import LogGroup as MotoLogGroup
from moto.logs.models import LogsBackend, logs_backends

from fleet.local.aws.types.ignored import Nothing
from fleet.local.aws.types.moto_types import MotoType
from fleet.local.aws.types.resource import Declared, Resource

_LONGEST = {"Name": 255, "QueryString": 10_000}


class LogGroup(MotoType):
    """`Ref` is the log group's name."""

    def __init__(self) -> None:
        super().__init__(MotoLogGroup)  # type: ignore[type-abstract]

    def replaces(self, before: Declared, declared: Declared) -> bool:
        """When it has another name."""
        return "LogGroupName" in declared.changed(before)

    def update(self, resource: Resource, before: Declared, declared: Declared) -> Resource:
        """Set the retention; without one, events are kept for ever."""
        name = resource.physical_resource_id
        if "RetentionInDays" in declared.properties:
            _backend(declared).put_retention_policy(name, declared.properties["RetentionInDays"])
        else:
            _backend(declared).delete_retention_policy(name)
        return resource

    def delete(self, resource: Resource, declared: Declared) -> None:
        """Delete the log group with its events."""
        _backend(declared).delete_log_group(resource.physical_resource_id)


class QueryDefinition(Nothing):
    """A saved query, which nothing can run here; `Ref` is the id that CloudFormation would give it.

    Source of the limits: CloudWatch Logs API reference, PutQueryDefinition.
    """

    def create(self, declared: Declared) -> Resource:
        """Check it, and give it an id."""
        _check_query(declared)
        return Resource(str(uuid4()))

    def update(self, resource: Resource, before: Declared, declared: Declared) -> Resource:
        """Check it anew."""
        _check_query(declared)
        return resource


def _check_query(declared: Declared) -> None:
    for name, longest in _LONGEST.items():
        if not 1 <= len(declared.properties.get(name, "")) <= longest:
            raise ValidationError(message=f"{name} has to have 1 to {longest} characters")


def _backend(declared: Declared) -> LogsBackend:
    return logs_backends[declared.account_id][declared.region]
