"""The wheel of this tree, and a Python that has it alone, with the dependencies of the Python of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path

from fleet_folder import ROOT

VERSION = version("triton-fleet")
_FLEET = ("app.py", "cdk.json", "environments", "locks", "model_specs", "package.json", "profiles")
"""What a fleet's folder holds."""


_OLDER = {
    "fleet/__init__.py": "",
    "fleet/core/__init__.py": "",
    "fleet/core/sources.py": f"from pathlib import Path\n\n\ndef source_path(name):\n    return Path({str(ROOT)!r}, name)\n",
    "triton_endpoints/__init__.py": "",
    "fleet_stacks/__init__.py": "",
    "fleet_stacks/app.py": """
import json, os, pathlib

def run(root):
    stacks = "triton-fleet-staging", "triton-fleet-staging-resnet50"
    for stack in stacks:
        template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
        pathlib.Path(os.environ["CDK_OUTDIR"], f"{stack}.template.json").write_text(json.dumps(template))
""",
    "fleet/sources/requirements.txt": "",
    "fleet/sources/cdk.json": "{}",
    "triton_fleet-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: triton-fleet\nVersion: 0.0.1\n",
    "triton_fleet-0.0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "triton_fleet-0.0.1.dist-info/RECORD": "",
}
"""The files of a wheel of another version, whose app makes stacks of a queue."""


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


def empty_wheel(folder: Path, version: str = VERSION) -> Path:
    """A wheel of a version that holds nothing but its metadata, for what only keeps it."""
    file = folder / f"triton_fleet-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        metadata = zipfile.ZipInfo(f"triton_fleet-{version}.dist-info/METADATA")
        wheel.writestr(metadata, f"Metadata-Version: 2.1\nName: triton-fleet\nVersion: {version}\n")
    return file


def older_wheel(folder: Path) -> Path:
    """A wheel of version 0.0.1, which needs nothing."""
    file = folder / "triton_fleet-0.0.1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        for name, text in _OLDER.items():
            wheel.writestr(zipfile.ZipInfo(name), text)
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
