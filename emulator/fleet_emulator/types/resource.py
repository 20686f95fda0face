"""The interface of a resource type, the resources of a stack, and types that do nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException, ValidationError
from moto.cloudformation.utils import random_suffix

from fleet_emulator import process_state

# The values of DeletionPolicy that keep a resource when its stack lets go of it.
RETAINING_POLICIES = ("Retain", "RetainExceptOnCreate")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A resource as its template declares it, with all functions and references resolved."""

    logical_id: str
    type: str
    properties: Mapping[str, Any]
    stack_name: str
    stack_id: str
    account_id: str
    region: str
    deletion_policy: str = "Delete"
    update_replace_policy: str = "Delete"

    def generated_name(self, *, longest: int = 63) -> str:
        """A name as CloudFormation makes it for SageMaker: the logical id and a random suffix."""
        suffix = random_suffix()
        return f"{self.logical_id[: longest - len(suffix) - 1]}-{suffix}"

    def changed_properties(self, before: Declaration) -> set[str]:
        """The names of the properties that differ."""
        names = self.properties.keys() | before.properties.keys()
        return {name for name in names if self.properties.get(name) != before.properties.get(name)}


class Resource:
    """A resource as other resources see it: what `Ref` and `Fn::GetAtt` give."""

    may_move = False
    """Whether an update may answer with another physical id and leave the former resource to be deleted."""

    def __init__(
        self, physical_resource_id: str, attributes: Mapping[str, str] | None = None, *, note: str = ""
    ) -> None:
        self.physical_resource_id = physical_resource_id
        self.note = note
        self._attributes = attributes or {}

    def get_cfn_attribute(self, name: str) -> Any:
        """The value of `Fn::GetAtt`; moto calls it by this name."""
        if name not in self._attributes:
            raise UnformattedGetAttTemplateException
        return self._attributes[name]


class UnfinishedError(ValidationError):
    """A resource failed, and exists all the same: a rollback has to restore it, or to delete it."""

    def __init__(self, reason: str, resource: Resource) -> None:
        self.resource = resource
        super().__init__(message=reason)


class HandlerError(ValidationError):
    """A refusal of CloudFormation's own handler of a type, before the service is asked."""

    def __init__(self, message: str, code: str) -> None:
        text = f'Resource handler returned message: "{message}" (HandlerErrorCode: {code})'
        super().__init__(message=text)


class ResourceType(Protocol):
    """One type of resource: all its methods work on moto's backends, and raise what AWS would refuse with."""

    replacing_properties: frozenset[str] = frozenset()
    """The properties of which a change replaces the resource."""

    def create(self, declaration: Declaration) -> Resource:
        """Make the resource."""

    def replaces(self, before: Declaration, declaration: Declaration) -> bool:
        """Whether the change needs a new resource, rather than an update of the one that exists."""
        return not declaration.changed_properties(before).isdisjoint(self.replacing_properties)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Change the resource where it is."""

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Take the resource away."""


@dataclass(frozen=True, kw_only=True)
class DeployedResource:
    """A resource of a stack with the declaration that made it so."""

    declaration: Declaration
    resource: Resource = field(compare=False)

    @property
    def logical_resource_id(self) -> str:
        """As DescribeStackResources names it; moto reads it by this name."""
        return self.declaration.logical_id

    @property
    def physical_resource_id(self) -> str:
        """As DescribeStackResources names it."""
        return self.resource.physical_resource_id

    @property
    def cf_resource_type(self) -> str:
        """The resource type, by the name that moto reads."""
        return self.declaration.type


class NoEffect(ResourceType):
    """A type whose resources do nothing locally, and would do nothing that could be seen."""

    def create(self, declaration: Declaration) -> Resource:
        """Give it a name."""
        return Resource(declaration.generated_name())

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Change nothing."""
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete nothing."""


class SkippedResource(Resource):
    """Stands for a resource that does not exist; its attributes are placeholders that show it."""

    def get_cfn_attribute(self, name: str) -> str:
        """A placeholder, so that what refers to it can still be deployed."""
        return f"{self.physical_resource_id}.{name}"


class UnhostedType(NoEffect):
    """A type that nothing hosts: recorded, and reported in the stack's events."""

    def create(self, declaration: Declaration) -> Resource:
        """Record the resource by its name."""
        process_state.current().skip(
            f"{declaration.type} {declaration.logical_id} ({declaration.stack_name})"
        )
        note = f"Skipped by the embedded AWS, which does not host {declaration.type}"
        return SkippedResource(f"skipped-{declaration.generated_name()}", note=note)
