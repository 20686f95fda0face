"""The package as others install it: what is in it, and that it does what the clone does."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest

from app_synth import synth
from fleet_folder import ROOT
from wheels import build, copy_fleet, install

pytestmark = pytest.mark.nightly

PACKAGES = {"fleet", "fleet_client", "fleet_emulator", "fleet_stacks", "triton_endpoints"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("installed") / "venv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped specs in a folder without the code."""
    return copy_fleet(tmp_path_factory.mktemp("fleet"))


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_two_builds_give_the_same_bytes(tmp_path: Path, target: str) -> None:
    first, second = (build(tmp_path / name, target) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_it_installs_no_name_that_an_app_may_have_itself(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == PACKAGES


def test_each_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    roots = {"fleet": ".", "fleet_client": ".", "triton_endpoints": "constructs"}
    roots |= {"fleet_emulator": "emulator", "fleet_stacks": "stacks"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = [name for name in listed.splitlines() if (ROOT / name).exists()]
    expected = {
        Path(name).relative_to(root).as_posix()
        for package, root in roots.items()
        for name in tracked
        if Path(name).is_relative_to(Path(root) / package)
    }
    elsewhere = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    forced = tuple(elsewhere["force-include"])
    expected |= {f"fleet/sources/{name}" for name in tracked if name.startswith(forced)}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected


def test_the_sdist_holds_files_of_git_alone(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with tarfile.open(build(tmp_path, "sdist")) as sdist:
        names = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
    assert names - set(listed.splitlines()) == {"PKG-INFO"}


def test_it_is_typed(wheel: Path) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(zipfile.ZipFile(wheel).namelist())


def test_its_dependencies_are_those_of_requirements_in_within_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        _name(line) for line in (ROOT / "requirements.in").read_text().splitlines() if line[:1].isalpha()
    }
    assert {_name(each) for each in project["dependencies"]} == named
    unbounded = [
        each for each in project["dependencies"] if "<" not in each and not each.startswith("tzdata")
    ]
    assert unbounded == []
    assert requires("triton-fleet") is not None


def test_the_installed_command_tells_its_version(python: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert _run(python.with_name("fleet"), "--version").stdout == f"fleet {version}\n"


@pytest.mark.parametrize(
    "environment", ["dev", "staging", "prod"] if "FLEET_SLOW" in os.environ else ["prod"]
)
def test_the_wheel_synthesises_the_bytes_that_the_clone_synthesises(
    python: Path, folder: Path, tmp_path: Path, environment: str
) -> None:
    clone = Path(sys.executable)
    made = {
        each: _templates(each, folder, environment, tmp_path / each.parent.parent.name)
        for each in (python, clone)
    }
    assert made[python] == made[clone]
    endpoints = list((folder / "locks" / environment).glob("*.lock.yaml"))
    assert len(made[python]) == len(endpoints) + 1


def _templates(python: Path, folder: Path, environment: str, output: Path) -> dict[str, bytes]:
    done = synth(output, environment, validates=False, python=python, root=folder)
    assert done.returncode == 0, done.stderr
    return {file.name: file.read_bytes() for file in output.glob("*.template.json")}


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


def _name(requirement: str) -> str:
    return requirement.split(";")[0].split("<")[0].split(">")[0].split("=")[0].strip().lower()
