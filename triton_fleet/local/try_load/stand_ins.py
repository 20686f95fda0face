"""Stand-ins for the backends that a repository asks for and that this machine does not have."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from fleet_emulator.triton_backends import ANY_BACKEND
from triton_fleet.local.triton.model_backend import STAND_INS, model_config
from triton_fleet.local.triton.model_config import write
from triton_fleet.local.triton.staging import Rewrite
from triton_fleet.repository.model_config import CONFIG

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
OF_STAND_INS = shutil.ignore_patterns(*STAND_INS)
"""The backends whose stand-in loads less than they do, or lacks a package: its verdict is not theirs."""


def with_stand_ins(backends: Path, wanted: Iterable[str], target: Path) -> tuple[str, ...]:
    """Copy the backends of this machine to `target`, and put a stand-in for each that is wanted beside them.

    A name that cannot be a folder gets none: Triton reports that it does not find it.

    Returns:
        The backends that are stood in for, sorted.
    """
    shutil.copytree(backends, target, ignore=OF_STAND_INS)
    missing = tuple(
        sorted({name for name in wanted if NAME.fullmatch(name) and not (target / name).exists()})
    )
    for name in missing:
        (target / name).mkdir()
        shutil.copy2(ANY_BACKEND, target / name / ANY_BACKEND.name)
    return missing


def without_tensors(repository: Path, models: Iterable[str]) -> list[str]:
    """Those of the models whose configuration lacks inputs or outputs, which their own backend would know."""
    configs = {model: model_config(repository / model) for model in models}
    return [model for model, config in configs.items() if config and not (config.input and config.output)]


def without_runtimes(repository: Path, models: Iterable[str]) -> Iterator[Rewrite]:
    """Take the name of the missing library out of configurations that give it; a stand-in has none.

    The files of the rewrites are relative to the model repository.
    """
    for model in models:
        file, config = repository / model / CONFIG, model_config(repository / model)
        if config and config.runtime.endswith(".so") and not file.parent.is_symlink():
            was = f'runtime: "{config.runtime}"'
            config.ClearField("runtime")
            file.unlink()  # it may be a link to the original
            file.write_text(write(config), "utf-8")
            yield Rewrite(file=file.relative_to(repository), was=was, became="")
