"""The files that a release publishes, and the workflow that does."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.fleet_folder import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PERMISSIONS = {
    "ci.yml": {"test": {"contents": "read"}},
    "nightly.yml": {"test": {"contents": "read"}},
    "release.yml": {
        "test": {"contents": "read"},
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
    },
}
PINNED_ACTION = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def release(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_a_trial_builds_all_wheels_and_one_archive_and_lists_their_digests(tmp_path: Path) -> None:
    process = release("--into", str(tmp_path / "dist"))
    assert (process.returncode, process.stderr) == (0, "")
    files = [line.split()[1] for line in process.stdout.splitlines()]
    assert files == [
        f"triton_endpoints-{VERSION}-py3-none-any.whl",
        f"triton_fleet-{VERSION}-py3-none-any.whl",
        f"triton_fleet-{VERSION}.tar.gz",
        f"triton_fleet_client-{VERSION}-py3-none-any.whl",
        f"triton_fleet_emulator-{VERSION}-py3-none-any.whl",
    ]
    assert files == sorted(file.name for file in (tmp_path / "dist").iterdir())


def test_a_tag_of_another_version_or_without_a_changelog_builds_nothing(tmp_path: Path) -> None:
    process = release("--into", str(tmp_path / "dist"), "--tag", "v99.0.0")
    assert (process.returncode, (tmp_path / "dist").exists()) == (1, False)
    assert f"release: the tag is v99.0.0, and pyproject.toml has the version {VERSION}\n" in process.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_each_action_is_pinned_by_its_commit_and_no_job_may_more_than_it_needs(workflow: Path) -> None:
    text = workflow.read_text()
    texts = [line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line]
    assert texts
    assert [line for line in texts if not PINNED_ACTION.fullmatch(line)] == []
    content: Any = yaml.safe_load(text)
    assert content["permissions"] == {}
    assert {name: job["permissions"] for name, job in content["jobs"].items()} == PERMISSIONS[workflow.name]
