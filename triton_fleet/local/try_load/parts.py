"""The models of a repository that this machine has loaded, by what served them, and those not tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.catalog.backends import Backend, backend_facts
from triton_fleet.core.closure import closure
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


def loaded_parts(prepared: Preparation, container: ServingContainer, root: str) -> LoadedParts:
    """The models of a repository that was loaded, by what served them.

    Args:
        prepared: The staged copy.
        container: The container that it was loaded for.
        root: The name of a model whose files are at the repository's root.

    Raises:
        FindingsError: the copy cannot be read.
    """
    contents = read(prepared.repository)
    plan = plan_load(contents, container)
    models = plan.models
    loaded = {model or root: models[model] for model in plan.loaded or models if model in models}
    untried = {name: prepared.stand_ins[name] for name in loaded if name in prepared.stand_ins}
    stand_ins = tuple(name for name, model in loaded.items() if model.backend == ONNX_RUNTIME)
    incomplete = _incomplete(loaded, untried)
    return LoadedParts(
        main=None if plan.main is None else plan.main or root,
        untried_models=untried,
        stand_in_models=stand_ins,
        incomplete_ensembles=incomplete,
        triton_models=tuple(name for name in loaded if name not in {*untried, *stand_ins, *incomplete}),
        wrong_files=tuple(
            wrong
            for name in untried
            for wrong in _wrong_files(loaded[name], contents, prepared.repository, container.release)
        ),
    )


def _incomplete(models: Mapping[str, Model], untried: Iterable[str]) -> tuple[str, ...]:
    """The ensembles that have one of the models among their steps, or among those of their ensembles."""
    missing = set(untried)
    steps = {name: steps_of(each.config) for name, each in models.items()}
    parts = {name: closure([name], lambda each: steps.get(each, ())) for name in steps.keys() - missing}
    return tuple(name for name in models if name in parts and not missing.isdisjoint(parts[name]))


def _wrong_files(
    model: Model, contents: Contents, repository: Path, release: str | None
) -> Iterator[WrongFile]:
    message = model.config.message
    facts = backend_facts(model.backend, platform=message.platform, runtime=message.runtime)
    known = _format_of(facts, model) if facts is not None else None
    if facts is None or known is None:
        return
    check, hint = known
    for expected in expected_files(model.config, facts, release)[:1]:
        for version in model.versions:
            path = contents.path(model.directory, version, expected.name)
            file = path if contents.is_file(path) else contents.path(path, expected.inside)
            if contents.is_file(file) and (problem := check(repository / file)):
                yield WrongFile(file=Path(file), problem=problem, hint=hint)


def _format_of(facts: Backend, model: Model) -> tuple[Callable[[Path], str], str] | None:
    """The check of a file's structure, and how to write one; None for a format that is not known here."""
    if facts.name == "pytorch":
        return torchscript_problem, 'save it with `torch.jit.script(model).save("model.pt")`, or trace it'
    if facts.name == "fil":
        given = model.config.message.parameters
        kind = given["model_type"].string_value if "model_type" in given else ""
        if kind == "xgboost_json":
            return xgboost_json_problem, 'save it with `booster.save_model("xgboost.json")`'
    return None
