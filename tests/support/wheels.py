"""The wheel of this tree, and a Python that has it alone, with the dependencies of the Python of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from fleet_folder import ROOT

_FLEET = ("app.py", "cdk.json", "environments", "locks", "model_specs", "package.json", "profiles")
"""What a fleet's folder holds."""


def copy_fleet(folder: Path) -> Path:
    """Copy the shipped fleet into a folder, without the code; returns the folder."""
    for name in _FLEET:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    return folder


def build(folder: Path, target: str = "wheel", *, source: Path = ROOT) -> Path:
    """Build the `wheel` or the `sdist` of a tree into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [file] = folder.iterdir()
    return file


def install(wheel: Path, folder: Path) -> Path:
    """A virtual environment of the wheel; returns its Python.

    Dependencies come from the environment of the tests. Its editable install of this tree does not, as Python
    reads `.pth` files in no folder that one of them names.
    """
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(python), str(wheel)],
        check=True,
    )
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    for name in ("node", "npm", "npx", "python3"):
        if not (tool := folder / "bin" / name).exists():
            tool.symlink_to(Path(sys.executable).with_name(name))
    return python
