"""What an update of an endpoint's stack does to the endpoint, from the changes of its template."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from triton_fleet.changes.templates import Change, Effect

ENDPOINT = "AWS::SageMaker::Endpoint"
CONFIGURATION = "AWS::SageMaker::EndpointConfig"
MODEL = "AWS::SageMaker::Model"


class UpdateEffect(StrEnum):
    """What a deploy does; the order is that of risk, the greatest first."""

    UNKNOWN = "unknown"
    """One of both revisions cannot be synthesised."""
    REPLACED = "replaced"
    """Another endpoint takes its place: calls fail meanwhile."""
    REMOVED = "removed"
    """The files are gone; the endpoint runs until it is destroyed."""
    CREATED = "created"
    CONFIGURATION = "new configuration"
    """The endpoint stays and moves its traffic to new instances."""
    IN_PLACE = "in place"
    """Nothing that serves is touched: scaling, alarms, tags, logs, permissions, checks."""
    NOTHING = "nothing"
    """The templates are the same."""

    @property
    def risk(self) -> int:
        """0 for the greatest."""
        return list(UpdateEffect).index(self)

    @property
    def interrupts(self) -> bool:
        """Whether calls fail, at once or when the named command has run."""
        return self in (UpdateEffect.REPLACED, UpdateEffect.REMOVED)


def update_effect(changes: Sequence[Change]) -> UpdateEffect:
    """What CloudFormation and SageMaker do to an endpoint that both templates declare."""
    replacing = {
        change.type for change in changes if change.effect in (Effect.REPLACED, Effect.ADDED, Effect.REMOVED)
    }
    if ENDPOINT in replacing:
        return UpdateEffect.REPLACED
    if CONFIGURATION in replacing:
        return UpdateEffect.CONFIGURATION
    return UpdateEffect.IN_PLACE if changes else UpdateEffect.NOTHING


def replaces_model(changes: Sequence[Change]) -> bool:
    """Whether the new configuration has a new Model: another image, archive, variable or network."""
    return any(change.type == MODEL and change.effect is Effect.REPLACED for change in changes)


def unsafe_changes(changes: Sequence[Change]) -> tuple[str, ...]:
    """What CloudFormation refuses, or what may delete something."""
    return tuple(
        f"{change.type} {change.logical_id} ({', '.join(change.properties)})"
        for change in changes
        if change.effect is Effect.UNSAFE
    )
