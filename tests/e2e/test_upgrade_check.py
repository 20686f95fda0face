"""`fleet upgrade-check` against another version in a Python of its own, and against the last release."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.wheels import build_wheels, copy_fleet, install

pytestmark = pytest.mark.nightly

VERSION = version("triton-fleet")
ENDPOINTS = ("model-zoo", "sentence-embeddings")
CLONE = os.pathsep.join(str(ROOT / name) for name in (".", "client", "constructs", "emulator", "stacks"))
"""A PYTHONPATH by which any Python would import this tree."""


@pytest.fixture(scope="module")
def other_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with this version, to be made another one."""
    folder = tmp_path_factory.mktemp("other")
    return install(build_wheels(folder / "wheel"), folder / "venv")


@pytest.fixture
def shipped_clone(tmp_path: Path) -> Path:
    return copy_fleet(tmp_path)


@pytest.fixture
def folder(shipped_clone: Path) -> Path:
    """Two of the shipped endpoints."""
    for file in [*shipped_clone.glob("model_specs/*.yaml"), *shipped_clone.glob("locks/*/*.yaml")]:
        if file.name.partition(".")[0] not in ENDPOINTS:
            file.unlink()
    return shipped_clone


def check(folder: Path, python: Path, *options: str) -> tuple[int, list[str]]:
    command = [
        str(Path(sys.executable).with_name("fleet")),
        "upgrade-check",
        "--python",
        str(python),
        *options,
    ]
    variables = {**os.environ, "PYTHONPATH": CLONE}
    process = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    return process.returncode, process.stdout.splitlines() + process.stderr.splitlines()


@contextmanager
def patch_file(python: Path, path: str, shipped_text: str, other_text: str) -> Iterator[None]:
    """Another text in a file of the packages of a Python."""
    [file] = python.parent.parent.glob(f"lib/python*/site-packages/{path}")
    text = file.read_text()
    assert shipped_text in text
    file.write_text(text.replace(shipped_text, other_text))
    try:
        yield
    finally:
        file.write_text(text)


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="a minute: FLEET_SLOW=1 runs it")
def test_each_removal_is_listed_and_fails_even_if_its_type_is_expected(
    folder: Path, other_clone: Path
) -> None:
    same = check(folder, other_clone, "--env", "staging")
    with patch_file(
        other_clone,
        "triton_endpoints/endpoint/parts.py",
        'EndpointModel(scope, "Model"',
        'EndpointModel(scope, "Served"',
    ):
        changed_value = check(folder, other_clone, "--env", "staging")
        expected_texts = ("AWS::SageMaker::Model", "AWS::SageMaker::EndpointConfig")
        allowed_names = check(
            folder,
            other_clone,
            "--env",
            "staging",
            *(f"--expect={expected_text}" for expected_text in expected_texts),
        )
    assert f" compared with {VERSION} ({other_clone.parent.parent}/lib/" in same[1][0]
    assert (same[0], same[1][1:]) == (0, ["staging: no template changes (3 stacks)"])
    assert changed_value[0] == 1
    kinds = [line.split()[:2] for line in changed_value[1] if line.startswith("  ")]
    assert kinds.count(["removed", "AWS::SageMaker::Model"]) == 2
    assert kinds.count(["replaced", "AWS::SageMaker::EndpointConfig"]) == 2
    assert changed_value[1][-1].startswith("6 changes would replace or remove a resource or are unsafe; ")
    assert allowed_names[0] == 1
    assert allowed_names[1][:-1] == changed_value[1][:-1]
    assert allowed_names[1][-1].startswith("4 changes ")


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="half a minute: FLEET_SLOW=1 runs it")
def test_each_replacement_is_listed_and_fails_unless_it_is_expected(folder: Path, other_clone: Path) -> None:
    with patch_file(
        other_clone, "triton_endpoints/endpoint/model.py", "image=endpoint.image.uri", 'image="other:1"'
    ):
        changed_value = check(folder, other_clone, "--env", "staging")
        expected_texts = ("AWS::SageMaker::Model", "AWS::SageMaker::EndpointConfig", "AWS::CloudWatch::Alarm")
        allowed_names = check(
            folder,
            other_clone,
            "--env",
            "staging",
            *(f"--expect={expected_text}" for expected_text in expected_texts),
        )
    assert changed_value[0] == 1
    kinds = [line.split()[:2] for line in changed_value[1] if line.startswith("  ")]
    assert kinds.count(["replaced", "AWS::SageMaker::Model"]) == 2, changed_value[1]
    assert kinds.count(["replaced", "AWS::SageMaker::EndpointConfig"]) == 2, changed_value[1]
    assert kinds.count(["updated", "AWS::SageMaker::Endpoint"]) == 2, changed_value[1]
    assert allowed_names == (0, changed_value[1][:-1])


def test_the_other_version_synthesises_with_its_own_settings(folder: Path, other_clone: Path) -> None:
    with patch_file(
        other_clone, "triton_fleet/sources/cdk.json", '"context": {', '"context": {"foundation": "only",'
    ):
        code, lines = check(folder, other_clone, "--env", "dev")
    assert code == 1
    assert sum(line.startswith("  removed   AWS::SageMaker::Endpoint ") for line in lines) == 2, lines


def test_a_python_with_the_same_files_is_refused(folder: Path) -> None:
    code, lines = check(folder, Path(sys.executable))
    assert code == 2
    assert lines[0].endswith("one version would be compared with itself")


@pytest.mark.parametrize("name", ["0.3.0", "latest", "triton-fleet", "--pre"])
def test_a_version_or_a_name_that_an_index_would_resolve_is_refused(folder: Path, name: str) -> None:
    command = [str(Path(sys.executable).with_name("fleet")), "upgrade-check", "--", name]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert f"{name} is not a wheel of triton-fleet" in process.stderr
    assert not (folder / ".fleet/upgrade").exists()


def test_an_app_that_fails_is_reported_with_its_findings(folder: Path, other_clone: Path) -> None:
    (folder / "environments/dev.yaml").write_text("environment: dev\n")
    code, lines = check(folder, other_clone, "--env", "dev")
    assert code == 2
    assert any("environments/dev.yaml:1" in line for line in lines)
    assert lines[-1] == "  remedy: see what it finds: fleet check --env dev"


def test_this_tree_replaces_nothing_that_the_last_release_deployed(
    shipped_clone: Path, tmp_path_factory: pytest.TempPathFactory
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
    tag, folder = tags.stdout.split()[0], tmp_path_factory.mktemp("released")
    archive = subprocess.run(["git", "archive", tag], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder / "tree", filter="data")
    python = install(build_wheels(folder / "wheel", source=folder / "tree"), folder / "venv")
    command = [str(python.with_name("fleet")), "upgrade-check", "--python", sys.executable]
    process = subprocess.run(command, cwd=shipped_clone, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
