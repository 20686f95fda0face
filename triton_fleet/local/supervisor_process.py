"""The local fleet's background process among all processes, known by its command line and its owner."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from triton_fleet.findings import CannotRunError

MODULE = "triton_fleet.local"


def supervisor_command(root: Path, announce: int) -> list[str]:
    """Start of the background process, which announces itself on a file descriptor.

    It imports no module that is beside the fleet, in whose folder it runs.
    """
    return [sys.executable, "-P", "-m", MODULE, str(root), str(announce)]


def supervisor_process(pid: int, root: Path) -> psutil.Process | None:
    """The background process of the fleet in `root`, if a pid is its; None where it is another process's.

    A pid alone proves nothing: a file may be edited, and a number is given out again.
    """
    try:
        process = psutil.Process(pid)
        is_ours = process.uids().real == os.getuid() and _runs_fleet(process.cmdline(), root)
    except psutil.Error:
        return None
    return process if is_ours else None


def state_problem(file: Path, problem: str, root: Path) -> CannotRunError:
    """The refusal of a state file that does not lead to the process which runs the local fleet."""
    processes = [pid for pid in psutil.pids() if supervisor_process(pid, root)]
    remedy = "end the process that `fuser` names for supervisor.lock beside it; then run `fleet local up`"
    if processes:
        remedy = f"`kill {' '.join(map(str, processes))}` ends it; then run `fleet local up`"
    return CannotRunError(f"{file} {problem}, and a local fleet runs here", remedy)


def _runs_fleet(command: Sequence[str], root: Path) -> bool:
    arguments = ["-m", MODULE, str(root)]
    return any(list(command[start : start + 3]) == arguments for start in range(len(command)))
