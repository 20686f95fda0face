"""Files that the processes of commands take from the folder in which they run: none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from triton_fleet.local.supervisor_process import supervisor_command
from triton_fleet.process_guard import start_with_guard
from triton_fleet.product.synthesis import OWN_PYTHON, installation, isolate
from triton_fleet.product.tools import check_node

MODULES = (
    "yaml",
    "json",
    "boto3",
    "psutil",
    "pydantic",
    "aws_cdk",
    "fleet_stacks",
    "sitecustomize",
    "usercustomize",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet of others whose modules have the names of those that we import; it is the working directory."""
    place = tmp_path / "theirs"
    place.mkdir()
    for name in MODULES:
        (place / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name}')\n")
    (place / "package.json").write_text('{"type": "module", "scripts": {"version": "touch ../ran"}}')
    (place / ".npmrc").write_text("node-options=--require ./evil.js\n")
    monkeypatch.chdir(place)
    return place


def run(command: list[str], folder: Path) -> None:
    environment = isolate(os.environ)
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=120)


def test_no_module_beside_a_fleet_is_imported(folder: Path) -> None:
    run(supervisor_command(folder, -1), folder)
    assert installation(OWN_PYTHON).version
    run([str(OWN_PYTHON), "-P", "-c", "import yaml, json, boto3, pydantic, psutil"], folder)
    assert not (folder.parent / "ran").exists()


def test_without_the_option_python_imports_them(folder: Path) -> None:
    """So that the test above shows something."""
    run([line for line in supervisor_command(folder, -1) if line != "-P"], folder)
    assert (folder.parent / "ran").exists()


def test_node_is_asked_for_its_version_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    node = tmp_path / "bin/node"
    node.write_text('#!/bin/sh\n[ "$*" = --version ] && echo v22.0.0\n')
    node.chmod(0o755)
    check_node(str(tmp_path / "bin"))
    assert not (folder.parent / "ran").exists()


def test_arguments_are_no_part_of_a_script(folder: Path) -> None:
    words = ["$(touch ../ran)", "`touch ../ran`", "; touch ../ran", "a\nb"]
    process, guard = start_with_guard([sys.executable, "-P", "-c", "pass", *words], stdout=subprocess.DEVNULL)
    assert process.wait() == 0
    guard.kill()
    guard.communicate()
    assert not (folder.parent / "ran").exists()
