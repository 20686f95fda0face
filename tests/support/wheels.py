"""The wheels of this tree, and a Python that has them alone, with the dependencies of the Python of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from tests.support.fleet_folder import ROOT
from triton_fleet.product.distributions import (
    DISTRIBUTIONS,
    EMULATOR,
    Distribution,
    normal_name,
    wheel_name,
)

FLEET, ENDPOINTS, *_ = DISTRIBUTIONS
VERSION = version("triton-fleet")
_FLEET = ("app.py", "cdk.json", "environments", "locks", "model_specs", "package.json", "profiles")
"""What a fleet's folder holds."""


_OLDER: Mapping[Distribution, Mapping[str, str]] = {
    FLEET: {
        "triton_fleet/__init__.py": "",
        "triton_fleet/core/__init__.py": "",
        "triton_fleet/core/folders.py": f"from pathlib import Path\n\n\ndef source_path(name):\n    return Path({str(ROOT)!r}, name)\n",
        "triton_fleet/sources/requirements.txt": "",
        "triton_fleet/sources/cdk.json": "{}",
    },
    ENDPOINTS: {
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
    },
}
"""The files of wheels of another version, whose app makes stacks of a queue."""


def copy_fleet(folder: Path) -> Path:
    """Copy the shipped fleet into a folder, without the code; returns the folder."""
    for name in _FLEET:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    return folder


def build(folder: Path, target: str = "wheel", *, source: Path = ROOT) -> Path:
    """Build the `wheel` or the `sdist` in a folder with a pyproject.toml into a new folder; returns the file."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [file] = folder.iterdir()
    return file


def build_wheels(folder: Path, source: Path = ROOT) -> Path:
    """Build the wheels of all distributions of a tree into a folder; returns the folder."""
    for distribution in DISTRIBUTIONS:
        list(
            WheelBuilder(str(source / distribution.folder)).build(
                directory=str(folder), versions=["standard"]
            )
        )
    return folder


def write_wheel(folder: Path, part: Distribution, version: str, files: Mapping[str, str]) -> Path:
    """Write a wheel that needs nothing."""
    file = folder / wheel_name(part, version)
    about = f"{part.stem}-{version}.dist-info"
    metadata = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {part.name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(file, "w") as wheel:
        for name, text in {**files, **metadata}.items():
            wheel.writestr(zipfile.ZipInfo(name), text)
    return file


def empty_wheels(folder: Path, version: str = VERSION) -> Path:
    """Wheels of a version without code, for what only keeps them; returns the folder."""
    locks = ("requirements-local.txt", "requirements-triton.txt")
    of_emulator = {f"fleet_emulator/sources/{name}": (ROOT / name).read_text() for name in locks}
    folder.mkdir(exist_ok=True)
    for distribution in DISTRIBUTIONS:
        write_wheel(folder, distribution, version, of_emulator if distribution == EMULATOR else {})
    return folder


def older_wheel(folder: Path) -> Path:
    """The wheel of triton-fleet 0.0.1, which needs nothing; the others are beside it."""
    for distribution in DISTRIBUTIONS:
        write_wheel(folder, distribution, "0.0.1", _OLDER.get(distribution, {}))
    return folder / wheel_name(FLEET, "0.0.1")


def install(wheels: Path, folder: Path) -> Path:
    """A virtual environment of the wheels in a folder; returns its Python.

    Dependencies come from the environment of the tests. Its editable install of this tree does not, as Python
    reads `.pth` files in no folder that one of them names.
    """
    packages = _environment(sorted(wheels.iterdir()), folder)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    for name in ("node", "npm", "npx", "python3"):
        if not (tool := folder / "bin" / name).exists():
            tool.symlink_to(Path(sys.executable).with_name(name))
    return folder / "bin" / "python"


def install_alone(wheels: Iterable[Path], folder: Path) -> Path:
    """A virtual environment of wheels and of what their metadata requires, and nothing else; returns its Python."""
    packages = _environment(wheels, folder)
    lines = [line for item in metadata.distributions(path=[str(packages)]) for line in item.requires or ()]
    for item in needed_distributions(lines).values():
        for top in {file.parts[0] for file in item.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(item.locate_file(top)))
    return folder / "bin" / "python"


def needed_distributions(requirements: Iterable[str]) -> Mapping[str, metadata.Distribution]:
    """The distributions of others that requirements lead to on this platform, as the environment of the tests has them."""
    rest, result = list(requirements), dict[str, metadata.Distribution]()
    own = {part.name for part in DISTRIBUTIONS}
    while rest:
        requirement = Requirement(rest.pop())
        name = normal_name(requirement.name)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and name not in result and name not in own:
            result[name] = metadata.distribution(name)
            rest += result[name].requires or ()
    return result


def _environment(wheels: Iterable[Path], folder: Path) -> Path:
    """A virtual environment of wheels, without what they need; returns the folder of its packages."""
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    command = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", f"{folder}/bin/python"]
    subprocess.run([*command, *map(str, wheels)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    return packages
