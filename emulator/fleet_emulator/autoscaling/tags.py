"""The tags of scalable targets, which only a target that is new may be registered with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from moto.core.exceptions import ServiceException

from fleet_emulator.autoscaling.targets import InvalidError


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
