"""The inputs of an image's checks: Dockerfile, build context, the spec's settings, a stage's variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.builds.images.context import BuildContext
from triton_fleet.builds.images.dockerfile import BUILDKIT_VALUES, Dockerfile
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.substitution import UnresolvedError, substitute
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import TRITON_IMAGE
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
        """A finding about a line of the Dockerfile."""
        file = self.dockerfile.file
        return Finding(code=code, message=message, file=file, line=line, hint=hint, severity=severity)


class StageScope:
    """The variables at one instruction of a stage; those of the base image are not known."""

    def __init__(self, dockerfile: Dockerfile) -> None:
        self._dockerfile = dockerfile
        self._constants = {**BUILDKIT_VALUES, **dockerfile.arguments, TRITON_IMAGE: dockerfile.triton_image}
        self._values: dict[str, str] = {}

    def pass_by(self, instruction: Instruction) -> None:
        """Take what an ARG or ENV declares; every other instruction changes nothing."""
        if instruction.keyword not in ("ARG", "ENV"):
            return
        values = dict[str, str | None]()
        for name, raw in assignments(instruction):
            value = self._constants.get(name) if instruction.keyword == "ARG" else None
            if value is None:
                value = self._dockerfile.globals.get(name) if raw is None else self.resolve(raw)
            values[name] = value
        for name, value in values.items():
            if value is None:
                self._values.pop(name, None)
            else:
                self._values[name] = value

    def resolve(self, text: str) -> str | None:
        """A text with its values; None where one is not known."""
        try:
            substitution = substitute(text, self._values, self._dockerfile.escape)
        except UnresolvedError:
            return None
        return None if substitution.unset else substitution.text
