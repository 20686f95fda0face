"""This repository's own workflows: what they run, what they may, and the same actions as those of fleets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.fleet_folder import ROOT
from tests.support.git_repository import GitRepository
from triton_fleet.new.ci import github

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
ACTION_REFERENCE = re.compile(r"uses: (\S+@[0-9a-f]{40} # v[\d.]+)$", re.MULTILINE)
PINS = {
    value
    for value in vars(github).values()
    if isinstance(value, str) and ACTION_REFERENCE.search(f"uses: {value}")
}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
class TestWorkflow:
    def test_it_gives_each_job_its_own_permissions(self, workflow: Path) -> None:
        content = yaml.safe_load(workflow.read_text())
        assert content["permissions"] == {}
        assert all("permissions" in job for job in content["jobs"].values())

    def test_its_actions_are_pinned_as_those_of_fleets(self, workflow: Path) -> None:
        text = workflow.read_text()
        matches = ACTION_REFERENCE.findall(text)
        assert len(matches) == text.count("uses: ")
        common_pins = {pin.partition("@")[0] for pin in PINS} & {text.partition("@")[0] for text in matches}
        assert common_pins
        assert {text for text in matches if text.partition("@")[0] in common_pins} <= PINS


def test_ci_runs_what_any_other_ci_runs() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert ".ci/run" in [step.get("run") for job in jobs.values() for step in job["steps"]]
    assert os.access(ROOT / ".ci/run", os.X_OK)


class TestRelease:
    """Published files are built where nothing else has run, of a commit that was reviewed."""

    @pytest.fixture
    def jobs(self) -> Any:
        return yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]

    def test_the_job_that_builds_runs_nothing_but_the_build(self, jobs: Any) -> None:
        steps = [step.get("run") or step["uses"].partition("@")[0] for step in jobs["build"]["steps"]]
        assert steps == [
            "actions/checkout",
            "actions/setup-python",
            'git merge-base --is-ancestor "$GITHUB_SHA" origin/main',
            "make wheel",
            "actions/upload-artifact",
        ]
        assert "needs" not in jobs["build"]

    def test_the_build_installs_the_build_backend_alone_by_its_hashes(self) -> None:
        command = ["make", "--dry-run", "--always-make", "wheel"]
        variables = {name: value for name, value in os.environ.items() if name != "TAG"}
        output = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
        ).stdout
        assert [line for line in output.splitlines() if " install " in line or "--require" in line] == [
            ".venv-release/bin/python -m pip --quiet --disable-pip-version-check install \\",
            "  --require-hashes --no-deps --only-binary :all: -r requirements-release.txt",
        ]
        assert not {"npm", "uv", "pytest", "apt-get"} & set(re.findall(r"[\w-]+", output))
        locked_matches = re.findall(
            r"^([\w-]+)==", (ROOT / "requirements-release.txt").read_text(), re.MULTILINE
        )
        assert "hatchling" in locked_matches
        assert len(locked_matches) <= 6

    def test_a_tag_outside_of_main_builds_nothing(self, jobs: Any, tmp_path: Path) -> None:
        [refusal] = [step for step in jobs["build"]["steps"] if "merge-base" in step.get("run", "")]
        assert refusal["if"] == "github.ref_type == 'tag'"
        assert "continue-on-error" not in refusal
        repository = GitRepository.around(tmp_path)
        repository.commit()
        repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
        repository.commit()

        def code(commit: str) -> int:
            variables = {**os.environ, "GITHUB_SHA": repository.git("rev-parse", commit).strip()}
            command = ["bash", "-e", "-c", refusal["run"]]
            return subprocess.run(command, cwd=tmp_path, env=variables, check=False).returncode

        assert [code(text) for text in ("HEAD~2", "HEAD~1", "HEAD")] == [0, 0, 1]

    def test_only_what_was_built_and_tested_is_published_by_a_job_that_reviewers_release(
        self, jobs: Any
    ) -> None:
        publish = jobs["publish"]
        assert (set(publish["needs"]), publish["environment"]) == ({"test", "build"}, "pypi")
        assert publish["permissions"] == {"id-token": "write"}
        uses = [step["uses"].partition("@")[0] for step in publish["steps"]]
        assert uses == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
        assert all("attestations" not in step.get("with", {}) for step in publish["steps"])
        assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["publish"]


def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if zizmor is None:
        pytest.skip("zizmor is not installed: `make setup`")
    command = [zizmor, "--offline", "--no-progress", str(ROOT / ".github")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.parametrize("form", FORMS, ids=lambda file: file.name)
def test_a_form_asks_for_something_that_is_required(form: Path) -> None:
    content = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= content.keys()
    assert any(field.get("validations", {}).get("required") for field in content["body"])
