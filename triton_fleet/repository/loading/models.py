"""The container for which a repository is checked, and the models whose configurations can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from triton_fleet.catalog.backends import backend_facts
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.backends import FILES, backend_of
from triton_fleet.repository.config.message import ParsedConfig, parsed_config
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.completion import completed_by_graph
from triton_fleet.repository.loading.versions import policy_versions, present_versions
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.python.code import CODE, completes_itself


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model directory, "" for the root of an archive.

    Attributes:
        config: As Triton completes it where what completes it can be read; an empty one without a
            config.pbtxt.
        given: Whether there is a config.pbtxt.
        backend: What serves it; "" if unknown.
        versions: The version directories that would be loaded.
    """

    directory: str
    config: ParsedConfig
    has_config: bool
    backend: str
    versions: tuple[str, ...]


def models_of(contents: Contents) -> tuple[dict[str, Model], dict[str, list[Finding]]]:
    """The models by directory, and by directory why a configuration cannot be read."""
    models, refusals = dict[str, Model](), dict[str, list[Finding]]()
    folders = [""] if contents.is_file(CONFIG) else contents.folders()
    for folder in folders:
        path = contents.path(folder, CONFIG)
        has_config = contents.is_file(path)
        if path in contents.entries and not has_config:
            message = "config.pbtxt is not a file: the server ends"
            refusals[folder] = [
                Finding(code="FL415", message=message, hint="put a file there", file=contents.file(path))
            ]
            continue
        if has_config and path not in contents.texts:
            continue
        try:
            config = parsed_config(contents.texts.get(path, b""), contents.file(path), folder)
        except FindingsError as error:
            refusals[folder] = error.findings
            continue
        if has_config or present_versions(contents, folder):
            models[folder] = _model(contents, folder, config, has_config=has_config)
    return models, refusals


def _model(contents: Contents, folder: str, config: ParsedConfig, *, has_config: bool) -> Model:
    numbers, folders = present_versions(contents, folder), contents.folders(folder)
    # Triton looks into the first folder there is, whatever it is for.
    first = contents.below(contents.path(folder, min(folders))) if folders else {}
    names = [name for name in first if name in FILES]
    backend = "" if config.message.platform == "ensemble" else backend_of(config.message, folder, names)
    versions = tuple(policy_versions(config, numbers))
    config = replace(config, is_completed=_completes(contents, folder, config, backend, versions))
    config = completed_by_graph(config, contents, folder, backend, versions)
    return Model(directory=folder, config=config, has_config=has_config, backend=backend, versions=versions)


def _completes(
    contents: Contents, folder: str, config: ParsedConfig, backend: str, versions: tuple[str, ...]
) -> bool | None:
    """Whether the backend completes the configuration; None if that is not known."""
    if backend != "python":
        facts = backend_facts(backend)
        return True if facts and "input" in facts.completes else None
    answers = {completes_itself(code) for _, code in python_codes(contents, folder, config, versions)}
    return False if answers == {False} else None if None in answers or not answers else True


def python_codes(
    contents: Contents, folder: str, config: ParsedConfig, versions: tuple[str, ...]
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The file of each loaded version that the Python backend reads, and its code."""
    for version in versions:
        path = contents.path(folder, version, config.message.default_model_filename or CODE)
        if (code := contents.texts.get(path)) is not None:
            yield PurePosixPath(path), code


def configs_of(models: Mapping[str, Model]) -> dict[str, ParsedConfig]:
    """The configurations that were given, by directory."""
    return {name: model.config for name, model in models.items() if model.has_config}


@dataclass(frozen=True, kw_only=True)
class ServingContainer:
    """How the container of an endpoint would take a repository.

    Attributes:
        multi_model: Whether it is one archive of several, loaded by name when it is called.
        loads_all: Whether it loads every directory, as a shared container does.
        release: The Triton release, such as "25.04"; None where it is not known.
        default_model: The directory that a single container loads, if one is named.
        further: Directories that it is set to load as well.
        own_image: Whether its image is not the release's.
        built: Models whose TensorRT engine is built later: the repository lacks it on purpose.
    """

    multi_model: bool = False
    loads_all_models: bool = False
    release: str | None = None
    default_model: str | None = None
    further: frozenset[str] = frozenset()
    engine_models: frozenset[str] = frozenset()
    own_image: bool = False
