"""What the parts of resolve share: the inputs, and findings at the place of a key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fleet.findings import Finding
from fleet.resolve.endpoint import Place
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.lock import Lock
from fleet.spec.project import LoadedSpec
from fleet.spec.source import KeyPath, finding_at


@dataclass
class Context:
    """One endpoint on its way to being resolved; `findings` grows, and nothing else changes."""

    loaded: LoadedSpec
    place: Place
    lock: Lock | None
    lock_file: Path
    findings: list[Finding] = field(default_factory=list)

    @property
    def spec(self) -> EndpointSpec:
        """The spec as it holds in this environment."""
        return self.loaded.spec

    def refuse(self, code: str, path: KeyPath, message: str, hint: str) -> None:
        """Add an error at the place of a key, in whichever file it stands."""
        self.findings.append(finding_at(self.loaded.source.mark(path), code, message, hint))

    def refuse_lock(self, code: str, message: str) -> None:
        """Add an error of the endpoint's lock; the remedy is the command that writes it."""
        hint = f"run `fleet lock --env {self.place.environment} {self.spec.endpoint}`"
        self.findings.append(Finding(code=code, message=message, file=self.lock_file, hint=hint))
