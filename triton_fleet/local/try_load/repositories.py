"""A model repository, loaded in the real Triton of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet_emulator.hosting import HostingError
from triton_fleet.check.target import RepositoryTarget
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.start_rules import MULTI_MODEL
from triton_fleet.local.try_load.load_request import NOT_READ, QUIET, post, target_of
from triton_fleet.local.try_load.messages import Words, ready, words, words_about
from triton_fleet.local.try_load.parts import loaded_parts
from triton_fleet.local.try_load.preparation import Preparation, prepare
from triton_fleet.local.try_load.result import TryLoadResult
from triton_fleet.local.try_load.triton_load import ask, multi_model, shared, single
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
        Mode.SHARED_CONTAINER: shared(copy.repository),
    }[mode]
    outcome = ask(copy, environment, archive, seconds)
    why = words(outcome.reason, outcome.log, copy)
    if not outcome.reason and copy.originals:
        why = original_refusal(copy, seconds) or why
    answer = TryLoadResult(
        path=path,
        release=copy.runtime.release,
        image_release=copy.runtime.image_release,
        reason=why.reason,
        file=path / why.file if why.file else None,
        line=why.line,
        by_stand_in=why.by_stand_in,
        rewrites=copy.rewrites,
        doubts=copy.doubts,
        silent=outcome.silent,
    )
    if why.reason:
        return answer
    parts = loaded_parts(copy, container, path.name)
    left = {*parts.untried_models, *parts.incomplete_ensembles}
    directories = {target_of(archive): parts.main}
    models = tuple(each for each in ready(outcome.log) if directories.get(each, each) not in left)
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
