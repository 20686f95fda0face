"""A group of processes that has so much memory: the kernel's own OOM killer ends one that takes more."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from triton_fleet.local.triton.runtime import TritonRuntime

CGROUPS = Path("/sys/fs/cgroup")


@contextmanager
def memory_group(mebibytes: int) -> Iterator[Path]:
    """Its folder; a test that needs it is skipped where this user may make none."""
    is_first_version = (CGROUPS / "memory").is_dir()
    group = (CGROUPS / "memory" if is_first_version else CGROUPS) / f"triton-fleet-{uuid.uuid4().hex[:12]}"
    limit = "memory.limit_in_bytes" if is_first_version else "memory.max"
    try:
        group.mkdir()
        (group / limit).write_text(str(mebibytes << 20))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"this machine limits no memory for this user: {error}")
    try:
        yield group
    finally:
        pause = threading.Event()
        while (group / "cgroup.procs").read_text():
            pause.wait(0.05)
        group.rmdir()


def runtime_in(runtime: TritonRuntime, group: Path, folder: Path) -> TritonRuntime:
    """The same Triton, whose processes and those of its models are in the group."""
    binary = folder / "tritonserver"
    binary.write_text(f'#!/bin/sh\necho $$ > {group}/cgroup.procs\nexec {runtime.binary} "$@"\n')
    binary.chmod(0o755)
    return replace(runtime, binary=binary)


def end_first(pid: int) -> None:
    """Have the kernel end this process before all others of its group, were they to take ten times as much."""
    Path(f"/proc/{pid}/oom_score_adj").write_text("1000")


def ooms(group: Path) -> int:
    """How many processes of the group the OOM killer has ended."""
    for name in ("memory.events", "memory.oom_control"):
        if (group / name).is_file():
            counts = dict(line.split() for line in (group / name).read_text().splitlines())
            return int(counts["oom_kill"])
    raise FileNotFoundError(os.fspath(group))
