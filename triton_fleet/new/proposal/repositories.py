"""The model repositories in a folder, and the models of one that callers name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.reads import closure
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.new.proposal.yaml_text import Key
from triton_fleet.repository.contents import Contents, EntryKind
from triton_fleet.repository.entry_path import belongs, is_version
from triton_fleet.repository.loading.ensembles import steps_of
from triton_fleet.repository.loading.models import Model, models_of
from triton_fleet.repository.loading.python_code import called_models
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import folder_entries, read_folder
from triton_fleet.spec.endpoint import S3


@dataclass(frozen=True, kw_only=True)
class FolderRepositories:
    """The repositories of a folder, without their weights.

    Attributes:
        folder: What was asked for.
        repositories: One, or one for each target of a multi-model endpoint.
        left_out: Names of folders beside these that hold no model.
    """

    folder: Path
    repositories: tuple[Contents, ...]
    left_out: tuple[str, ...] = ()


def repositories_in(folder_name: str) -> FolderRepositories:
    """See what a folder holds.

    Raises:
        FindingsError: it is not a folder that can be read, or neither it nor a folder in it holds models.
    """
    folder = _folder(folder_name)
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and belongs(path.name))
        is_one = _holds_models(folder)
        several = [] if is_one else [subfolder for subfolder in inside if _holds_models(subfolder)]
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL406", message=message, file=folder)]) from error
    if not is_one and not several:
        message = "neither this folder nor one in it is a model repository"
        hint = "a repository holds one directory for each model, with config.pbtxt and a version, 1/"
        raise FindingsError([Finding(code="FL407", message=message, hint=hint, file=folder)])
    repositories = tuple(read_folder(subfolder, is_packed=True) for subfolder in several or [folder])
    left_out = tuple(subfolder.name for subfolder in inside if several and subfolder not in several)
    return FolderRepositories(folder=folder, repositories=repositories, left_out=left_out)


def _folder(named_path: str) -> Path:
    if named_path.startswith(S3):
        message, hint = (
            f"{named_path} is in S3, and `fleet new` reads only folders",
            "download it, and name the folder",
        )
        raise FindingsError([Finding(code="FL401", message=message, hint=hint)])
    folder = Path(os.path.abspath(named_path))  # noqa: PTH100 - links stay as they are named
    if folder.is_dir():
        return folder
    problem = "is not a folder" if folder.exists() else "does not exist"
    hint = "name a model repository, or a folder of several; unpack an archive first"
    raise FindingsError([Finding(code="FL401", message=f"{named_path!r} {problem}", hint=hint)])


def _holds_models(folder: Path) -> bool:
    """Whether a folder is a repository, or a single model that was named by mistake."""
    if (folder / CONFIG).is_file():
        return True
    models = (path for path in folder.iterdir() if path.is_dir() and belongs(path.name))
    return any((model / CONFIG).is_file() or _has_version(model) for model in models)


def _has_version(model: Path) -> bool:
    """Whether a version directory of it holds anything."""
    versions = (folder_entry for folder_entry in folder_entries(str(model)) if is_version(folder_entry.name))
    return any(
        version.kind is EntryKind.FOLDER and any((model / version.name).iterdir()) for version in versions
    )


@dataclass(frozen=True, kw_only=True)
class DefaultModel:
    """The model that answers; None where the only one does.

    Attributes:
        reasons: Sentences.
        further: Models that code calls, which flags of the container have to load.
    """

    default_model: str | None = None
    reasons: tuple[str, ...] = ()
    further: tuple[str, ...] = ()

    def keys(self) -> list[Key]:
        """As the spec has it."""
        if self.default_model is None:
            return []
        return [Key(name="default_model", value=self.default_model, reasons=self.reasons)]


def propose_default_model(contents: Contents) -> DefaultModel:
    """Propose the model that no other one calls; of several the first, with a note."""
    models, refusals = models_of(contents)
    names = sorted({*models, *refusals})
    if len(names) < 2:
        return DefaultModel()
    steps, codes = _calls(contents, models)
    tops = _tops(names, steps, codes)
    ensembles = [name for name in tops if steps.get(name)]
    choice = tops if len(tops) == 1 else ensembles if len(ensembles) == 1 else []
    top = [*choice, *ensembles, *tops, *names][0]
    below = _below(top, {name: steps[name] | codes[name] for name in models})
    further = sorted(below - _below(top, steps))
    return DefaultModel(
        default_model=top, reasons=_choice_reasons(top, names, choice, below), further=tuple(further)
    )


def propose_routes(contents: Contents) -> Key:
    """The routes of a shared container: the models that no other one calls, by their own names."""
    models, refusals = models_of(contents)
    names = sorted({*models, *refusals})
    tops = _tops(names, *_calls(contents, models)) or names
    parts = sorted({*names} - {*tops})
    sentence = f"Others call {', '.join(parts)}, so callers need no route to them." if parts else ""
    first = "What callers name, and the model that answers; the names may be others."
    return Key(
        name="routes",
        value={name: name for name in tops},
        reasons=(first, sentence) if sentence else (first,),
    )


def _calls(
    contents: Contents, models: Mapping[str, Model]
) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """The models that each one calls as an ensemble, and those that its code calls."""
    steps = {name: set(steps_of(model.config)) & set(models) for name, model in models.items()}
    codes = {name: called_models(contents, model) & set(models) for name, model in models.items()}
    return steps, codes


def _tops(names: list[str], steps: Mapping[str, set[str]], codes: Mapping[str, set[str]]) -> list[str]:
    """The models that no other one calls."""
    callees = {callee for name in steps for callee in (steps[name] | codes[name]) - {name}}
    return [name for name in names if name not in callees]


def _below(top: str, calls: Mapping[str, set[str]]) -> set[str]:
    """All that a model calls, and what that calls."""
    return {*closure([top], lambda name: calls.get(name, ()))} - {top}


def _choice_reasons(top: str, names: list[str], choice: list[str], below: set[str]) -> tuple[str, ...]:
    calls = f"{top} calls {', '.join(sorted(below))}" if below else f"{top} calls no other model"
    if choice:
        return (f"{calls}, and no other model calls it.",)
    return (
        f"Undecided: several of {', '.join(names)} are called by no other model, but a single endpoint"
        f" answers with one. {top} is the first of them: write the one that is to answer. To call each of"
        " them by name, pass `--mode shared-container`; or give each a folder with a repository of its own,"
        " and pass the folder above to `fleet new`.",
    )
