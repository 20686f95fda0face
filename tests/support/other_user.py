"""Another user of this machine, for what a test tries as somebody else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_UID = 65534


def run_as_other_user(script: str, *arguments: str) -> str:
    """The output of a Python script that has imported os, socket and sys; skips the test unless it runs as root."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    # The other user may not read this Python's modules: what the script needs is imported before.
    start = f"import encodings.idna, os, socket, sys\nos.setgid({_UID}); os.setuid({_UID})\n"
    command = [sys.executable, "-c", start + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
