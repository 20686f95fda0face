"""A fleet that this user may not write: what reads works, and what writes names the file that it cannot write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.read_only_fleet import read_only_folder, run_without_powers

nightly_param = partial(pytest.param, marks=pytest.mark.nightly)
LOCAL = 'environment: local\naccount: "123456789012"\nregion: us-east-1\n'


@pytest.fixture
def root(folder: FleetFolder) -> Iterator[Path]:
    """Its lock is older than its model, and it has been committed."""
    folder.environment("promoted_from: dev\n", "prod")
    folder.write("environments/local.yaml", LOCAL)
    folder.lock()
    GitRepository.around(folder.root)
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    with read_only_folder(folder.root):
        yield folder.root


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("check --env dev", 1, "the file changed since it was locked"),
        nightly_param("show sentences --env dev", 0, "sentences in dev: account 111122223333"),
        nightly_param("ls --env dev --offline", 0, "endpoint"),
        nightly_param("diff --env prod", 0, "waits for promotion: prod would get sentences"),
        nightly_param("cost --env dev", 0, "dev: account 111122223333"),
        ("report --base HEAD", 0, "nothing changes in dev, prod compared with"),
        nightly_param("images plan --env dev", 0, "no images to build"),
        nightly_param("local status", 2, "no local fleet is running"),
        nightly_param("local logs", 0, ""),
        nightly_param("local down", 0, "nothing was running"),
    ],
)
def test_what_only_reads_works(root: Path, command: str, code: int, message: str) -> None:
    process = run_without_powers(root, *command.split())
    assert (process.returncode, "Traceback" in process.stderr) == (code, False), process.stderr
    assert message in process.stdout + process.stderr


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("lock --env dev", "locks/dev/sentences.lock.yaml"),
        nightly_param("new other --from-repository repository", r"model_specs/other\.yaml"),
        nightly_param("ci github", r"\.github"),
        nightly_param("ci gitlab", r"\.gitlab-ci.yml"),
        nightly_param("ci codeowners", r"\.github"),
        nightly_param("schema", "model_specs/endpoint.schema.json"),
        ("upgrade-check 0.1.0 --env dev", r"\.fleet"),
        nightly_param("local up", r"\.fleet"),
    ],
)
def test_what_writes_names_the_file_and_the_remedy(root: Path, command: str, file: str) -> None:
    process = run_without_powers(root, *command.split())
    assert process.returncode == 2, process.stdout + process.stderr
    problem, remedy = process.stderr.splitlines()[-2:]
    assert re.fullmatch(f"cannot run: {root}/{file} cannot be written: Permission denied", problem)
    assert remedy == "  remedy: let this user write there, or run the command in a copy of the fleet"
