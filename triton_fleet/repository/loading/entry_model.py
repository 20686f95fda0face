"""Which of an archive's directories the container would load.

Source: triton-inference-server/server, docker/sagemaker/serve (single) and src/sagemaker_server.cc,
SageMakerMMELoadModel (multi-model).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.backend import is_ensemble
from triton_fleet.repository.config.extras import NO_VERSION
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.entry_path import belongs, is_version
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG

ENSEMBLE = re.compile(r'platform:(\s)*"ensemble"')
"""An ensemble to the front end of a multi-model endpoint; without one it loads any directory."""
LITERAL = 'platform: "ensemble"'
ROOT = ""
"""The model whose files are at the root of an archive."""


@dataclass(frozen=True)
class EntryModel:
    """The model that answers; None if that is not certain. `findings` are the reason, or doubts."""

    model: str | None
    findings: tuple[Finding, ...] = ()


def main_of(contents: Contents, setting: ServingContainer, configs: Mapping[str, ParsedConfig]) -> EntryModel:
    """The directory that answers on an endpoint; "" for the root itself."""
    folders = contents.folders()
    if CONFIG in contents.entries if contents.is_packed else contents.is_file(CONFIG):
        is_served = setting.multi_model and not contents.is_packed
        return EntryModel(ROOT) if is_served else EntryModel(None, (_at_root(contents),))
    if not folders:
        message = "No model found in model repository"
        if setting.multi_model:
            message = f"{NO_VERSION.format(contents.place.name)}: it contains no directory"
        hint = "an archive has one directory for each model at its root"
        return EntryModel(None, (Finding(code="FL407", message=message, hint=hint, file=contents.place),))
    if setting.loads_all_models:
        return EntryModel(None)
    if setting.multi_model:
        return _of_archive(contents, folders, configs)
    return _of_single(contents, setting, folders, configs)


def _at_root(contents: Contents) -> Finding:
    message = (
        "Incorrect directory structure. Model directory needs to contain the top level folder:"
        " config.pbtxt is at the root, so this is a model, not a model repository"
    )
    hint = (
        "name the folder above it" if not contents.archive else "pack the folder above it: MODEL/config.pbtxt"
    )
    return Finding(code="FL402", message=message, hint=hint, file=contents.file(CONFIG))


def _of_single(
    contents: Contents, setting: ServingContainer, folders: Sequence[str], configs: Mapping[str, ParsedConfig]
) -> EntryModel:
    default_name = setting.default_model
    if default_name is not None:
        if default_name in folders:
            return EntryModel(default_name)
        message = f"Directory with provided SAGEMAKER_TRITON_DEFAULT_MODEL_NAME {default_name} does not exist"
        hint = f"the repository has {', '.join(folders)}"
        return _model_without_name(contents, message, hint)
    if len(folders) == 1:
        return EntryModel(folders[0])
    models = [name for name in folders if name in configs or _looks_like_a_model(contents, name)]
    strays = [name for name in folders if name not in models]
    message = (
        "More than 1 model directory found in model repository. Either provide a single directory or set"
        " SAGEMAKER_TRITON_DEFAULT_MODEL_NAME to run the ensemble backend. Directories found in model"
        f" repository: {' '.join(folders)}"
    )
    if strays and len(models) == 1:
        hint = f"{_removal(strays)}: the container counts every directory, also one that is not a model"
        return _model_without_name(contents, message, hint)
    if not models:
        return EntryModel(None, (_no_model(contents, folders),))
    tops = _tops(models, configs)
    if len(tops) != 1:
        hint = f"write one of them as the endpoint's `default_model`: {', '.join(models)}"
        return _model_without_name(contents, message, hint)
    hint = f"write `default_model: {tops[0]}` into the endpoint's spec"
    return _model_without_name(contents, message, hint, tops[0])


def _model_without_name(contents: Contents, message: str, hint: str, main: str | None = None) -> EntryModel:
    """The finding for a repository without a default model; rules report it of one that a spec names."""
    severity = Severity.WARNING if main else Severity.ERROR
    problem = Finding(code="FL460", message=message, hint=hint, file=contents.place, severity=severity)
    return EntryModel(main, () if contents.is_packed else (problem,))


def _tops(models: Sequence[str], configs: Mapping[str, ParsedConfig]) -> list[str]:
    """The ensembles that no other ensemble calls."""
    ensembles = [name for name in models if name in configs and is_ensemble(configs[name])]
    callees = {
        step.model_name for name in ensembles for step in configs[name].message.ensemble_scheduling.step
    }
    return [name for name in ensembles if name not in callees]


def _of_archive(
    contents: Contents, folders: Sequence[str], configs: Mapping[str, ParsedConfig]
) -> EntryModel:
    ensembles = [name for name in folders if ENSEMBLE.search(_text(contents, name))]
    if len(ensembles) == 1:
        return EntryModel(ensembles[0], tuple(_mistaken(ensembles[0], configs)))
    if ensembles:
        message = (
            f"the archive contains {len(ensembles)} ensembles, {', '.join(ensembles)}: any of them may answer"
        )
        hint = "put each ensemble into its own archive"
        return EntryModel(None, (Finding(code="FL409", message=message, hint=hint, file=contents.place),))
    if len(folders) == 1:
        return EntryModel(folders[0])
    unseen = [name for name in folders if name in configs and is_ensemble(configs[name])]
    if unseen:
        config = configs[unseen[0]]
        message = (
            "the container does not see that this is an ensemble, and may load any of the models"
            f" {', '.join(folders)} in its place"
        )
        hint = f"write it literally: `{LITERAL}`"
        return EntryModel(None, (config.finding("FL468", message, "platform", hint=hint),))
    if not any(name in configs or _looks_like_a_model(contents, name) for name in folders):
        return EntryModel(None, (_no_model(contents, folders),))
    return EntryModel(None, (_by_chance(contents, folders, configs),))


def _mistaken(name: str, configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    if name in configs and not is_ensemble(configs[name]) and len(configs) > 1:
        message = (
            f"the container treats {name!r} as an ensemble, because its text contains `{LITERAL}`, and loads"
            " only this model"
        )
        hint = "remove the words from the comment"
        yield configs[name].finding("FL468", message, hint=hint, severity=Severity.WARNING)


def _no_model(contents: Contents, folders: Sequence[str]) -> Finding:
    """Several folders, and no model among them: one too high, or too low."""
    message = (
        f"none of {', '.join(folders)} is a model: each has neither config.pbtxt nor a version directory"
    )
    within = {path.split("/")[0] for path in contents.entries if path.endswith(f"/{CONFIG}")}
    hint = "a model is a directory with config.pbtxt and a version, 1/"
    if within:
        hint = f"name each repository: {', '.join(str(contents.file(name)) for name in sorted(within))}"
    return Finding(code="FL407", message=message, hint=hint, file=contents.place)


def _by_chance(contents: Contents, folders: Sequence[str], configs: Mapping[str, ParsedConfig]) -> Finding:
    models = [name for name in folders if name in configs or _looks_like_a_model(contents, name)]
    strays = [name for name in folders if name not in models]
    if len(models) > 1:
        message = (
            f"the archive contains {len(models)} models and no ensemble, {', '.join(models)}: any of them"
            " would be loaded, and the others not"
        )
        hint = f"put each into its own archive; an ensemble is recognised by the literal `{LITERAL}`"
        return Finding(code="FL408", message=message, hint=hint, file=contents.place)
    message = (
        f"the archive contains {', '.join(strays)} beside its model: the container may load that as the model"
    )
    hint = f"{_removal(strays)}: without an ensemble the container takes any directory"
    return Finding(code="FL460", message=message, hint=hint, file=contents.file(strays[0]))


def _removal(strays: Sequence[str]) -> str:
    """The folder to remove; a hidden folder is only in an archive that somebody else packs."""
    hidden_names = [name for name in strays if not belongs(name)]
    note = (
        f" (a fleet ignores {', '.join(hidden_names)} when it packs the repository)" if hidden_names else ""
    )
    return f"remove {', '.join(strays)}{note}"


def _looks_like_a_model(contents: Contents, folder: str) -> bool:
    return contents.is_file(f"{folder}/{CONFIG}") or any(
        is_version(name) for name in contents.folders(folder) if not folder.startswith(".")
    )


def _text(contents: Contents, folder: str) -> str:
    return contents.texts.get(f"{folder}/{CONFIG}", b"").decode("utf-8", "replace")
