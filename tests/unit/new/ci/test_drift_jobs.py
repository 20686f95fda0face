"""The workflow that looks for drift each night: its jobs, and the one issue that they write."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.workflow_files import run_with_gh, step_by_name

ISSUE = "Open, update or close the issue"
RUN = {"REPOSITORY": "a/b", "RUN": "https://example.com/1"}


@pytest.mark.parametrize(
    ("existing_text", "call"),
    [
        ("", "--method POST repos/a/b/issues --raw-field title=Changed by hand in AWS"),
        ("42", "--method PATCH repos/a/b/issues/42"),
    ],
    ids=["the first time", "an update"],
)
def test_drift_is_one_issue_of_the_fleet_that_is_updated(
    fleet: FleetFolder, tmp_path: Path, existing_text: str, call: str
) -> None:
    write_drift(tmp_path, prod="max instances 4 → 20\n", dev="```\n")
    calls = run_with_gh(
        step_by_name(fleet, ISSUE), tmp_path, f"echo {existing_text}", COMPARED="false", **RUN
    )
    assert calls[0].startswith("api repos/a/b/issues?state=open&per_page=100 --paginate")
    assert calls[1:] == [f"api --silent {call} --field body=@body.md"]
    marker, text, *sections = (tmp_path / "body.md").read_text().splitlines()
    assert (marker, "(https://example.com/1)" in text) == ("<!-- triton-fleet-drift -->", True)
    assert [line for line in sections if line] == [
        "### dev",
        "    ```",
        "### prod",
        "    max instances 4 → 20",
    ]


@pytest.mark.parametrize(
    ("existing_text", "compared_text", "calls"),
    [
        ("", "true", []),
        ("42", "false", []),
        (
            "42",
            "true",
            [
                "api --silent --method POST repos/a/b/issues/42/comments"
                " --raw-field body=No drift any more (https://example.com/1).",
                "api --silent --method PATCH repos/a/b/issues/42 --raw-field state=closed",
            ],
        ),
    ],
    ids=["nothing to close", "not all was compared", "all is as declared"],
)
def test_the_issue_is_closed_when_all_environments_were_compared_and_none_differs(
    fleet: FleetFolder, tmp_path: Path, existing_text: str, compared_text: str, calls: list[str]
) -> None:
    lines = run_with_gh(
        step_by_name(fleet, ISSUE), tmp_path, f"echo {existing_text}", COMPARED=compared_text, **RUN
    )
    assert lines[1:] == calls


@pytest.mark.parametrize(("existing_text", "is_written"), [("", False), ("42", True)], ids=["none", "open"])
def test_an_open_issue_keeps_the_section_of_an_environment_that_could_not_be_compared(
    fleet: FleetFolder, tmp_path: Path, existing_text: str, is_written: bool
) -> None:
    write_drift(tmp_path, "unknown", prod="search is not compared: the endpoint is Updating\n")
    write_drift(tmp_path, "none", dev="dev: no drift\n")
    lines = run_with_gh(step_by_name(fleet, ISSUE), tmp_path, f"echo {existing_text}", COMPARED="true", **RUN)
    assert len(lines[1:]) == int(is_written)
    if is_written:
        assert lines[1].startswith("api --silent --method PATCH repos/a/b/issues/42 --field body")
        sections = (tmp_path / "body.md").read_text().splitlines()[2:]
        assert [line for line in sections if line] == [
            "### prod",
            "    search is not compared: the endpoint is Updating",
        ]


@pytest.mark.parametrize(
    ("code", "message", "outcome"),
    [
        (0, "prod: no drift", "none"),
        (0, "search is not compared: the endpoint is Updating", "unknown"),
        (1, "max instances 4 → 20", "drift"),
        (2, "error: AccessDenied", "unknown"),
    ],
    ids=["none", "update", "drift", "denied"],
)
def test_the_job_of_an_environment_fails_only_when_it_could_not_be_compared(
    fleet: FleetFolder, tmp_path: Path, code: int, message: str, outcome: str
) -> None:
    step = step_by_name(fleet, "Compare prod")
    program = tmp_path / ".venv/bin/fleet"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$@" >&2\necho "{message}"\nexit {code}\n')
    program.chmod(0o755)
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path), "ENVIRONMENT": "prod", "RUN": "run 1"}
    first = step_by_name(fleet, "Expect an answer for prod")
    subprocess.run(["bash", "-e", "-c", first["run"]], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "drift/prod.unknown").read_text() == (
        "The job ended before prod was compared: see run 1\n"
    )
    process = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=False, capture_output=True
    )
    assert (process.returncode != 0) is (code == 2)
    texts = {file.name: file.read_text() for file in (tmp_path / "drift").iterdir()}
    assert texts == {f"prod.{outcome}": f"drift --env prod\n{message}\n"}


def write_drift(folder: Path, outcome: str = "drift", **found_text: str) -> None:
    """Work that the jobs of environments leave to that of the issue."""
    (folder / "drift").mkdir(exist_ok=True)
    for environment, text in found_text.items():
        (folder / f"drift/{environment}.{outcome}").write_text(text)
