"""Types without any effect here: some need none, all others are skipped, and an event reports it."""

from __future__ import annotations

from fleet_emulator import process_state
from fleet_emulator.types.resource import Declaration, Resource


class NoEffect:
    """A type whose resources do nothing locally, and would do nothing that could be seen."""

    def create(self, declared: Declaration) -> Resource:
        """Give it a name."""
        return Resource(declared.generated_name())

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """Never."""
        return False

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Change nothing."""
        return resource

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete nothing."""


class SkippedResource(Resource):
    """Stands for a resource that does not exist; its attributes are placeholders that show it."""

    def get_cfn_attribute(self, name: str) -> str:
        """A placeholder, so that what refers to it can still be deployed."""
        return f"{self.physical_resource_id}.{name}"


class UnhostedType(NoEffect):
    """A type that nothing hosts: recorded, and reported in the stack's events."""

    def create(self, declared: Declaration) -> Resource:
        """Record the resource by its name."""
        process_state.current().skip(f"{declared.type} {declared.logical_id} ({declared.stack_name})")
        note = f"Skipped by the embedded AWS, which does not host {declared.type}"
        return SkippedResource(f"skipped-{declared.generated_name()}", note=note)
