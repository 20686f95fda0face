"""What the checks of an image read: Dockerfile, build context, and what the spec asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.builds.images.context import BuildContext
from triton_fleet.builds.images.dockerfile import Dockerfile
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import Mark


@dataclass(frozen=True, kw_only=True)
class ImageInputs:
    """One image of a spec.

    Attributes:
        dockerfile: Read with the build arguments of the spec.
        context: Of the Dockerfile's folder.
        release: The spec's `triton`, such as "25.04".
        environment: Which registries the build may read from.
        argument_mark: Where the spec has a build argument.
        mode: How the endpoint holds its models.
    """

    dockerfile: Dockerfile
    context: BuildContext
    release: str
    environment: Environment
    argument_mark: Callable[[str], Mark]
    mode: Mode

    @property
    def folder(self) -> Path:
        """The folder of the build context."""
        return self.context.folder

    @property
    def arguments(self) -> Mapping[str, str]:
        """The build arguments of the spec."""
        return self.dockerfile.arguments

    def finding(
        self, code: str, message: str, line: int, hint: str = "", severity: Severity = Severity.ERROR
    ) -> Finding:
        """What is wrong at a line of the Dockerfile."""
        file = self.dockerfile.file
        return Finding(code=code, message=message, file=file, line=line, hint=hint, severity=severity)
