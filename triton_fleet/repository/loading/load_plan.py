"""Plan of a Triton container for a repository: the models it loads, those it leaves, and the findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from triton_fleet.core.reads import closure
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.extras import NO_VERSION
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.entry_path import FIRST, MODEL_NAME
from triton_fleet.repository.loading.ensembles import circles, steps_of
from triton_fleet.repository.loading.entry_model import main_of
from triton_fleet.repository.loading.model import ensemble_findings, model_findings
from triton_fleet.repository.loading.models import Model, ServingContainer, configs_of, models_of
from triton_fleet.repository.loading.python_code import missing_imports, unloaded_calls
from triton_fleet.repository.loading.versions import (
    misnamed_versions,
    present_versions,
    rename_hint,
    without_version,
)
from triton_fleet.repository.model_config import CONFIG

NO_MODELS = "FL407"
UNREADABLE = "FL440"
"""An archive whose rest is unknown cannot be checked further."""
BY_CHANCE = frozenset({"FL407", "FL408", "FL409", "FL460", "FL468"})
REFUSAL_CODES = frozenset(
    {
        *("FL305", "FL402", "FL403", "FL404", "FL405", "FL406", "FL407", "FL408", "FL409", "FL410", "FL414"),
        *("FL440", "FL441", "FL442", "FL443", "FL468", "FL750"),
    }
)
"""Errors for which a repository is not packed: it cannot be read whole, or no container would serve it."""


@dataclass(frozen=True, kw_only=True)
class LoadPlan:
    """The verdict: the model that answers, those that are loaded with it, those that stay unloaded.

    The repository would be loaded if none of the findings is an error. `main` is None where none would answer
    for sure, "" where it is the archive's root; then `loaded_models` are all models. `models` are those with
    a configuration that can be read.
    """

    main: str | None
    loaded_models: tuple[str, ...] = ()
    unloaded_models: tuple[str, ...] = ()
    findings: tuple[Finding, ...]
    models: Mapping[str, Model] = field(default_factory=dict)

    @property
    def chances(self) -> list[Finding]:
        """Why it is not certain which model answers."""
        return [
            problem
            for problem in self.findings
            if problem.code in BY_CHANCE and problem.severity is Severity.ERROR
        ]

    @property
    def refusals(self) -> list[Finding]:
        """The errors for which the repository is not packed."""
        return [
            problem
            for problem in self.findings
            if problem.code in REFUSAL_CODES and problem.severity is Severity.ERROR
        ]


def plan_load(contents: Contents, setting: ServingContainer) -> LoadPlan:
    """Check a repository as the container of the setting would load it."""
    if any(
        problem.code == UNREADABLE and problem.severity is Severity.ERROR for problem in contents.findings
    ):
        return LoadPlan(main=None, findings=contents.findings)
    contents = _with_built_versions(contents, setting.engine_models)
    models, refusals = models_of(contents)
    configs = configs_of(models)
    main = main_of(contents, setting, configs)
    if contents.is_file(CONFIG) and main.model is None:
        return LoadPlan(main=None, findings=(*contents.findings, *main.findings))
    loading = _loaded_models(main.model, setting, models)
    loaded_ones = set(loading)
    rest = tuple(name for name in models if name not in loaded_ones)
    findings = [*contents.findings, *main.findings]
    steps = {step for name in loading for step in steps_of(models[name].config)}
    for name, of_config in refusals.items():
        findings += (
            of_config if main.model is None or name in (main.model, *steps) else map(_as_warning, of_config)
        )
    findings += _wrong_names(contents, setting, main.model)
    if not any(problem.code == NO_MODELS for problem in main.findings):
        findings += _without_version(contents, setting, models, (*loading, main.model))
    for name, model in models.items():
        of_model = list(model_findings(contents, setting, model, is_main=name == main.model))
        of_model += ensemble_findings(model, models)
        findings += of_model if name in loaded_ones else map(_as_warning, of_model)
    findings += circles({name: configs[name] for name in loading if name in configs})
    findings += unloaded_calls(contents, setting, loading, models)
    findings += missing_imports(contents, setting, (models[name] for name in loading))
    if main.model is not None:
        findings += _unloaded_findings(contents, rest, main.model)
    return LoadPlan(
        main=main.model,
        loaded_models=loading,
        unloaded_models=rest,
        findings=tuple(dict.fromkeys(findings)),
        models=models,
    )


def _with_built_versions(contents: Contents, engine_models: Collection[str]) -> Contents:
    """The repository with the version folders that are made for engines."""
    models = [
        model
        for model in engine_models
        if model in contents.folders() and not present_versions(contents, model)
    ]
    if not models:
        return contents
    folders = {contents.path(model, FIRST): Entry(EntryKind.FOLDER) for model in models}
    return replace(contents, entries=dict(sorted({**contents.entries, **folders}.items())))


def _loaded_models(
    main: str | None, setting: ServingContainer, models: Mapping[str, Model]
) -> tuple[str, ...]:
    """The main model with its parts, and what flags name; all where it is not clear which is the main one."""
    if main is None:
        return tuple(models)
    names = [main, *sorted(setting.further)]
    names_closure = closure(names, lambda name: steps_of(models[name].config) if name in models else ())
    return tuple(name for name in names_closure if name in models)


def _wrong_names(contents: Contents, setting: ServingContainer, main: str | None) -> Iterator[Finding]:
    """Names of directories that the settings of a container cannot hold."""
    single = () if setting.multi_model or setting.loads_all_models or main is None else (main,)
    for folder in contents.folders() if contents.is_packed else single:
        if not (MODEL_NAME.fullmatch(folder) if contents.is_packed else folder.split() == [folder]):
            yield Finding(
                code="FL405",
                message=f"{folder!r} cannot be a model's name: the container splits its settings on white"
                " space",
                hint=f"rename it to match {MODEL_NAME.pattern}",
                file=contents.file(folder),
            )


def _without_version(
    contents: Contents, setting: ServingContainer, models: Mapping[str, Model], names: Collection[str | None]
) -> Iterator[Finding]:
    """Directories without a version; in a repository that this product packs, each is to be a model."""
    with_files = {path.partition("/")[0] for path in contents.entries if "/model." in path}
    config_paths = sorted(
        path for path in contents.entries if path.endswith(f"/{CONFIG}") and path.count("/") > 1
    )
    for folder in ("",) if contents.is_file(CONFIG) else contents.folders():
        is_unreadable = contents.path(folder, CONFIG) in contents.entries and folder not in models
        if folder in setting.engine_models or present_versions(contents, folder):
            continue
        if folder in models:
            problem = without_version(contents, folder, models[folder].config)
        elif contents.is_packed or (folder in names and not is_unreadable):
            problem = _no_model(contents, folder, config_paths, may_be_none=folder not in with_files)
        else:
            continue
        yield problem if contents.is_packed or folder in names else _as_warning(problem)


def _no_model(contents: Contents, folder: str, config_paths: Sequence[str], *, may_be_none: bool) -> Finding:
    """A directory without a version, and without a configuration that can be read.

    `nested` are the configurations of models that are deeper than those of a repository.
    """
    lack = "it holds no config.pbtxt and no version directory"
    if contents.path(folder, CONFIG) in contents.entries:
        lack = "it has no version directory with a file in it"
    hint = "a model is a directory with config.pbtxt and a version, 1/"
    if renames := misnamed_versions(contents, folder):
        hint = rename_hint(renames)
    elif contents.is_packed and may_be_none:
        hint = f"{hint}; if it is not a model, remove the folder"
    if config_paths:
        repository = PurePosixPath(config_paths[0]).parent.parent
        hint = f"name the model repository itself, {contents.file(str(repository))}"
        if contents.archive:
            hint = f"pack what is in {repository}, and not the folder: `tar -C {repository} -czf ARCHIVE .`"
    return Finding(
        code="FL404",
        message=f"{NO_VERSION.format(folder)}: {lack}",
        hint=hint,
        file=contents.file(folder),
    )


def _as_warning(problem: Finding) -> Finding:
    """Turn a finding of a model that is not loaded into a warning: it stops nothing."""
    return replace(problem, severity=Severity.WARNING)


def _unloaded_findings(contents: Contents, names: Collection[str], main: str) -> Iterator[Finding]:
    for name in names:
        message = f"model {name!r} stays unloaded: the container loads {main!r} and what its steps name"
        yield Finding(
            code="FL461",
            message=message,
            file=contents.file(name),
            hint="remove it, name it in the ensemble's steps, or load it by a flag",
            severity=Severity.WARNING,
        )
