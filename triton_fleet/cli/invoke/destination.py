"""Which of an endpoint's models a call goes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The TargetModel of a multi-model endpoint, or route and version of a shared container."""

    target: str | None = None
    model: str | None = None
    version: int | None = None

    @property
    def options(self) -> dict[str, bool]:
        """The options that name it, and whether each is given."""
        given = {"--target": self.target, "--model": self.model, "--version": self.version}
        return {option: value is not None for option, value in given.items()}
