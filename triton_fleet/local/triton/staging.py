"""A copy of a model repository that a machine without a GPU can serve."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_fleet.local.triton.model_backend import STAND_INS, one_line, parse, write
from triton_fleet.repository.backends import named_backend
from triton_fleet.repository.model_config import CONFIG

_LINKED_FROM = (
    1024 * 1024
)  # bytes; smaller files are copied, so that a model which writes into one harms no other


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

    A configuration that does not parse is copied as it is: Triton reports what is wrong with it.
    """
    rewrites: list[Rewrite] = []
    shutil.copytree(repository, target, symlinks=True, copy_function=_link_or_copy)
    for file in (*sorted(target.rglob(CONFIG)), *sorted(target.rglob("configs/*.pbtxt"))):
        config = parse(file.read_bytes())
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


Change = tuple[str, str]


def for_cpu(config: Any) -> Iterator[Change]:
    """Change the ModelConfig in place; yield each change as what was and what it became (empty: dropped)."""
    for group in config.instance_group:
        yield from _instance_group(group)
    if not config.instance_group and named_backend(config) in ("onnxruntime", *STAND_INS):
        group = config.instance_group.add(count=1, kind="KIND_CPU")
        # Triton's default for their stand-ins on a CPU is two instances, each with the whole model in memory.
        yield "no instance_group", f"instance_group {{ {one_line(group)} }}"
    yield from _optimization(config)


def _instance_group(group: Any) -> Iterator[Change]:
    kinds = type(group)
    automatic_gpus = group.kind == kinds.KIND_AUTO and group.gpus
    if group.kind != kinds.KIND_GPU and not automatic_gpus:
        return
    was = one_line(group)
    group.kind = kinds.KIND_CPU
    for field in ("gpus", "profile", "secondary_devices"):
        group.ClearField(field)
    if group.count == 0:
        group.count = 1  # the default on a GPU; on a CPU some backends would start two
    yield f"instance_group {{ {was} }}", f"instance_group {{ {one_line(group)} }}"


def _optimization(config: Any) -> Iterator[Change]:
    optimization = config.optimization
    if optimization.HasField("cuda"):
        yield f"optimization {{ cuda {{ {one_line(optimization.cuda)} }} }}", ""
        optimization.ClearField("cuda")
    accelerators = optimization.execution_accelerators
    if accelerators.gpu_execution_accelerator:
        names = ", ".join(accelerator.name for accelerator in accelerators.gpu_execution_accelerator)
        yield f"optimization {{ execution_accelerators {{ gpu_execution_accelerator: {names} }} }}", ""
        accelerators.ClearField("gpu_execution_accelerator")
        if not accelerators.ByteSize():
            optimization.ClearField("execution_accelerators")
    if config.HasField("optimization") and not optimization.ByteSize():
        config.ClearField("optimization")
