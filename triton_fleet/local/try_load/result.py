"""The answer of this machine's real Triton to a model repository."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_fleet.catalog.backends import backends
from triton_fleet.findings import Finding, Severity
from triton_fleet.local.triton.staging import Rewrite
from triton_fleet.local.try_load.parts import LoadedParts

REFUSED, SILENT, UNSURE, WRONG_FILE = "FL490", "FL491", "FL492", "FL478"
OF_STAND_IN = (
    "export the model for the ONNX Runtime of that release; `--triton` names the release that you deploy"
)


@dataclass(frozen=True, kw_only=True)
class TryLoadResult:
    """Whether the repository was loaded, what loaded it, and in Triton's own words why not.

    Attributes:
        path: The folder or the archive, as the user names it.
        release: The Triton that was asked.
        image_release: The Triton of the image, for which stand-ins answer; empty where none was asked.
        reason: Why it was not loaded; empty if it was.
        file: What the reason is about, below `path`; None where it names none.
        line: The line of that file; None where it names none.
        by_stand_in: Whether the reason is that of the stand-in for ONNX Runtime's backend.
        ready: The model directories that are loaded; in multi-model mode the main one by its archive's name.
        parts: What loaded each model, if there is no reason.
        rewrites: What was loaded otherwise than it is written, as this machine lacks a GPU or the backend.
        doubts: What keeps the answer from being that of the container.
        silent: Whether Triton gave no answer and never would, or not in time.
    """

    path: Path
    release: str
    image_release: str = ""
    reason: str = ""
    file: Path | None = None
    line: int | None = None
    by_stand_in: bool = False
    ready: tuple[str, ...] = ()
    parts: LoadedParts = field(default_factory=lambda: LoadedParts(untried_models={}))
    rewrites: tuple[Rewrite, ...] = ()
    doubts: tuple[str, ...] = ()
    silent: bool = False

    @property
    def loaded(self) -> bool:
        """Whether every model was loaded, by Triton or by a stand-in."""
        return not self.reason and not self.parts.untried_models

    def lines(self) -> list[str]:
        """The answer for people."""
        wrong = self.parts.wrong_files
        return [
            *(f"not tried, and cannot be loaded: {each.file}: {each.problem}" for each in wrong),
            *([] if wrong else [self._refusal if self.reason else "; ".join(self._verdict())]),
            *(f"changed to load on this machine: {rewrite}" for rewrite in self.rewrites),
            *self.doubts,
        ]

    @property
    def untried_line(self) -> str:
        """The line about models that were not tried; empty where all were."""
        return self.lines()[0] if self.parts.untried_models else ""

    @property
    def _refusal(self) -> str:
        of_stand_in = f"a stand-in for ONNX Runtime's backend, as Triton {self.image_release} has it,"
        return (
            f"{of_stand_in if self.by_stand_in else f'Triton {self.release}'} does not load it: {self.reason}"
        )

    def _verdict(self) -> list[str]:
        """The models by what loaded them, one clause each."""
        parts, clauses = self.parts, list[str]()
        if parts.untried_models:
            models = ", ".join(
                f"{model!r} ({_named(backend)})" for model, backend in parts.untried_models.items()
            )
            backend = "backend" if len(set(parts.untried_models.values())) == 1 else "backends"
            clauses.append(f"not tried, as this machine lacks the {backend}: {models}")
        if parts.incomplete_ensembles:
            verb = "was" if len(parts.incomplete_ensembles) == 1 else "were"
            clauses.append(f"so {_quoted(parts.incomplete_ensembles)} {verb} not loaded as a whole")
        if parts.stand_in_models:
            is_all = not parts.untried_models and not parts.triton_models
            models = "it" if is_all else _quoted(parts.stand_in_models)
            within = f"within the versions that Triton {self.image_release} reads"
            clauses.append(f"a stand-in for ONNX Runtime's backend loads {models}, {within}")
        if parts.triton_models or not (parts.untried_models or parts.stand_in_models):
            clauses.append(f"Triton {self.release} loads {'the rest' if clauses else 'it'}")
        elif parts.untried_models:
            clauses.append(f"Triton {self.release} validated only {_configurations(parts)}")
        return [*clauses, f"ready: {', '.join(self.ready)}"] if self.ready else clauses


def _configurations(parts: LoadedParts) -> str:
    return (
        "its configuration"
        if len(parts.untried_models) == 1 and not parts.incomplete_ensembles
        else "configurations"
    )


def _named(backend: str) -> str:
    is_known = any(each.backend == backend for each in backends().values())
    return backend if is_known else f"{backend}, which the model or an image of your own has to bring"


def _quoted(models: tuple[str, ...]) -> str:
    return ", ".join(map(repr, models))


def findings(answer: TryLoadResult) -> list[Finding]:
    """The answer as findings, if the repository was refused."""
    if not answer.reason:
        return [
            Finding(
                code=WRONG_FILE,
                message=wrong_file.problem,
                file=answer.path / wrong_file.file,
                hint=wrong_file.hint,
            )
            for wrong_file in answer.parts.wrong_files
        ]
    message = answer.lines()[0]
    hint = OF_STAND_IN if answer.by_stand_in else ""
    refusal = Finding(
        code=REFUSED, message=message, file=answer.file or answer.path, line=answer.line, hint=hint
    )
    if answer.silent:
        message = f"Triton {answer.release} gives no answer: {answer.reason}"
        return [replace(refusal, code=SILENT, message=message, hint="")]
    if answer.doubts:
        return [replace(refusal, code=UNSURE, hint="; ".join(answer.doubts), severity=Severity.WARNING)]
    return [refusal]
