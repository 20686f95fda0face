"""Scalable targets of Application Auto Scaling, their tags, and requests for policies and schedules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from moto.applicationautoscaling.models import FakeApplicationAutoscalingPolicy
from moto.core.exceptions import ServiceException

from fleet_emulator.product import time_zones

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


class ResourceNotFoundError(ServiceException):
    """No target has the ARN."""

    code = "ResourceNotFoundException"


class TargetTags:
    """The tags of one account's targets in one region, by the targets' ARNs."""

    def __init__(self) -> None:
        self._tags: dict[str, dict[str, str]] = {}

    def register(self, arn: str, tags: Mapping[str, str] | None) -> None:
        """Know a target that is new; one that is known may not be given tags in this way.

        Source of the words: hashicorp/terraform-provider-aws 31839.

        Raises:
            InvalidError: the target is registered already.
        """
        if tags and arn in self._tags:
            raise InvalidError(
                "The scalable target that you tried to tag already exists. To update tags on an existing "
                "scalable target, use the TagResource API."
            )
        self._tags.setdefault(arn, dict(tags or {}))

    def deregister(self, arn: str) -> None:
        """Forget a target."""
        self._tags.pop(arn, None)

    def of(self, arn: str) -> dict[str, str]:
        """The tags of a target, to be changed in place.

        Raises:
            ResourceNotFoundError: it is not registered.
        """
        if arn not in self._tags:
            raise ResourceNotFoundError(f"Resource not found: {arn}")
        return self._tags[arn]

    def remove(self, arn: str, keys: Iterable[str]) -> None:
        """Take tags away.

        Raises:
            ResourceNotFoundError: the target is not registered.
        """
        for key in keys:
            self.of(arn).pop(key, None)


_METRICS = ("PredefinedMetricSpecification", "CustomizedMetricSpecification")


def require_untracked_metric(
    name: str, body: Mapping[str, Any], others: Iterable[FakeApplicationAutoscalingPolicy]
) -> None:
    """Refuse a second policy of a target that tracks the same metric.

    Source of the rule and the words: aws/aws-cdk 17956, hashicorp/terraform-provider-aws 41179.

    Raises:
        InvalidError: another policy tracks it.
    """
    metric = _metric(body)
    for other in others:
        other_metric = _metric(other.target_tracking_scaling_policy_configuration or {})
        if metric is not None and other.policy_name != name and other_metric == metric:
            raise InvalidError(
                "Only one TargetTrackingScaling policy for a given metric specification is allowed."
            )


def _metric(body: Mapping[str, Any]) -> Any:
    return next((body[kind] for kind in _METRICS if kind in body), None)


_SYNTAX = (
    r"Schedule expressions must have the following syntax: rate(<number>\s?(minutes?|hours?|days?)), "
    "cron(<cron_expression>) or at(yyyy-MM-dd'T'HH:mm:ss)."
)
_RATE = re.compile(r"rate\([1-9][0-9]*\s?(minutes?|hours?|days?)\)")
_CRON = re.compile(r"cron\(([^()]*)\)")
_AT = re.compile(r"at\(([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})\)")
_FIELD = re.compile(r"[0-9A-Za-z*?,/#-]+")


def require_schedule(schedule: str) -> None:
    """Refuse an invalid schedule; of a cron expression the fields are checked, not their values.

    Raises:
        InvalidError: the first half of its words is Application Auto Scaling's.
    """
    if problem := _problem(schedule):
        raise InvalidError(f"Invalid schedule expression. Details: {problem}")


def require_time_zone(name: str) -> None:
    """Refuse a name that is not an IANA time zone.

    Raises:
        InvalidError: only the code is AWS's, the words are ours.
    """
    if name not in time_zones():
        raise InvalidError(f"Invalid time zone: {name}")


def _problem(schedule: str) -> str:
    if _RATE.fullmatch(schedule):
        return ""
    if at := _AT.fullmatch(schedule):
        return _wrong_time(at[1])
    if cron := _CRON.fullmatch(schedule):
        return _wrong_cron(cron[1].split())
    return _SYNTAX


def _wrong_time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        return f"Invalid AT expression: {error}"
    return ""


def _wrong_cron(fields: list[str]) -> str:
    if len(fields) != 6:
        return f"Invalid CRON expression: six fields are needed, there are {len(fields)}"
    for field in fields:
        if not _FIELD.fullmatch(field):
            return f"Invalid CRON expression: '{field}'"
    if (fields[2] == "?") == (fields[4] == "?"):
        return "Invalid CRON expression: one of day of month and day of week must be '?'"
    return ""
