"""A command starts without what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.main import get_group

from triton_fleet.cli.commands import COMMANDS, app

PROGRAM = """\
import sys
from triton_fleet.cli.main import run
sys.argv = ["fleet", *sys.argv[1:]]
try:
    run()
except SystemExit:
    pass
WATCHED = ("pydantic", "boto3", "numpy", "aws_cdk", "moto", "fleet_emulator")
print([name for name in WATCHED if name in sys.modules])
"""


def loaded_by(*arguments: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    return process.stdout.splitlines()[-1]


def test_the_version_loads_no_command() -> None:
    assert loaded_by("--version") == "[]"


@pytest.mark.parametrize(
    "command",
    ["deploy", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("check", "show", "lock", "ls"))],
)
def test_no_command_loads_the_aws_client_before_it_calls_aws(command: str) -> None:
    assert loaded_by(command, "--help") == "['pydantic']"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_name_leads_to_a_command_of_that_name(name: str) -> None:
    command = get_group(app).commands[name]
    assert command.name == name
    assert command.help


def test_a_configuration_is_read_without_grpc() -> None:
    program = (
        "import sys; from triton_fleet.repository.model_config import parse_config;"
        """ print(parse_config(b'name: "bert"').name, "grpc" in sys.modules)"""
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["bert", "False"]
