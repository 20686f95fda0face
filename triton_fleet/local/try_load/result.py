"""The models of a repository that this machine has loaded, by what served them, and those not tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_fleet.catalog.backends import Backend, backend_facts, backends
from triton_fleet.core.reads import closure
from triton_fleet.findings import Finding, Severity
from triton_fleet.local.triton.staging import Rewrite
from triton_fleet.local.try_load.preparation import Preparation
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.file_formats import torchscript_problem, xgboost_json_problem
from triton_fleet.repository.loading.ensembles import steps_of
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import Model, ServingContainer
from triton_fleet.repository.model_files import expected_files
from triton_fleet.repository.reading.folder import read

ONNX_RUNTIME = "onnxruntime"
"""The backend whose stand-in loads a model as the backend does; of others only the structure is checked."""


@dataclass(frozen=True, kw_only=True)
class WrongFile:
    """A model's file that its backend cannot load, whatever its weights are.

    Attributes:
        file: Relative to the repository.
        problem: Why.
        hint: How to write one that it can.
    """

    file: Path
    problem: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class LoadedParts:
    """The models that were loaded, by what served them.

    Attributes:
        main: The model that answers, by its directory; None where that is not known.
        untried_models: The models that nothing on this machine loads, with their backends.
        stand_in_models: Those that the stand-in for ONNX Runtime's backend loaded.
        incomplete_ensembles: Ensembles with a model that was not tried.
        triton_models: What Triton itself loaded.
        wrong_files: Files of the models that were not tried.
    """

    main: str | None = None
    untried_models: Mapping[str, str]
    stand_in_models: tuple[str, ...] = ()
    incomplete_ensembles: tuple[str, ...] = ()
    triton_models: tuple[str, ...] = ()
    wrong_files: tuple[WrongFile, ...] = ()


def loaded_parts(preparation: Preparation, container: ServingContainer, root: str) -> LoadedParts:
    """The models of a repository that was loaded, by what served them.

    Args:
        preparation: The staged copy.
        container: The container that it was loaded for.
        root: The name of a model whose files are at the repository's root.

    Raises:
        FindingsError: the copy cannot be read.
    """
    contents = read(preparation.repository)
    plan = plan_load(contents, container)
    models = plan.models
    loaded_models = {
        model or root: models[model] for model in plan.loaded_models or models if model in models
    }
    untried_models = {
        name: preparation.stand_ins[name] for name in loaded_models if name in preparation.stand_ins
    }
    stand_ins = tuple(name for name, model in loaded_models.items() if model.backend == ONNX_RUNTIME)
    incomplete = _incomplete(loaded_models, untried_models)
    return LoadedParts(
        main=None if plan.main is None else plan.main or root,
        untried_models=untried_models,
        stand_in_models=stand_ins,
        incomplete_ensembles=incomplete,
        triton_models=tuple(
            name for name in loaded_models if name not in {*untried_models, *stand_ins, *incomplete}
        ),
        wrong_files=tuple(
            wrong
            for name in untried_models
            for wrong in _wrong_files(
                loaded_models[name], contents, preparation.repository, container.release
            )
        ),
    )


def _incomplete(models: Mapping[str, Model], untried_models: Iterable[str]) -> tuple[str, ...]:
    """The ensembles that have one of the models among their steps, or among those of their ensembles."""
    absent_models = set(untried_models)
    steps = {name: steps_of(model.config) for name, model in models.items()}
    parts = {
        name: closure([name], lambda model: steps.get(model, ())) for name in steps.keys() - absent_models
    }
    return tuple(name for name in models if name in parts and not absent_models.isdisjoint(parts[name]))


def _wrong_files(
    model: Model, contents: Contents, repository: Path, release: str | None
) -> Iterator[WrongFile]:
    message = model.config.message
    facts = backend_facts(model.backend, platform=message.platform, runtime=message.runtime)
    model_format = _format_of(facts, model) if facts is not None else None
    if facts is None or model_format is None:
        return
    check, hint = model_format
    for expected_file in expected_files(model.config, facts, release)[:1]:
        for version in model.versions:
            path = contents.path(model.directory, version, expected_file.name)
            file = path if contents.is_file(path) else contents.path(path, expected_file.inside)
            if contents.is_file(file) and (problem := check(repository / file)):
                yield WrongFile(file=Path(file), problem=problem, hint=hint)


def _format_of(facts: Backend, model: Model) -> tuple[Callable[[Path], str], str] | None:
    """The check of a file's structure, and how to write one; None for a format that is not known here."""
    if facts.name == "pytorch":
        return torchscript_problem, 'save it with `torch.jit.script(model).save("model.pt")`, or trace it'
    if facts.name == "fil":
        parameters = model.config.message.parameters
        kind = parameters["model_type"].string_value if "model_type" in parameters else ""
        if kind == "xgboost_json":
            return xgboost_json_problem, 'save it with `booster.save_model("xgboost.json")`'
    return None


REFUSAL, SILENT, UNSURE, WRONG_FILE = "FL490", "FL491", "FL492", "FL478"
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
    def is_loaded(self) -> bool:
        """Whether every model was loaded, by Triton or by a stand-in."""
        return not self.reason and not self.parts.untried_models

    def lines(self) -> list[str]:
        """The answer for people."""
        wrong = self.parts.wrong_files
        return [
            *(f"not tried, and cannot be loaded: {part.file}: {part.problem}" for part in wrong),
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
                f"{model!r} ({_display_name(backend)})" for model, backend in parts.untried_models.items()
            )
            backend = "backend" if len(set(parts.untried_models.values())) == 1 else "backends"
            clauses.append(f"not tried, as this machine lacks the {backend}: {models}")
        if parts.incomplete_ensembles:
            verb = "was" if len(parts.incomplete_ensembles) == 1 else "were"
            clauses.append(f"so {_quote(parts.incomplete_ensembles)} {verb} not loaded as a whole")
        if parts.stand_in_models:
            is_all = not parts.untried_models and not parts.triton_models
            models = "it" if is_all else _quote(parts.stand_in_models)
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


def _display_name(backend: str) -> str:
    is_known = any(backend_facts.backend == backend for backend_facts in backends().values())
    return backend if is_known else f"{backend}, which the model or an image of your own has to bring"


def _quote(models: tuple[str, ...]) -> str:
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
        code=REFUSAL, message=message, file=answer.file or answer.path, line=answer.line, hint=hint
    )
    if answer.silent:
        message = f"Triton {answer.release} gives no answer: {answer.reason}"
        return [replace(refusal, code=SILENT, message=message, hint="")]
    if answer.doubts:
        return [replace(refusal, code=UNSURE, hint="; ".join(answer.doubts), severity=Severity.WARNING)]
    return [refusal]
