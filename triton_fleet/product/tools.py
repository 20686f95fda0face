"""The packages that npm installs for a fleet, with the Node.js that runs them, and their versions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from triton_fleet.findings import CannotRunError
from triton_fleet.product.pin import install_command

OLDEST_NODE = 22
GET_PACKAGES = (
    "run `make setup`, or `npm ci --ignore-scripts` beside package.json: npm comes with triton-fleet[deploy]"
)


def tool_path() -> str:
    """PATH with this Python's folder first, for its node, and its python3 for the CDK app."""
    return os.pathsep.join((str(Path(sys.prefix) / "bin"), os.environ.get("PATH", os.defpath)))


def cdk_cli(root: Path) -> Path:
    """The CDK CLI that package.json pins.

    Raises:
        CannotRunError: the CLI or its Node.js is missing or has a wrong version.
    """
    check_node(tool_path())
    npm_package(root, "aws-cdk", "the CDK CLI")
    return root / "node_modules" / ".bin" / "cdk"


def cdk_toolkit(root: Path) -> Path:
    """The folder of the CDK's toolkit that package.json pins.

    Raises:
        CannotRunError: the toolkit is missing or has a wrong version.
    """
    return npm_package(root, "@aws-cdk/toolkit-lib", "the CDK's toolkit")


def npm_package(root: Path, package: str, label: str) -> Path:
    """The folder of a package that package.json pins.

    Args:
        root: The fleet.
        package: Its name.
        label: What it is, for people.

    Raises:
        CannotRunError: it is missing, has a wrong version, or is not pinned.
    """
    pinned_version = _pinned_version(root / "package.json", package, label)
    folder = root / "node_modules" / package
    if not (folder / "package.json").is_file():
        raise CannotRunError(f"{label} {pinned_version} is not installed in {root}", GET_PACKAGES)
    version = json.loads((folder / "package.json").read_text())["version"]
    if version != pinned_version:
        raise CannotRunError(f"{label} is {version}; package.json pins {pinned_version}", GET_PACKAGES)
    return folder


def _pinned_version(file: Path, package: str, label: str) -> str:
    try:
        return str(json.loads(file.read_text())["devDependencies"][package])
    except (OSError, ValueError, KeyError) as error:
        problem = f"{file} does not pin {label} under devDependencies: {error}"
        raise CannotRunError(problem, "restore the file, or run `fleet init --upgrade`") from error


def get_node() -> str:
    """The remedy where Node.js is missing, or is another one."""
    return (
        "run `make setup`, which installs it as a Python wheel, then `source .venv/bin/activate`; without a"
        f" Makefile: {install_command('[deploy]')}"
    )


def check_node(path: str) -> None:
    """Check that the Node.js first on a PATH is new enough for the CDK.

    Raises:
        CannotRunError: it is too old, or there is none.
    """
    node = shutil.which("node", path=path)
    if node is None:
        raise CannotRunError("Node.js is not on PATH", get_node())
    process = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.fullmatch(r"v(\d+)\..*", process.stdout.strip())
    if version is None:
        output = (process.stderr or process.stdout).strip()
        problem = f"{node} does not print its version (exit code {process.returncode}): {output}"
        raise CannotRunError(problem, get_node())
    if int(version[1]) < OLDEST_NODE:
        problem = f"{node} is Node.js {version[0]}; {OLDEST_NODE} or newer is needed"
        raise CannotRunError(problem, get_node())
