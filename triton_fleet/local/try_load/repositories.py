"""A model repository, loaded in the real Triton of this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from fleet_emulator.hosting import HostingError
from triton_fleet.check.repositories import RepositoryTarget
from triton_fleet.local.triton.container import MULTI_MODEL
from triton_fleet.local.triton.failure import LOADED_MODEL
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.try_load.preparation import Preparation, prepare
from triton_fleet.local.try_load.result import TryLoadResult, loaded_parts
from triton_fleet.local.try_load.triton_load import (
    NOT_READ,
    QUIET,
    ask,
    multi_model,
    post,
    shared_variables,
    single,
    target_of,
)
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.unpacking import TooLargeError
from triton_fleet.spec.endpoint import Mode

SECONDS = 60.0


def load_in_triton(
    path: Path,
    runtime: TritonRuntime,
    *,
    mode: Mode,
    default_model: str = "",
    seconds: float = SECONDS,
) -> TryLoadResult:
    """Load a folder or an archive as the container does; nothing of it is left, and `path` is not touched.

    Args:
        path: The model repository, or the .tar.gz of one.
        runtime: This machine's Triton. The image for which it stands decides what its ONNX Runtime reads, and
            which backends it has.
        mode: `single`: the container's start rules, then the start of a server. `multi-model`: a running
            server is asked to load it. `shared-container`: the start of a server, which loads all of it.
        default_model: In single mode the directory to load, where the repository has several.
        seconds: How long Triton may take.

    Raises:
        CannotRunError: this machine cannot copy the repository.
    """
    container = RepositoryTarget(
        mode=mode, release=runtime.image_release, default_model=default_model or None
    ).setting()
    try:
        with prepare(path, runtime, container) as copy:
            return _answer(path, copy, mode, container, seconds)
    except (HostingError, TooLargeError) as error:
        return TryLoadResult(path=path, release=runtime.release, reason=str(error))


def _answer(
    path: Path, copy: Preparation, mode: Mode, container: ServingContainer, seconds: float
) -> TryLoadResult:
    archive = path.name if path.is_file() else f"{path.name}.tar.gz"
    environment = {
        Mode.SINGLE: single(container.default_model or ""),
        Mode.MULTI_MODEL: multi_model(),
        Mode.SHARED_CONTAINER: shared_variables(copy.repository),
    }[mode]
    outcome = ask(copy, environment, archive, seconds)
    reason = words(outcome.reason, outcome.log, copy)
    if not outcome.reason and copy.originals:
        reason = original_refusal(copy, seconds) or reason
    answer = TryLoadResult(
        path=path,
        release=copy.runtime.release,
        image_release=copy.runtime.image_release,
        reason=reason.reason,
        file=path / reason.file if reason.file else None,
        line=reason.line,
        by_stand_in=reason.by_stand_in,
        rewrites=copy.rewrites,
        doubts=copy.doubts,
        silent=outcome.silent,
    )
    if reason.reason:
        return answer
    parts = loaded_parts(copy, container, path.name)
    skipped_models = {*parts.untried_models, *parts.incomplete_ensembles}
    directories = {target_of(archive): parts.main}
    models = tuple(name for name in ready(outcome.log) if directories.get(name, name) not in skipped_models)
    return replace(answer, ready=models, parts=parts)


ROOT = "model"
"""The container's name of a model whose files are at the root."""
NO_VERSION = "files"
"""Where the files of the versions are put: this is not a version, so nothing can be loaded."""


def original_refusal(copy: Preparation, seconds: float) -> Words | None:
    """Why Triton does not read one of them; None if it reads all.

    Raises:
        HostingError: it cannot be asked.
    """
    empty, log = copy.folder / "nothing", copy.folder / "unchanged.log"
    empty.mkdir()
    server = TritonServer(copy.runtime, empty, {**QUIET, MULTI_MODEL: "true"}, log=log)
    try:
        server.start()
        server.wait_ready(seconds)
        for number, (file, text) in enumerate(sorted(copy.originals.items())):
            model, repository = file.parent.name or ROOT, copy.folder / f"unchanged-{number}"
            _write(repository / model, text, (copy.repository / file).parent)
            start = server.log_end()
            if NOT_READ in post(server, repository, model):
                return words_about(file, server.reason(repository, start), copy)
    finally:
        server.stop(grace=0.0)
    return None


def _write(model: Path, config: bytes, beside: Path) -> None:
    """A model that has no version; by the names of its files Triton may know the backend."""
    (model / NO_VERSION).mkdir(parents=True)
    (model / CONFIG).write_bytes(config)
    for version in sorted(entry for entry in beside.iterdir() if entry.is_dir())[:1]:
        for entry in version.iterdir():
            (model / NO_VERSION / entry.name).touch()


_NOT_READ = re.compile(r'failed to read text proto from (?P<file>[^"\n]+)')
_CONFIG_LINE = re.compile(r"\bline (?P<line>\d+):\d+: ")
_MODEL = re.compile(r"\bmodel '(?P<model>[^']+)'")
_CODE_LINE = re.compile(r"\((?P<file>[^()]+):(?P<line>\d+)\)$")
_SYNTAX_ERROR = re.compile(r"\((?P<file>[^()/]+\.py), line (?P<line>\d+)\)$")
"""The end of Python's SyntaxError, which names no folder."""
_OF_STAND_IN = re.compile(
    r"failed to load: TritonModelException: "
    r"(?P<reason>onnx runtime error 1: Load model from (?P<file>\S+) failed:.*?)(?: \(\S+:\d+\))?$"
)
_PREFIXES = re.compile(
    r"load failed for model '[^']*': |version -?\d+ is at UNAVAILABLE state: "
    r"|failed to load '[^']*', failed to poll from model repository; |creating server: [A-Z][A-Za-z ]+ - "
    r"|(?:Internal|Invalid argument|Not found|Unsupported): "
    # A backend that has no stand-in is missing in the image as well.
    r"| \(the backends of this machine: [^()]*\)"
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """Why it was refused, and the place in the repository that this is about, if it is known.

    `by_stand_in` is whether the stand-in for ONNX Runtime's backend refused it, not Triton.
    """

    reason: str
    file: Path | None = None
    line: int | None = None
    by_stand_in: bool = False


def words(reason: str, log: str, preparation: Preparation) -> Words:
    """The report of Triton on the staged copy, in terms of the user's files.

    Args:
        reason: By the HTTP answer or by the log.
        log: What the server wrote, for the place.
        preparation: The staged copy.
    """
    reason = plain(reason, preparation)
    if match := _OF_STAND_IN.search(reason):
        return Words(reason=match["reason"], file=Path(match["file"]), by_stand_in=True)
    if match := _CODE_LINE.search(reason):
        return Words(reason=reason, file=Path(match["file"]), line=int(match["line"]))
    match = _SYNTAX_ERROR.search(reason)
    if match and (code := _code_file(match["file"], reason, preparation.repository)):
        return Words(reason=reason, file=code, line=int(match["line"]))
    return words_about(_config_of(reason, log, preparation), reason, preparation)


def words_about(file: Path | None, reason: str, preparation: Preparation) -> Words:
    """The report of Triton on a file of the repository; the line where it names one of a configuration."""
    reason = plain(reason, preparation)
    line = _CONFIG_LINE.search(reason) if file else None
    return Words(reason=reason, file=file, line=int(line["line"]) if line else None)


def _config_of(reason: str, log: str, preparation: Preparation) -> Path | None:
    """The configuration that Triton could not read, or that of the model that the reason names."""
    unread = [Path(match["file"].strip()) for match in _NOT_READ.finditer(log)]
    files = [preparation.repository / match["model"] / CONFIG for match in _MODEL.finditer(reason)]
    for file in (*unread, *files):
        if file.is_relative_to(preparation.repository) and file.is_file():
            return file.relative_to(preparation.repository)
    return None


def _code_file(name: str, reason: str, repository: Path) -> Path | None:
    """The only file of a name, in the model that the reason names or else in all; None if there are more."""
    models = {match["model"] for match in _MODEL.finditer(reason)}
    folders = [entry for entry in repository.iterdir() if entry.name in models] or [repository]
    files = [file for folder in folders for file in folder.rglob("*.py") if file.name == name]
    return files[0].relative_to(repository) if len(files) == 1 else None


def plain(reason: str, preparation: Preparation) -> str:
    """Without this machine's folders, and what the HTTP answer puts before the sentence."""
    text = _PREFIXES.sub("", reason)
    for folder in (preparation.registered_folder, preparation.repository):
        text = text.replace(f"{folder}::", "").replace(f"{folder}/", "")
    text = text.replace(f"{preparation.folder}/", "")
    return " ".join(text.split()).rstrip("; ")


def ready(log: str) -> tuple[str, ...]:
    """The models that a log reports as loaded, sorted."""
    models = {match["model"].rpartition("::")[2] for match in LOADED_MODEL.finditer(log)}
    return tuple(sorted(models))
