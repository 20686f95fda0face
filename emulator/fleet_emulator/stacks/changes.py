"""Change sets: the changes that CloudFormation foresees, and the names that exist already."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

from moto.cloudformation.models import ChangeSet

from fleet_emulator.stacks.resources import in_dependency_order, referred_attributes
from fleet_emulator.stacks.stack import EmbeddedStack, Target
from fleet_emulator.types.catalog import recreates
from fleet_emulator.types.moto_types import existing_resource
from fleet_emulator.types.resource import RETAINING, Declaration, Resource

FAILED_VALIDATION = (
    "The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck]. To "
    "troubleshoot Early Validation errors, use the DescribeEvents API for detailed failure information."
)
"""Source: github.com/aws/aws-cdk-cli issue 1000, and further public reports."""
_NOT_IMPORTABLE = (
    "CloudFormation is attempting to import some resources because they already exist in your account. The "
    "resources must have the DeletionPolicy attribute set to 'Retain' or 'RetainExceptOnCreate' in the "
    "template for successful import. The affected resources are {}"
)
"""Source: the CDK CLI, which reads this text; its middle part is from memory."""


@dataclass(frozen=True, kw_only=True)
class NameConflict:
    """A resource that a change set would create, and the one that has its name."""

    declared: Declaration
    resource: Resource
    id: str = field(default_factory=lambda: str(uuid4()))
    time: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_event(self, stack_id: str) -> dict[str, Any]:
        """The event of it in DescribeEvents.

        Source of the texts: github.com/aws-cloudformation/rain pull request 744.
        """
        kind, logical_id = self.declared.type, self.declared.logical_id
        whose = f"type '{kind}' with identifier '{self.resource.physical_resource_id}'"
        return {
            "EventId": self.id,
            "StackId": stack_id,
            "OperationType": "CREATE_CHANGESET",
            "EventType": "VALIDATION_ERROR",
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": "",
            "ResourceType": kind,
            "Timestamp": self.time,
            "ValidationFailureMode": "FAIL",
            "ValidationName": "NAME_CONFLICT_VALIDATION",
            "ValidationStatus": "FAILED",
            "ValidationStatusReason": f"Resource of {whose} already exists.",
            "ValidationPath": f"/Resources/{logical_id}",
        }


def import_refusal(conflicts: Sequence[NameConflict]) -> str:
    """Why the resources that have the names are not imported; "" if they are."""
    unkept = [conflict for conflict in conflicts if conflict.declared.deletion_policy not in RETAINING]
    names = (f"{each.declared.logical_id} ({each.resource.physical_resource_id})" for each in unkept)
    return _NOT_IMPORTABLE.format(", ".join(names)) if unkept else ""


UNKNOWN = "{{changeSet:KNOWN_AFTER_APPLY}}"
"""What stands for a value that only the execution gives; source: a description with IncludePropertyValues."""
_NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)
CONTEXTS = ("BeforeContext", "AfterContext")
ATTRIBUTES = ("DeletionPolicy", "Metadata", "UpdateReplacePolicy")

Change = dict[str, Any]
Detail = dict[str, Any]


class _Unknown(Resource):
    """A resource that does not exist yet, or may be another one by then."""

    def __init__(self) -> None:
        super().__init__(UNKNOWN)

    def get_cfn_attribute(self, name: str) -> Any:
        """Unknown as well."""
        return UNKNOWN


class EmbeddedChangeSet(ChangeSet):
    """A change set with the changes as they were foreseen when it was made."""

    reverted: frozenset[str] = frozenset()
    """Logical ids of resources whose drift it reverts."""
    imported: frozenset[str] = frozenset()
    """Logical ids of resources that exist, and become the stack's when it is executed."""

    @property
    def target(self) -> Target:
        """What the stack becomes when it is executed."""
        return Target(
            template=self.template,
            parameters=self.parameters,
            tags=self.tags or {},
            reverted=self.reverted,
            imported=self.imported,
        )

    def diff(self) -> list[Any]:
        """Foresee the changes; moto calls it by this name."""
        changes = Changes(cast(EmbeddedStack, self.stack), self.target)
        self._changes = changes.as_changes()
        self.conflicts = changes.conflicts
        return []

    def validate(self) -> None:
        """Be executable, unless nothing changes or a name exists."""
        stack, self.execution_status = cast(EmbeddedStack, self.stack), "UNAVAILABLE"
        if not self.reverted and not stack.would_change(self.target):
            self.status, self.status_reason = "FAILED", _NO_CHANGES
        elif self.conflicts and not self.imported:
            self.status, self.status_reason = "FAILED", FAILED_VALIDATION
        else:
            self.status, self.execution_status, self.status_reason = "CREATE_COMPLETE", "AVAILABLE", None

    def import_existing(self) -> None:
        """Import what exists rather than fail (ImportExistingResources), if its policy retains it."""
        if refusal := import_refusal(self.conflicts):
            self.status, self.execution_status, self.status_reason = "FAILED", "UNAVAILABLE", refusal
            return
        self.imported = frozenset(conflict.declared.logical_id for conflict in self.conflicts)
        for change in self._changes:
            if change["LogicalResourceId"] in self.imported:
                change["Action"] = "Import"
        self.validate()

    def as_changes(self, *, values: bool) -> list[Change]:
        """Each ResourceChange of DescribeChangeSet, with the values of properties or without."""
        hidden = () if values else CONTEXTS
        return [
            {key: value for key, value in change.items() if key not in hidden} for change in self._changes
        ]


class Changes:
    """The changes that would bring a stack to a target, each resource after those that it refers to."""

    def __init__(self, stack: EmbeddedStack, target: Target) -> None:
        self._stack = stack
        self.conflicts: list[NameConflict] = []
        """Known after `as_changes`."""
        self._wanted = stack.resolved(stack.parse_template(target.template), target.parameters)
        self._before: Mapping[str, Any] = stack.template_dict.get("Resources", {})
        self._after: Mapping[str, Any] = self._wanted.template.get("Resources", {})

    def as_changes(self) -> list[Change]:
        """A ResourceChange for each resource that changes, with its BeforeContext and AfterContext."""
        changes, kept = list[Change](), set[str]()
        for logical_id in in_dependency_order(self._after):
            declared = self._wanted.foreseen(logical_id, UNKNOWN)
            if declared is None:
                continue
            kept.add(logical_id)
            changes += self._change(logical_id, declared)
        for logical_id, deployed in self._stack.deployed.items():
            if logical_id not in kept:
                changes.append(
                    {
                        "Action": "Remove",
                        "LogicalResourceId": logical_id,
                        "PhysicalResourceId": deployed.physical_resource_id,
                        "ResourceType": deployed.declared.type,
                        "Scope": [],
                        "Details": [],
                        "BeforeContext": _context(deployed.declared),
                    }
                )
        return changes

    def _change(self, logical_id: str, declared: Declaration) -> Iterator[Change]:
        deployed = self._stack.deployed.get(logical_id)
        change: Change = {"LogicalResourceId": logical_id, "ResourceType": declared.type}
        if deployed is None:
            if (resource := existing_resource(declared)) is not None:
                self.conflicts.append(NameConflict(declared=declared, resource=resource))
            self._wanted.place(logical_id, _Unknown())
            context = {"AfterContext": _context(declared)}
            yield {"Action": "Add", **change, "Scope": [], "Details": [], **context}
            return
        details = [*self._properties(deployed.declared, declared), *self._attributes(logical_id)]
        if not details:
            return
        replacement = _replacement(details)
        if replacement != "False":
            self._wanted.place(logical_id, _Unknown())
        yield {
            "Action": "Modify",
            **change,
            "PhysicalResourceId": deployed.physical_resource_id,
            "Replacement": replacement,
            "Scope": sorted({detail["Target"]["Attribute"] for detail in details}),
            "Details": details,
            "BeforeContext": _context(deployed.declared),
            "AfterContext": _context(declared),
        }

    def _properties(self, before: Declaration, declared: Declaration) -> Iterator[Detail]:
        for name in sorted(declared.changed(before)):
            recreated = _recreates(before, declared, name)
            target = {"Attribute": "Properties", "Name": name, "RequiresRecreation": recreated}
            if name == "Tags":
                target = {"Attribute": "Tags", "RequiresRecreation": recreated}
            dynamic = UNKNOWN in json.dumps(declared.properties.get(name))
            yield {
                "Target": target,
                "Evaluation": "Dynamic" if dynamic else "Static",
                **self._source(declared.logical_id, name, dynamic=dynamic),
            }

    def _source(self, logical_id: str, name: str, *, dynamic: bool) -> dict[str, str]:
        """Whose change it is; a value that was rewritten is its own."""
        was, becomes = (
            each.get(logical_id, {}).get("Properties", {}).get(name) for each in (self._before, self._after)
        )
        if was != becomes:
            return {"ChangeSource": "DirectModification"}
        if not dynamic:
            parameters = self._wanted.template.get("Parameters", {})
            causes = [each for each, _ in referred_attributes(becomes) if each in parameters]
            return {"ChangeSource": "ParameterReference", **({"CausingEntity": causes[0]} if causes else {})}
        for referred, attribute in referred_attributes(becomes):
            if isinstance(self._wanted.placed(referred), _Unknown):
                entity = f"{referred}.{attribute}" if attribute else referred
                source = "ResourceAttribute" if attribute else "ResourceReference"
                return {"ChangeSource": source, "CausingEntity": entity}
        return {"ChangeSource": "Automatic"}

    def _attributes(self, logical_id: str) -> Iterator[Detail]:
        before, after = self._before.get(logical_id, {}), self._after[logical_id]
        for name in ATTRIBUTES:
            if before.get(name) != after.get(name):
                target = {"Attribute": name, "RequiresRecreation": "Never"}
                yield {"Target": target, "Evaluation": "Static", "ChangeSource": "DirectModification"}


def _recreates(before: Declaration, declared: Declaration, name: str) -> str:
    """Whether the resource is replaced when this property changes."""
    alone = {key: value for key, value in before.properties.items() if key != name}
    if name in declared.properties:
        alone[name] = declared.properties[name]
    return "Always" if recreates(before, replace(before, properties=alone)) else "Never"


def _replacement(details: list[Detail]) -> str:
    evaluations = {
        detail["Evaluation"] for detail in details if detail["Target"]["RequiresRecreation"] == "Always"
    }
    return "True" if "Static" in evaluations else "Conditional" if evaluations else "False"


def _context(declared: Declaration) -> str:
    return json.dumps({"Properties": declared.properties})
