"""A command as a user types it, and how it ends: in this process, or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class TypedResult:
    code: object
    out: str
    err: str


RunFleet: TypeAlias = Callable[..., TypedResult]


def fleet(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`fleet ARGUMENTS` in that folder, a process of its own."""
    command = [str(Path(sys.executable).parent / "fleet"), *arguments]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in process.stderr
    return process
