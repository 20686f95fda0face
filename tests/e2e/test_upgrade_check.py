"""`fleet upgrade-check` against another version in a Python of its own, and against the last release."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from fleet_folder import ROOT
from wheels import build, install

FLEET = ("app.py", "cdk.json", "environments", "locks", "model_specs")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with this version, to be made another one."""
    folder = tmp_path_factory.mktemp("other")
    return install(build(folder / "wheel"), folder / "venv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FLEET:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    return tmp_path


def check(folder: Path, python: Path, *options: str) -> tuple[int, list[str]]:
    command = [
        str(Path(sys.executable).with_name("fleet")),
        "upgrade-check",
        "--python",
        str(python),
        *options,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


def test_each_replacement_is_listed_and_fails_unless_it_is_expected(folder: Path, other: Path) -> None:
    [stack] = other.parent.parent.glob("lib/python*/site-packages/fleet_stacks/endpoint.py")
    shipped = stack.read_text()
    same = check(folder, other, "--env", "staging")
    stack.write_text(shipped.replace('TritonModel(self, "Model"', 'TritonModel(self, "Served"'))
    changed = check(folder, other, "--env", "staging")
    expected = ("AWS::SageMaker::Model", "AWS::SageMaker::EndpointConfig")
    allowed = check(folder, other, "--env", "staging", *(f"--expect={each}" for each in expected))
    stack.write_text(shipped)
    assert same == (0, ["staging: no template changes (7 stacks)"])
    assert changed[0] == 1
    kinds = [line.split()[:2] for line in changed[1] if line.startswith("  ")]
    assert kinds.count(["removed", "AWS::SageMaker::Model"]) == 6
    assert kinds.count(["replaced", "AWS::SageMaker::EndpointConfig"]) == 6
    assert "would be replaced or removed; where that is intended: --expect TYPE" in changed[1][-1]
    assert allowed == (0, changed[1][:-1])


def test_an_app_that_fails_is_reported_with_its_findings(folder: Path, other: Path) -> None:
    (folder / "environments/dev.yaml").write_text("environment: dev\n")
    code, lines = check(folder, other, "--env", "dev")
    assert code == 2
    assert any("environments/dev.yaml:1" in line for line in lines)
    assert lines[-1] == "  remedy: see what it finds: fleet check --env dev"


def test_this_tree_replaces_nothing_that_the_last_release_deployed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The release is built again from its tag: a wheel has the same bytes whenever it is built."""
    tags = subprocess.run(
        ["git", "tag", "--list", "v*", "--sort=-version:refname"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    if not tags.stdout:
        pytest.skip("there is no release yet: no tag v*")
    tag, released = tags.stdout.split()[0], tmp_path_factory.mktemp("released")
    archive = subprocess.run(["git", "archive", tag], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(released / "tree", filter="data")
    python = install(build(released / "wheel", source=released / "tree"), released / "venv")
    command = [str(python.with_name("fleet")), "upgrade-check", "--python", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
