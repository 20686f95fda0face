"""A fleet whose files nobody may write, and commands in it without the powers of root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FLEET = str(Path(sys.executable).parent / "fleet")
_WITHOUT_POWERS = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@contextmanager
def read_only_folder(root: Path) -> Iterator[None]:
    """Take the right to write from all files and folders, and give it back."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def run_without_powers(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of `fleet`, to which permissions apply even where root runs the tests."""
    command = [sys.executable, "-c", _WITHOUT_POWERS, _FLEET, *arguments]
    keys = {
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_ENDPOINT_URL": "http://localhost:9",
    }
    return subprocess.run(
        command, cwd=root, env={**os.environ, **keys}, capture_output=True, text=True, check=False
    )
