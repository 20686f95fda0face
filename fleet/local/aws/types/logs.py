"""AWS::Logs::LogGroup: moto's can neither be updated nor deleted by a stack."""

from __future__ import annotations

from moto.logs.models import LogGroup as MotoLogGroup
from moto.logs.models import LogsBackend, logs_backends

from fleet.local.aws.types.moto_types import MotoType
from fleet.local.aws.types.resource import Declared, Resource


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


def _backend(declared: Declared) -> LogsBackend:
    return logs_backends[declared.account_id][declared.region]
