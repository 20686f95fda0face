"""A stack with what it has deployed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, cast

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import Event, Stack, cloudformation_backends
from moto.cloudformation.parsing import OutputMap

from fleet_emulator.stacks.drift import Detection, drift_of
from fleet_emulator.stacks.resources import Resources
from fleet_emulator.types.resource import Declaration, DeployedResource

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, kw_only=True)
class Target:
    """The state that a stack is to reach; `template` is its text, `parameters` are as they were given."""

    template: str
    parameters: Mapping[str, Any]
    tags: Mapping[str, str]
    reverted_ids: frozenset[str] = frozenset()
    """Logical ids of unchanged resources that are updated all the same, as they have drifted."""
    imported_ids: frozenset[str] = frozenset()
    """Logical ids of new resources that the account has already."""


class StoppedRollback(Protocol):
    """The rollback of an update that stopped at a resource which cannot be put back."""

    @property
    def failed_ids(self) -> list[str]:
        """The logical ids of the resources that may be skipped."""

    @property
    def unlisted_resources(self) -> list[DeployedResource]:
        """Resources that exist besides those of the stack."""

    def resume(self, skipped_ids: Collection[str]) -> StoppedRollback:
        """The rollback from where it stopped, without the skipped resources."""

    def make(self) -> None:
        """Put every resource back."""


class EmbeddedStack(Stack):
    """A stack of which moto keeps the description and we the resources."""

    status_reason: str | None = None
    rollback: StoppedRollback | None = None
    """The rollback that stopped, while the stack is in UPDATE_ROLLBACK_FAILED."""
    detection: Detection | None = None
    """The last detection of drift."""
    is_detection_over = True

    def __init__(self, *, name: str, stack_id: str, account_id: str, region: str) -> None:
        self.deployed_resources: dict[str, DeployedResource] = {}
        self.drifts: dict[str, dict[str, Any]] = {}
        super().__init__(stack_id, name, {}, {}, account_id, region)
        self.status = "REVIEW_IN_PROGRESS"

    def is_created(self) -> bool:
        """Answer moto, which asks each model."""
        return not self.in_progress

    @staticmethod
    def cloudformation_name_type() -> str:
        """Answer moto, which asks each model; nothing creates a stack by its resource type here."""
        return ""

    @property
    def in_progress(self) -> bool:
        """Whether a run is under way."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    @property
    def stack_resources(self) -> Iterable[Any]:
        """The resources of DescribeStackResources."""
        return list(self.deployed_resources.values())

    def last_event_of(self, deployed_resource: DeployedResource) -> Event:
        """The last event of a resource, and not of one that it replaced."""
        ids = (deployed_resource.logical_resource_id, deployed_resource.physical_resource_id)
        return next(
            event
            for event in reversed(self.events)
            if (event.logical_resource_id, event.physical_resource_id) == ids
        )

    @property
    def stack_parameters(self) -> dict[str, Any]:
        """The parameters as they were given: moto gives their values, and then looks a value up as a name."""
        return {
            name: self.parameters.get(name, parameter.get("Default"))
            for name, parameter in self.template_dict.get("Parameters", {}).items()
        }

    @property
    def parameter_list(self) -> list[dict[str, Any]]:
        """The parameters of DescribeStacks."""
        return [
            {
                "ParameterKey": name,
                "ParameterValue": value,
                "ResolvedValue": self.resource_map.resolved_parameters[name],
            }
            for name, value in self.stack_parameters.items()
        ]

    def resolve(self, template: dict[str, Any], parameters: Mapping[str, Any]) -> Resources:
        """A template for this stack, resolved as far as it can be before its resources exist."""
        resources = Resources(
            self.stack_id,
            self.name,
            dict(parameters),
            self.tags,
            region_name=self.region_name,
            account_id=self.account_id,
            template=template,
            cross_stack_resources=cloudformation_backends[self.account_id][self.region_name].exports,
        )
        resources.load()
        for logical_id, deployed_resource in self.deployed_resources.items():
            resources.place(logical_id, deployed_resource.resource)
        return resources

    def would_change(self, target: Target) -> bool:
        """Whether anything differs, values of parameters and of other stacks' outputs included."""
        current = cast(Resources, self.resource_map)
        target_resources = self.resolve(self.parse_template(target.template), target.parameters)
        return (
            target_resources.template != current.template
            or target_resources.resolved_parameters != current.resolved_parameters
            or dict(target.tags) != self.tags
        )

    def drifted_ids(self) -> frozenset[str]:
        """The logical ids of resources that differ from the template where they exist."""
        drifts = (drift_of(drift, self.stack_id) for drift in self.deployed_resources.values())
        return frozenset(
            drift["LogicalResourceId"] for drift in drifts if drift["StackResourceDriftStatus"] == "MODIFIED"
        )

    def become(self, target: Target, resources: Resources) -> None:
        """Describe itself, its outputs and its exports by what is now deployed.

        Raises:
            ValidationError: an output cannot be resolved, or another stack has an export of that name.
        """
        output_map = OutputMap(resources, resources.template, self.stack_id)
        list(output_map.values())
        exports = cloudformation_backends[self.account_id][self.region_name].exports
        ours = {export.name: export for export in output_map.exports}
        for name in ours.keys() & exports.keys():
            if exports[name].exporting_stack_id != self.stack_id:
                owner = exports[name].exporting_stack_id.split("/")[1]
                raise ValidationError(message=f"Export with name {name} is already exported by stack {owner}")
        self.withdraw_exports()
        exports.update(ours)
        self.template, self.template_dict = target.template, resources.template
        self.description = self.template_dict.get("Description")
        self.parameters, self.tags = dict(target.parameters), dict(target.tags)
        self.resource_map, self.output_map = resources, output_map

    def withdraw_exports(self) -> None:
        """Export nothing any more."""
        exports = cloudformation_backends[self.account_id][self.region_name].exports
        for export in [export for export in exports.values() if export.exporting_stack_id == self.stack_id]:
            del exports[export.name]

    def enter(self, status: str, reason: str | None = None) -> None:
        """Change the status, and add an event of it."""
        self.status, self.status_reason = status, reason
        self.add_event(
            self.name, "AWS::CloudFormation::Stack", status, physical_id=self.stack_id, reason=reason
        )

    def tell(
        self, declaration: Declaration, status: str, *, physical_id: str = "", reason: str | None = None
    ) -> None:
        """Add an event about a resource."""
        self.add_event(
            declaration.logical_id,
            declaration.type,
            status,
            physical_id=physical_id,
            reason=reason,
            properties=json.dumps(declaration.properties),
        )

    def add_event(
        self,
        logical_id: str,
        resource_type: str,
        status: str,
        *,
        physical_id: str,
        reason: str | None,
        properties: str | None = None,
    ) -> None:
        """Add an event, later than the last one."""
        event = Event(
            stack_id=self.stack_id,
            stack_name=self.name,
            logical_resource_id=logical_id,
            physical_resource_id=physical_id,
            resource_type=resource_type,
            resource_status=status,
            resource_status_reason=reason,
            resource_properties=properties,
        )
        if self.events:
            # The CDK CLI sorts by milliseconds, and shows events of the same one newest first.
            event.timestamp = max(event.timestamp, self.events[-1].timestamp + _MILLISECOND)
        self.events.append(event)

    def _create_resource_map(self) -> Resources:
        return self.resolve({"Resources": {}}, {})
