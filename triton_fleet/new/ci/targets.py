"""The environments of a fleet, as workflows check, deploy and promote them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.catalog.images import partition_of
from triton_fleet.findings import CannotRunError, all_of
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.trusts import AccessRole, access_role, audience, github_environment

_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")
"""A folder that stands for itself in the patterns and the shell of a workflow."""


@dataclass(frozen=True)
class Target:
    """One environment of an account; without `promoted_from` it follows the default branch."""

    settings: Environment

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.settings.environment

    @property
    def source(self) -> str | None:
        """The environment that it is promoted from."""
        return self.settings.promoted_from

    @property
    def github_environment(self) -> str:
        """The GitHub environment whose jobs deploy it."""
        return github_environment(self.settings)

    @property
    def audience(self) -> str:
        """The audience of the token of a job."""
        return audience(self.settings.region)

    def role(self, role: AccessRole) -> str:
        """The ARN of a role that its `access` makes."""
        settings = self.settings
        partition, name = partition_of(settings.region).name, access_role(self.name, settings.region, role)
        return f"arn:{partition}:iam::{settings.account}:role/{name}"


def targets_of(root: Path) -> list[Target]:
    """All environments except this machine's, by name.

    Raises:
        FindingsError: every mistake of their files.
    """
    fleet = FleetFiles(root)
    names = [name for name in fleet.environments if name != LOCAL]
    return [Target(environment) for environment in all_of(names, fleet.environment)]


def prefix_of(root: Path, top: Path) -> str:
    """The folder of the fleet in its Git repository, which ends in a slash; empty where they are one.

    Raises:
        CannotRunError: the folder's name has signs with a meaning to a workflow.
    """
    folder = root.resolve().relative_to(top).as_posix()
    if folder == ".":
        return ""
    if not _PLAIN.fullmatch(folder):
        raise CannotRunError(
            f"a workflow cannot name the folder {folder!r}",
            "rename it: letters, digits, hyphens, underscores and dots",
        )
    return f"{folder}/"


def fill(template: str, **values: str) -> str:
    """A template with each `@NAME@` replaced."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def indent(lines: Sequence[str], by: int) -> str:
    """Lines behind so many spaces, joined."""
    return "\n".join(f"{' ' * by}{line}" if line else "" for line in lines)
