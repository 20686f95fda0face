"""Whether the dynamic linker can start Triton's programs, and which shared library is missing if not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from fleet.findings import CannotRunError

LIBPYTHON = f"libpython{sys.version_info.major}.{sys.version_info.minor}"


def libpython_directory() -> tuple[Path, ...]:
    """Where the running Python keeps its shared library; empty when it was built without one.

    Triton's Python stub is linked to that library. Without this directory the system's own is taken, if any.
    """
    directory = Path(sysconfig.get_config_var("LIBDIR") or "")
    return (directory,) if (directory / f"{LIBPYTHON}.so.1.0").is_file() else ()


def check_starts(command: list[str], library_path: tuple[Path, ...]) -> None:
    """Run a command that only prints its usage.

    Raises:
        CannotRunError: the linker cannot start it; the text names the library and how to get it.
    """
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, library_path))}
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
    except OSError as error:
        raise CannotRunError(f"{Path(command[0]).name} of Triton cannot be started: {error}") from error
    # 127 is the linker's own exit code; whatever the program itself says means that it was linked.
    if run.returncode == 127 or "error while loading shared libraries" in run.stderr:
        raise linker_error(Path(command[0]).name, run.stderr)


def linker_error(program: str, stderr: str) -> CannotRunError:
    """What the linker's complaint means for the user."""
    complaint = (stderr.strip().splitlines() or ["no reason given"])[0].split(": ", 1)[-1]
    if LIBPYTHON in complaint:
        package = f"install a shared {LIBPYTHON} (Debian, Ubuntu: apt install {LIBPYTHON})"
        remedy = f"{package}, or use a Python built with --enable-shared"
    elif re.search(r"GLIBC_[\d.]+", complaint):
        remedy = "Triton's wheel needs glibc 2.35 or newer: Ubuntu 22.04, Debian 12, RHEL 10"
    else:
        remedy = "install the library that it names"
    return CannotRunError(f"{program} of Triton does not start: {complaint}", remedy)
