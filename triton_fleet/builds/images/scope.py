"""The variables that hold within a stage, as far as the Dockerfile and the spec give them values."""

from __future__ import annotations

from triton_fleet.builds.images.dockerfile import PREDEFINED, Dockerfile
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.substitution import UnresolvedError, substitute
from triton_fleet.spec.image import TRITON_IMAGE


class StageScope:
    """The variables at one instruction of a stage; those of the base image are not known."""

    def __init__(self, dockerfile: Dockerfile) -> None:
        self._dockerfile = dockerfile
        self._given = {**PREDEFINED, **dockerfile.arguments, TRITON_IMAGE: dockerfile.triton_image}
        self._values: dict[str, str] = {}

    def pass_by(self, instruction: Instruction) -> None:
        """Take what an ARG or ENV declares; every other instruction changes nothing."""
        if instruction.keyword not in ("ARG", "ENV"):
            return
        declared = dict[str, str | None]()
        for name, raw in assignments(instruction):
            value = self._given.get(name) if instruction.keyword == "ARG" else None
            if value is None:
                value = self._dockerfile.globals.get(name) if raw is None else self.resolve(raw)
            declared[name] = value
        for name, value in declared.items():
            if value is None:
                self._values.pop(name, None)
            else:
                self._values[name] = value

    def resolve(self, text: str) -> str | None:
        """A text with its values; None where one is not known."""
        try:
            resolved = substitute(text, self._values, self._dockerfile.escape)
        except UnresolvedError:
            return None
        return None if resolved.unset else resolved.text
