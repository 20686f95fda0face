"""Whether a Python model's own environment is one that the Python backend can use.

Sources: triton-inference-server/python_backend, r26.06: README.md, "Using Custom Python Execution
Environments"; src/pb_env.cc, ExtractIfNotExtracted; src/stub_launcher.cc, GetPythonEnvironment.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from triton_fleet.catalog.releases import stub_python, stub_pythons
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.config.parameters import KEY, VARIABLE
from triton_fleet.repository.contents import CondaEnvironment, Contents, EntryKind
from triton_fleet.repository.reading.environment import ACTIVATE, unpacked_environment
from triton_fleet.repository.reading.file_store import ARCHIVE_SUFFIXES

STUB = "triton_python_backend_stub"
PLACE = ("parameters", KEY)
NO_TAR = (".zip", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".7z")
"""How the names of archives end that the backend does not read."""


def conda_findings(
    config: ParsedConfig, contents: Contents, model: str, release: str | None
) -> Iterator[Finding]:
    """Findings in the environment that a Python model's config names, if it names any.

    Args:
        config: The model's.
        contents: The repository.
        model: The model's folder in it, "" for the repository itself.
        release: Triton's, such as "25.09"; None if it is not known.
    """
    parameters = config.message.parameters
    target = parameters[KEY].string_value if KEY in parameters else ""
    if target.startswith("/"):
        message = f"{KEY} is {target!r}, a path in the image, where nothing of the repository is looked for"
        hint = f'put the environment into the model\'s folder, and write "{VARIABLE}/" and its name'
        yield config.finding("FL448", message, *PLACE, hint=hint, severity=Severity.WARNING)
    if not target.startswith(VARIABLE):
        return
    path = _path(model, target.removeprefix(VARIABLE))
    if not f"{path}/".startswith(f"{model}/" if model else "") or path.startswith(".."):
        message = f"{KEY} is {target!r}, and leads out of the model's folder: what happens then is undefined"
        hint = "put the environment into the model's folder"
        yield config.finding("FL448", message, *PLACE, hint=hint, severity=Severity.WARNING)
    if not path.startswith(".."):
        yield from _environment_findings(config, contents, model, path, release)


def _path(model: str, below: str) -> str:
    path = posixpath.normpath(f"{model}{below}" if model else below.lstrip("/") or ".")
    return "" if path == "." else path


def _environment_findings(
    config: ParsedConfig, contents: Contents, model: str, path: str, release: str | None
) -> Iterator[Finding]:
    entry = contents.entries.get(path)
    if entry is None and path:
        message = f"Failed to get the canonical path for {path}: it does not exist"
        archives = [name for name in contents.below(model) if name.endswith(ARCHIVE_SUFFIXES)]
        hint = (
            f"the model has {', '.join(archives)}"
            if archives
            else "put it there; if a script creates it, run the script first"
        )
        yield config.finding("FL448", message, *PLACE, hint=hint)
    elif entry is None or entry.kind is EntryKind.FOLDER:
        start = f"{path}/" if path else ""
        inside = (entry.removeprefix(start) for entry in contents.entries if entry.startswith(start))
        yield from _fits(config, contents, model, path, unpacked_environment(inside), release)
    elif path in contents.environments:
        yield from _fits(config, contents, model, path, contents.environments[path], release)
    elif path.endswith(NO_TAR):
        message = (
            f"{path} is not an archive that the Python backend reads: it reads tar, with gzip or without"
        )
        yield config.finding("FL448", message, *PLACE, hint="pack it by `conda pack -o NAME.tar.gz`")


def _fits(
    config: ParsedConfig,
    contents: Contents,
    model: str,
    path: str,
    environment: CondaEnvironment,
    release: str | None,
) -> Iterator[Finding]:
    if environment.problem:
        message = f"the Python environment {path} cannot be unpacked: {environment.problem}"
        yield config.finding("FL448", message, *PLACE, hint="pack it again with `conda pack`")
        return
    if environment.activate != ACTIVATE:
        message = (
            f"Path {posixpath.join(path, ACTIVATE)} does not exist."
            " The Python environment should contain an 'activate' script."
        )
        yield config.finding("FL448", message, *PLACE, hint=_root_hint(environment))
        return
    if not environment.python:
        message = f"the Python environment {path} holds no Python: neither bin/python3.N nor lib/python3.N"
        yield config.finding("FL448", message, *PLACE, severity=Severity.WARNING)
    elif not contents.is_file(contents.path(model, STUB)):
        yield from _version(config, path, environment.python, release)


def _root_hint(environment: CondaEnvironment) -> str:
    above = environment.activate.removesuffix(ACTIVATE).rstrip("/")
    if above:
        return f"it is in {above!r}: pack the content of that folder, not the folder"
    return "make it by `conda pack`, which adds the script, or by `python -m venv`"


def _version(config: ParsedConfig, path: str, python: str, release: str | None) -> Iterator[Finding]:
    hint = (
        f"make the environment with that Python, or put a {STUB} built for {python} into the model's folder"
    )
    if release is None:
        if python not in stub_pythons().values():
            versions = ", ".join(f"{version} from {since} on" for since, version in stub_pythons().items())
            message = (
                f"the Python environment {path} has Python {python}, and no Triton's stub has: {versions}"
            )
            yield config.finding("FL449", message, *PLACE, hint=hint, severity=Severity.WARNING)
        return
    stub, certain = stub_python(release)
    if python != stub:
        message = (
            f"the Python environment {path} has Python {python}, and the stub of Triton {release} {stub}"
        )
        severity = Severity.ERROR if certain else Severity.WARNING
        yield config.finding("FL449", message, *PLACE, hint=hint, severity=severity)
