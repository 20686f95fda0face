"""Whether each version that is loaded has the file that its model's backend looks for.

Sources: LoadModel, or what is like it, of each backend, as the catalog names it; for what becomes of
`cc_model_filenames`, triton-inference-server/backend, src/backend_model_instance.cc, BackendModelInstance.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from posixpath import normpath, splitext

from triton_fleet.catalog.backends import Backend, ModelFile, backend_facts
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents, Entry, EntryKind

NO_FILE, WRONG_KIND, OUTSIDE = "FL456", "FL457", "FL458"
NO_CODE = "FL410"
"""A load of such a model never ends (tried with 24.10)."""
FILENAME_KEY = "default_model_filename"
NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.-]")


def missing_files(
    config: ParsedConfig,
    backend: str,
    release: str | None,
    contents: Contents,
    model: str,
    versions: Sequence[str],
    engine_models: Collection[str],
) -> Iterator[Finding]:
    """Files that a model's version directories lack; none of a backend that is not Triton's own.

    Args:
        config: The configuration, not completed by the backend.
        backend: What serves the model.
        release: The Triton release, such as "25.04"; None for the newest.
        contents: The repository.
        model: The model's directory.
        versions: Those that would be loaded.
        engine_models: Models whose engine is yet to be built: theirs may be missing.
    """
    facts = backend_facts(backend, platform=config.message.platform, runtime=config.message.runtime)
    if facts is None:
        return
    candidates = expected_files(config, facts, release)
    yield from _name(config, facts, release)
    for version in versions if candidates else ():
        folder = contents.path(model, version)
        present_files = [file for file in candidates if _path(folder, file.name) in contents.entries]
        is_python = facts.name == "python"
        if is_python and (
            "/" in candidates[0].name or not contents.is_file(_path(folder, candidates[0].name))
        ):
            present_files = []  # it is imported as a module of the version directory
        if present_files:
            yield from _as_it_is(contents, folder, present_files[0])
        elif model not in engine_models and (
            is_python or not _may_exist(config, contents, folder, candidates)
        ):
            yield _absence(config, facts, contents, folder, candidates)
        if model not in engine_models:
            yield from _for_capabilities(config, contents, folder)


def expected_files(config: ParsedConfig, facts: Backend, release: str | None) -> list[ModelFile]:
    """The files that the backend reads, in its order; empty where its parameters or platform are wrong."""
    values = {key: value.string_value for key, value in config.message.parameters.items()}
    default = [
        file
        for file in facts.files
        if (release is None or file.since <= release)
        and (not config.message.platform or file.platform in ("", config.message.platform))
        and all(
            (values.get(key) or facts.parameters[key].default) == of for key, of in file.parameter.items()
        )
    ]
    if not default or not (filename := config.message.default_model_filename):
        return default
    like = default[0]
    several = len({model_file.kind for model_file in default}) > 1 or bool(like.parameter)
    first = ModelFile(
        name=filename,
        kind="either" if several else like.kind,
        inside=like.name if like.parameter else like.inside,
        beside=like.beside,
    )
    return [first, *(model_file for model_file in default if model_file.always)]


def _as_it_is(contents: Contents, folder: str, file: ModelFile) -> Iterator[Finding]:
    """Findings in a file or a folder that exists."""
    path = _path(folder, file.name)
    kind, place = contents.entries[path].kind, contents.file(path)
    start, extension = splitext(path)
    if kind is EntryKind.FOLDER and file.kind == "file":
        message = f"'{path}' is a folder, and the backend reads it as a file"
        yield Finding(code=WRONG_KIND, message=message, file=place, hint="put the file itself there")
    elif kind is EntryKind.FILE and file.kind == "folder":
        message = f"'{path}' is a file, and the backend reads it as a folder"
        hint = f"put it into a folder of that name: {file.name}/saved_model.pb"
        yield Finding(code=WRONG_KIND, message=message, file=place, hint=hint)
    elif kind is EntryKind.FOLDER and file.inside and f"{path}/{file.inside}" not in contents.entries:
        message = f"unable to find '{path}/{file.inside}'"
        hint = f"of a folder the backend reads {file.inside} in it"
        yield Finding(code=NO_FILE, message=message, file=place, hint=hint)
    elif (
        kind is EntryKind.FILE
        and extension in file.beside
        and start + file.beside[extension] not in contents.entries
    ):
        message = f"'{path}' has no '{start}{file.beside[extension]}' beside it, which would hold its weights"
        hint = "leave it so if the model has no weights"
        yield Finding(code=NO_FILE, message=message, file=place, hint=hint, severity=Severity.WARNING)


def _absence(
    config: ParsedConfig, facts: Backend, contents: Contents, folder: str, files: Sequence[ModelFile]
) -> Finding:
    paths = " or ".join(f"'{_path(folder, file.name)}'" for file in files)
    code, message = NO_FILE, f"unable to find {paths} for model '{config.name}'"
    if facts.name == "python":
        version = folder.rpartition("/")[2]
        code = NO_CODE
        message = (
            f"model '{config.name}' uses the Python backend and has no {files[0].name} in version"
            f" {version}, which is loaded: the load never ends"
        )
    hint = meant_file(facts, contents.below(folder), files[0])
    if config.message.default_model_filename:
        return config.finding(code, message, FILENAME_KEY, hint=hint)
    return Finding(code=code, message=message, file=contents.file(folder), hint=hint)


def _may_exist(config: ParsedConfig, contents: Contents, folder: str, files: Sequence[ModelFile]) -> bool:
    """Whether it may be outside of the repository, or one for the GPU's compute capability serves instead."""
    names = config.message.cc_model_filenames.values()
    out = any(_path(folder, file.name).startswith("..") for file in files)
    return out or any(_path(folder, file) in contents.entries for file in names)


def _for_capabilities(config: ParsedConfig, contents: Contents, folder: str) -> Iterator[Finding]:
    """Files for GPUs of one compute capability; those of any other take the model's own."""
    for capability, name in sorted(config.message.cc_model_filenames.items()):
        path, place = _path(folder, name), ("cc_model_filenames", capability)
        if path not in contents.entries and not path.startswith(".."):
            message = f"unable to find '{path}', which is that of GPUs of compute capability {capability}"
            hint = "put it there, or leave the entry out"
            yield config.finding(NO_FILE, message, *place, hint=hint, severity=Severity.WARNING)


def _name(config: ParsedConfig, facts: Backend, release: str | None) -> Iterator[Finding]:
    """Findings in the name that the configuration gives a model's file."""
    filename = config.message.default_model_filename
    strict = facts.plain_since and (release is None or release >= facts.plain_since)
    if strict and (match := NOT_PLAIN.search(filename)):
        message = facts.plain_message.format(name=filename, character=match[0])
        yield config.finding(OUTSIDE, message, FILENAME_KEY, hint="name a file in the version directory")
    elif normpath(filename).startswith("..") and facts.name != "python":
        message = f"{FILENAME_KEY} is '{filename}', which leads out of the version directory"
        hint = "put the file into each version's directory: they share one otherwise"
        yield config.finding(OUTSIDE, message, FILENAME_KEY, hint=hint, severity=Severity.WARNING)


def _path(folder: str, name: str) -> str:
    """Where a name leads, relative to the repository; a slash at its beginning means nothing."""
    return normpath(f"{folder}/{name}")


def meant_file(facts: Backend, entries: Mapping[str, Entry], model_file: ModelFile) -> str:
    """A hint: what to write or rename if exactly one entry looks like what was meant."""
    for file in facts.files:
        if file.parameter and file.name in entries and file.name != model_file.name:
            (key, value), *_ = file.parameter.items()
            return f'{file.name} is that of `{key}` "{value}": write that, or put {model_file.name} there'
    kinds = {
        "file": (EntryKind.FILE,),
        "folder": (EntryKind.FOLDER,),
        "either": (EntryKind.FILE, EntryKind.FOLDER),
    }[model_file.kind]
    extension = splitext(model_file.name)[1]
    like = [name for name, entry in entries.items() if splitext(name)[1] == extension and entry.kind in kinds]
    if len(like) == 1:
        return f'write `default_model_filename: "{like[0]}"`, or rename it to {model_file.name}'
    subject = "the folder" if model_file.kind == "folder" else "the model"
    return f"put {subject} there as {model_file.name}, or name it with `default_model_filename`"
