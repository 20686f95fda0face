"""Makes the folder that this file was unpacked to a virtual environment of the Python that runs the file.

The environment brings packages and no interpreter: in Triton's container it is of the container's Python, and
finds its numpy.
"""

from __future__ import annotations

import os
import site
import sys
from contextlib import suppress
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


def link(at: str, to: str | Path) -> None:
    """A link that may be there: several instances of a model start at once."""
    with suppress(FileExistsError):
        (FOLDER / at).symlink_to(to)


def write(file: str, lines: list[str]) -> None:
    """The file, whole from the moment it is there."""
    part = FOLDER / f"{file}.{os.getpid()}"
    part.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    part.replace(FOLDER / file)


home = Path(sys.base_prefix) / "bin"
(packages,) = (each.name for each in (FOLDER / "lib").iterdir() if not each.is_symlink())
link("bin/python3", home / PYTHON)
if packages != PYTHON:  # they fit every minor version: they are of Python alone, or keep to its stable ABI
    link(f"lib/{PYTHON}", packages)
write(f"lib/{packages}/site-packages/_of_the_container.pth", site.getsitepackages())
write("pyvenv.cfg", [f"home = {home}", "include-system-site-packages = false"])
