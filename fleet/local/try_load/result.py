"""The answer of this machine's real Triton to a model repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.findings import Finding, Severity
from fleet.local.triton.staging import Rewrite

REFUSED, SILENT, UNSURE = "FL490", "FL491", "FL492"


@dataclass(frozen=True, kw_only=True)
class TryLoadResult:
    """Whether the repository was loaded, and in Triton's own words why not.

    Attributes:
        path: The folder or the archive, as the user names it.
        release: The Triton that was asked.
        loaded: Whether it was.
        reason: Why not; empty if it was.
        file: What the reason is about, below `path`; None where it names none.
        line: The line of that file; None where it names none.
        ready: The model directories that are loaded; in multi-model mode the main one by its archive's name.
        rewrites: What was loaded otherwise than it is written, as this machine lacks a GPU or the backend.
        stand_ins: The models whose weights were not loaded, with the backends that they need.
        doubts: What keeps the answer from being that of the container.
        silent: Whether Triton gave no answer and never would, or not in time.
    """

    path: Path
    release: str
    loaded: bool
    reason: str = ""
    file: Path | None = None
    line: int | None = None
    ready: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    stand_ins: dict[str, str]
    doubts: tuple[str, ...] = ()
    silent: bool = False

    def lines(self) -> list[str]:
        """The answer for people."""
        verdict = (
            f"loads it; ready: {', '.join(self.ready)}" if self.loaded else f"does not load it: {self.reason}"
        )
        return [
            f"Triton {self.release} {verdict}",
            *(
                f"Triton's core alone validated the configuration of {model!r}; the model's weights were not"
                f" loaded: stand-in for {backend}"
                for model, backend in self.stand_ins.items()
            ),
            *(f"changed to load on this machine: {each}" for each in self.rewrites),
            *self.doubts,
        ]


def findings(answer: TryLoadResult) -> list[Finding]:
    """The answer as a finding, if the repository was not loaded."""
    if answer.loaded:
        return []
    message = f"Triton {answer.release} does not load it: {answer.reason}"
    found = Finding(code=REFUSED, message=message, file=answer.file or answer.path, line=answer.line)
    if answer.silent:
        message = f"Triton {answer.release} gives no answer: {answer.reason}"
        return [Finding(code=SILENT, message=message, file=found.file, line=found.line)]
    if answer.doubts:
        hint = "; ".join(answer.doubts)
        return [
            Finding(
                code=UNSURE,
                message=message,
                file=found.file,
                line=found.line,
                hint=hint,
                severity=Severity.WARNING,
            )
        ]
    return [found]
