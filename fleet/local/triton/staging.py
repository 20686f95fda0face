"""A copy of a model repository that a machine without a GPU can serve."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from fleet.local.triton.model_config import parse, write
from fleet.local.triton.rewrites import for_cpu

_LINKED_FROM = (
    1024 * 1024
)  # bytes; smaller files are copied, so that a model which writes into one harms nobody


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """One setting that the staged copy has otherwise; `became` is empty where it was dropped.

    `file` is relative to the repository.
    """

    file: Path
    was: str
    became: str

    def __str__(self) -> str:
        return f"{self.file}: {self.was} -> {self.became or 'dropped'}"


def stage(repository: Path, target: Path) -> list[Rewrite]:
    """Copy the repository to `target`, which must not exist, without the settings that need a GPU.

    A configuration that does not parse is copied as it is: what is wrong with it is Triton's to say.
    """
    rewrites: list[Rewrite] = []
    shutil.copytree(repository, target, symlinks=True, copy_function=_link_or_copy)
    for file in (*sorted(target.rglob("config.pbtxt")), *sorted(target.rglob("configs/*.pbtxt"))):
        config = parse(file.read_text("utf-8", "replace"))
        changes = list(for_cpu(config)) if config is not None else []
        if changes:
            file.unlink()  # it may be a link to the original
            file.write_text(write(config), "utf-8")
        rewrites += [
            Rewrite(file=file.relative_to(target), was=was, became=became) for was, became in changes
        ]
    return rewrites


def _link_or_copy(source: str, target: str) -> None:
    if Path(source).stat().st_size >= _LINKED_FROM:
        try:
            os.link(source, target)
        except OSError:  # another file system, or one without links
            pass
        else:
            return
    shutil.copy2(source, target)
