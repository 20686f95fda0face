"""The steps of a stack's run, each of which reports events and can be rolled back."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from moto.cloudformation.exceptions import ValidationError

from fleet_emulator import failures
from fleet_emulator.process_state import turn
from fleet_emulator.stacks.stack import EmbeddedStack
from fleet_emulator.types.catalog import hosted_type, recreates
from fleet_emulator.types.moto_types import existing_resource
from fleet_emulator.types.resource import Declaration, DeployedResource, UnfinishedError

log = logging.getLogger("fleet_emulator")

_NEW_PHYSICAL_RESOURCE = (
    "Requested update requires the creation of a new physical resource; hence creating one."
)
_MOVE_REASON = "Requested update required the provider to create a new physical resource"


class Change(Enum):
    """The effect of a step on a resource; after a move, the resource from before still exists."""

    CREATION = "created"
    IMPORT = "imported"
    UPDATE = "updated"
    MOVE = "moved"
    REPLACEMENT = "replaced"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step that was made: the resource before, if it existed, and after."""

    kind: Change
    before: DeployedResource | None
    after: DeployedResource


class StepFailedError(Exception):
    """A resource could not be brought to its declared state; its events have the reason.

    `step` is what was done to it all the same, and has to be rolled back.
    """

    def __init__(self, logical_id: str, step: Step | None = None) -> None:
        self.logical_id = logical_id
        self.step = step
        super().__init__(logical_id)


@contextmanager
def _report_events(
    stack: EmbeddedStack,
    declaration: Declaration,
    verb: str,
    before: DeployedResource | None,
    reason: str | None = None,
) -> Iterator[None]:
    physical_id = "" if before is None else before.physical_resource_id
    stack.tell(declaration, f"{verb}_IN_PROGRESS", physical_id=physical_id, reason=reason)
    try:
        with turn():
            yield
    except Exception as error:
        level = logging.WARNING if failures.is_said(error) else logging.ERROR
        log.log(level, "%s of %s in %s failed", verb, declaration.logical_id, stack.name, exc_info=error)
        stack.tell(declaration, f"{verb}_FAILED", physical_id=physical_id, reason=failures.reason_of(error))
        raise StepFailedError(declaration.logical_id, _half_step(error, declaration, before)) from error


def _half_step(error: Exception, declaration: Declaration, before: DeployedResource | None) -> Step | None:
    if not isinstance(error, UnfinishedError):
        return None
    after = DeployedResource(declaration=declaration, resource=error.resource)
    return Step(kind=Change.CREATION if before is None else Change.UPDATE, before=before, after=after)


@contextmanager
def resolution(stack: EmbeddedStack, logical_id: str, resource_type: str) -> Iterator[None]:
    """Report a resource whose declaration cannot be resolved as failed before it began."""
    try:
        with turn():
            yield
    except Exception as error:
        log.warning("%s in %s cannot be resolved", logical_id, stack.name, exc_info=error)
        verb = "UPDATE" if logical_id in stack.deployed_resources else "CREATE"
        reason = failures.reason_of(error)
        stack.add_event(logical_id, resource_type, f"{verb}_FAILED", physical_id="", reason=reason)
        raise StepFailedError(logical_id) from error


def create(stack: EmbeddedStack, declaration: Declaration) -> Step:
    """Create a resource."""
    with _report_events(stack, declaration, "CREATE", None):
        after = DeployedResource(
            declaration=declaration, resource=hosted_type(declaration.type).create(declaration)
        )
        stack.deployed_resources[declaration.logical_id] = after
    stack.tell(
        declaration,
        "CREATE_COMPLETE",
        physical_id=after.physical_resource_id,
        reason=after.resource.note or None,
    )
    return Step(kind=Change.CREATION, before=None, after=after)


def adopt(stack: EmbeddedStack, declaration: Declaration) -> Step:
    """Import the resource that has the declared name; its settings stay as they are."""
    with _report_events(stack, declaration, "IMPORT", None):
        resource = existing_resource(declaration)
        if resource is None:
            raise ValidationError(message=f"Resource {declaration.logical_id} does not exist")
        after = DeployedResource(declaration=declaration, resource=resource)
        stack.deployed_resources[declaration.logical_id] = after
    stack.tell(declaration, "IMPORT_COMPLETE", physical_id=after.physical_resource_id)
    return Step(kind=Change.IMPORT, before=None, after=after)


def change(stack: EmbeddedStack, before: DeployedResource, declaration: Declaration) -> Step:
    """Update a resource where it is, or create its successor; the old one stays until the run is through."""
    resource_type = hosted_type(declaration.type)
    is_replaced = recreates(before.declaration, declaration)
    with _report_events(
        stack, declaration, "UPDATE", before, _NEW_PHYSICAL_RESOURCE if is_replaced else None
    ):
        resource = (
            resource_type.create(declaration)
            if is_replaced
            else resource_type.update(before.resource, before.declaration, declaration)
        )
        after = DeployedResource(declaration=declaration, resource=resource)
        stack.deployed_resources[declaration.logical_id] = after
    is_moved = resource.may_move and after.physical_resource_id != before.physical_resource_id
    reason = _MOVE_REASON if is_moved else None
    stack.tell(declaration, "UPDATE_COMPLETE", physical_id=after.physical_resource_id, reason=reason)
    kind = Change.REPLACEMENT if is_replaced else Change.MOVE if is_moved else Change.UPDATE
    return Step(kind=kind, before=before, after=after)


def delete(stack: EmbeddedStack, deployed_resource: DeployedResource) -> None:
    """Delete a resource; what the stack knows under its logical id is not touched."""
    declaration, physical_id = deployed_resource.declaration, deployed_resource.physical_resource_id
    with _report_events(stack, declaration, "DELETE", deployed_resource):
        hosted_type(declaration.type).delete(deployed_resource.resource, declaration)
    stack.tell(declaration, "DELETE_COMPLETE", physical_id=physical_id)


def retain(stack: EmbeddedStack, deployed_resource: DeployedResource) -> None:
    """Leave a resource to the account."""
    stack.tell(
        deployed_resource.declaration, "DELETE_SKIPPED", physical_id=deployed_resource.physical_resource_id
    )


def let_go(stack: EmbeddedStack, deployed_resource: DeployedResource) -> None:
    """Delete a new resource in a rollback; one with the policy `Retain` is left behind."""
    if deployed_resource.declaration.deletion_policy == "Retain":
        retain(stack, deployed_resource)
    else:
        delete(stack, deployed_resource)


def undo_creation(stack: EmbeddedStack, step: Step) -> None:
    """Delete what a step created in a stack that is not created; what it imported is left to the account."""
    if step.kind is Change.IMPORT:
        retain(stack, step.after)
    else:
        let_go(stack, step.after)


def take_back(stack: EmbeddedStack, step: Step) -> list[DeployedResource]:
    """Undo a step, and return what is to be deleted when everything else is undone."""
    logical_id = step.after.logical_resource_id
    if step.kind is Change.IMPORT:
        retain(stack, stack.deployed_resources.pop(logical_id))
        return []
    if step.before is None:
        return [stack.deployed_resources.pop(logical_id)]
    if step.kind is Change.REPLACEMENT:
        skip(stack, step)
        return [step.after]
    back = change(stack, step.after, step.before.declaration)
    return [step.after] if back.kind is Change.MOVE else []


def skip(stack: EmbeddedStack, step: Step) -> None:
    """Take a step for undone: the resource before it counts again."""
    assert step.before is not None  # noqa: S101 (only what was updated can be skipped)
    stack.deployed_resources[step.before.logical_resource_id] = step.before
    stack.tell(step.before.declaration, "UPDATE_COMPLETE", physical_id=step.before.physical_resource_id)
