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
_MOVED = "Requested update required the provider to create a new physical resource"


class Change(Enum):
    """What a step did to a resource; one that moved was updated, and what it was before is still there."""

    CREATED = "created"
    IMPORTED = "imported"
    UPDATED = "updated"
    MOVED = "moved"
    REPLACED = "replaced"


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
    declared: Declaration,
    verb: str,
    before: DeployedResource | None,
    reason: str | None = None,
) -> Iterator[None]:
    physical_id = "" if before is None else before.physical_resource_id
    stack.tell(declared, f"{verb}_IN_PROGRESS", physical_id=physical_id, reason=reason)
    try:
        with turn():
            yield
    except Exception as error:
        level = logging.WARNING if failures.is_said(error) else logging.ERROR
        log.log(level, "%s of %s in %s failed", verb, declared.logical_id, stack.name, exc_info=error)
        stack.tell(declared, f"{verb}_FAILED", physical_id=physical_id, reason=failures.reason_of(error))
        raise StepFailedError(declared.logical_id, _half_step(error, declared, before)) from error


def _half_step(error: Exception, declared: Declaration, before: DeployedResource | None) -> Step | None:
    if not isinstance(error, UnfinishedError):
        return None
    after = DeployedResource(declared=declared, resource=error.resource)
    return Step(kind=Change.CREATED if before is None else Change.UPDATED, before=before, after=after)


@contextmanager
def resolution(stack: EmbeddedStack, logical_id: str, resource_type: str) -> Iterator[None]:
    """Report a resource whose declaration cannot be resolved as failed before it began."""
    try:
        with turn():
            yield
    except Exception as error:
        log.warning("%s in %s cannot be resolved", logical_id, stack.name, exc_info=error)
        verb = "UPDATE" if logical_id in stack.deployed else "CREATE"
        reason = failures.reason_of(error)
        stack.add_event(logical_id, resource_type, f"{verb}_FAILED", physical_id="", reason=reason)
        raise StepFailedError(logical_id) from error


def create(stack: EmbeddedStack, declared: Declaration) -> Step:
    """Create a resource."""
    with _report_events(stack, declared, "CREATE", None):
        after = DeployedResource(declared=declared, resource=hosted_type(declared.type).create(declared))
        stack.deployed[declared.logical_id] = after
    stack.tell(
        declared,
        "CREATE_COMPLETE",
        physical_id=after.physical_resource_id,
        reason=after.resource.note or None,
    )
    return Step(kind=Change.CREATED, before=None, after=after)


def adopt(stack: EmbeddedStack, declared: Declaration) -> Step:
    """Import the resource that has the declared name; its settings stay as they are."""
    with _report_events(stack, declared, "IMPORT", None):
        resource = existing_resource(declared)
        if resource is None:
            raise ValidationError(message=f"Resource {declared.logical_id} does not exist")
        after = DeployedResource(declared=declared, resource=resource)
        stack.deployed[declared.logical_id] = after
    stack.tell(declared, "IMPORT_COMPLETE", physical_id=after.physical_resource_id)
    return Step(kind=Change.IMPORTED, before=None, after=after)


def change(stack: EmbeddedStack, before: DeployedResource, declared: Declaration) -> Step:
    """Update a resource where it is, or create its successor; the old one stays until the run is through."""
    resource_type = hosted_type(declared.type)
    replaced = recreates(before.declared, declared)
    with _report_events(stack, declared, "UPDATE", before, _NEW_PHYSICAL_RESOURCE if replaced else None):
        resource = (
            resource_type.create(declared)
            if replaced
            else resource_type.update(before.resource, before.declared, declared)
        )
        after = DeployedResource(declared=declared, resource=resource)
        stack.deployed[declared.logical_id] = after
    moved = resource.may_move and after.physical_resource_id != before.physical_resource_id
    reason = _MOVED if moved else None
    stack.tell(declared, "UPDATE_COMPLETE", physical_id=after.physical_resource_id, reason=reason)
    kind = Change.REPLACED if replaced else Change.MOVED if moved else Change.UPDATED
    return Step(kind=kind, before=before, after=after)


def delete(stack: EmbeddedStack, deployed: DeployedResource) -> None:
    """Delete a resource; what the stack knows under its logical id is not touched."""
    declared, physical_id = deployed.declared, deployed.physical_resource_id
    with _report_events(stack, declared, "DELETE", deployed):
        hosted_type(declared.type).delete(deployed.resource, declared)
    stack.tell(declared, "DELETE_COMPLETE", physical_id=physical_id)


def retain(stack: EmbeddedStack, deployed: DeployedResource) -> None:
    """Leave a resource to the account."""
    stack.tell(deployed.declared, "DELETE_SKIPPED", physical_id=deployed.physical_resource_id)


def let_go(stack: EmbeddedStack, deployed: DeployedResource) -> None:
    """Delete a new resource in a rollback; one with the policy `Retain` is left behind."""
    if deployed.declared.deletion_policy == "Retain":
        retain(stack, deployed)
    else:
        delete(stack, deployed)


def undo_creation(stack: EmbeddedStack, step: Step) -> None:
    """Delete what a step created in a stack that is not created; what it imported is left to the account."""
    if step.kind is Change.IMPORTED:
        retain(stack, step.after)
    else:
        let_go(stack, step.after)


def take_back(stack: EmbeddedStack, step: Step) -> list[DeployedResource]:
    """Undo a step, and return what is to be deleted when everything else is undone."""
    logical_id = step.after.logical_resource_id
    if step.kind is Change.IMPORTED:
        retain(stack, stack.deployed.pop(logical_id))
        return []
    if step.before is None:
        return [stack.deployed.pop(logical_id)]
    if step.kind is Change.REPLACED:
        skip(stack, step)
        return [step.after]
    back = change(stack, step.after, step.before.declared)
    return [step.after] if back.kind is Change.MOVED else []


def skip(stack: EmbeddedStack, step: Step) -> None:
    """Take a step for undone: the resource before it counts again."""
    assert step.before is not None  # noqa: S101 (only what was updated can be skipped)
    stack.deployed[step.before.logical_resource_id] = step.before
    stack.tell(step.before.declared, "UPDATE_COMPLETE", physical_id=step.before.physical_resource_id)
