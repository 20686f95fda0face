"""What a scalable target is called, and the state of its suspension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from moto.core.exceptions import ServiceException

_SUSPENSIONS = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")


class TargetId(NamedTuple):
    """What identifies a target in each call."""

    namespace: str
    resource_id: str
    dimension: str

    def __str__(self) -> str:
        """As Application Auto Scaling writes it into its messages."""
        return (
            f"service namespace: {self.namespace}, resource ID: {self.resource_id}, "
            f"scalable dimension: {self.dimension}"
        )


def suspended_state(before: Mapping[str, bool] | None, given: Mapping[str, bool] | None) -> dict[str, bool]:
    """All three suspensions; what is not given stays as it was, at first not suspended."""
    return dict.fromkeys(_SUSPENSIONS, False) | dict(before or {}) | dict(given or {})


class InvalidError(ServiceException):
    """The request is not one that the service takes."""

    code = "ValidationException"


class ObjectNotFoundError(ServiceException):
    """What the request names does not exist; for CloudFormation a deletion has then nothing left to do."""

    code = "ObjectNotFoundException"
