"""A model repository, loaded in the real Triton of this machine."""

from __future__ import annotations

from pathlib import Path

from fleet.local.triton.runtime import TritonRuntime
from fleet.local.try_load.messages import ready, words
from fleet.local.try_load.original_configs import refused_as_written
from fleet.local.try_load.preparation import Prepared, prepared
from fleet.local.try_load.result import Answer
from fleet.local.try_load.triton_load import ask, multi_model, single
from fleet.repository.unpacking import TooLargeError
from fleet_emulator.hosting import HostingError

SECONDS = 60.0


def last_word(
    path: Path, runtime: TritonRuntime, *, mode: str, default_model: str = "", seconds: float = SECONDS
) -> Answer:
    """Load a folder or an archive as the container does; nothing of it is left, and `path` is not touched.

    Args:
        path: The model repository, or the .tar.gz of one.
        runtime: This machine's Triton.
        mode: `single`: the container's start rules, then the start of a server. `multi-model`: a running
            server is asked to load it.
        default_model: In single mode the directory to load, where the repository has several.
        seconds: How long Triton may take.

    Raises:
        CannotRunError: this machine cannot copy the repository.
    """
    of_many = mode == "multi-model"
    try:
        with prepared(path, runtime, multi_model=of_many) as copy:
            return _answer(path, copy, default_model, seconds, of_many=of_many)
    except (HostingError, TooLargeError) as error:
        return Answer(path=path, release=runtime.release, loaded=False, reason=str(error), stand_ins={})


def _answer(path: Path, copy: Prepared, default_model: str, seconds: float, *, of_many: bool) -> Answer:
    archive = path.name if path.is_file() else f"{path.name}.tar.gz"
    said = ask(copy, multi_model() if of_many else single(default_model), archive, seconds)
    why = words(said.reason, said.log, copy)
    if not said.reason and copy.originals:
        why = refused_as_written(copy, seconds) or why
    return Answer(
        path=path,
        release=copy.runtime.release,
        loaded=not why.reason,
        reason=why.reason,
        file=path / why.file if why.file else None,
        line=why.line,
        ready=ready(said.log) if not why.reason else (),
        rewrites=copy.rewrites,
        stand_ins=copy.stand_ins,
        doubts=copy.doubts,
        silent=said.silent,
    )
