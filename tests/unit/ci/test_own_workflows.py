"""This repository's own workflows: what they run, what they may, and the same actions as those of fleets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fleet.ci import github
from fleet_folder import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
USED = re.compile(r"uses: (\S+@[0-9a-f]{40} # v[\d.]+)$", re.MULTILINE)
PINS = {value for value in vars(github).values() if isinstance(value, str) and USED.search(f"uses: {value}")}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
class TestWorkflow:
    def test_it_gives_each_job_its_own_permissions(self, workflow: Path) -> None:
        content = yaml.safe_load(workflow.read_text())
        assert content["permissions"] == {}
        assert all("permissions" in job for job in content["jobs"].values())

    def test_its_actions_are_pinned_as_those_of_fleets(self, workflow: Path) -> None:
        text = workflow.read_text()
        used = USED.findall(text)
        assert len(used) == text.count("uses: ")
        of_both = {pin.partition("@")[0] for pin in PINS} & {each.partition("@")[0] for each in used}
        assert of_both
        assert {each for each in used if each.partition("@")[0] in of_both} <= PINS


def test_ci_runs_what_any_other_ci_runs() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert ".ci/run" in [step.get("run") for job in jobs.values() for step in job["steps"]]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if zizmor is None:
        pytest.skip("zizmor is not installed: `make setup`")
    command = [zizmor, "--offline", "--no-progress", str(ROOT / ".github")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("form", FORMS, ids=lambda file: file.name)
def test_a_form_asks_for_something_that_is_required(form: Path) -> None:
    content = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= content.keys()
    assert any(field.get("validations", {}).get("required") for field in content["body"])
