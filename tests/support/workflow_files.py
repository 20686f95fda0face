"""A fleet with an environment that follows main and one that is promoted, and its workflows as YAML."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.fleet_folder import FleetFolder
from triton_fleet.new.ci.github import workflows

PROVIDER = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
TRUST_KEYS = "access:\n  github: {repository: example@1/fleet@23, promotes_to: [prod]}\n  gitlab: {project: example/fleet}\n"
PROMOTED_KEYS = (
    f"promoted_from: dev\naccess:\n  github: {{repository: example@1/fleet@23, provider: '{PROVIDER}'}}\n"
)
FOLDER = ".github/workflows"
ROLE = "arn:aws:iam::111122223333:role/triton-fleet-{}-us-east-1-{}"


def write_environments(fleet: FleetFolder) -> None:
    """One that follows main, one that is promoted from it, and this machine's."""
    fleet.environment(TRUST_KEYS)
    fleet.environment(PROMOTED_KEYS, "prod")
    fleet.environment("", "local")


def workflow_texts(
    fleet: FleetFolder, *, is_locked: bool = False, top: Path | None = None
) -> Mapping[str, str]:
    return workflows(fleet.root, (top or fleet.root).resolve(), locked=is_locked)


def load_workflows(fleet: FleetFolder, *, is_locked: bool = False) -> dict[str, dict[Any, Any]]:
    texts = workflow_texts(fleet, is_locked=is_locked)
    return {Path(path).stem: yaml.safe_load(text) for path, text in texts.items()}


def steps(fleet: FleetFolder, *, is_locked: bool = False) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Each job with each of its steps."""
    for workflow in load_workflows(fleet, is_locked=is_locked).values():
        for job in workflow["jobs"].values():
            yield from ((job, step) for step in job["steps"])


def step_by_name(fleet: FleetFolder, name: str) -> dict[Any, Any]:
    (step,) = [step for _, step in steps(fleet) if step.get("name") == name]
    return step


def action_of_step(step: Mapping[Any, Any]) -> str:
    return str(step.get("uses", "")).partition("@")[0]


def triggers(workflow: Mapping[Any, Any]) -> Any:
    """YAML 1.1 reads the key `on` as true."""
    return workflow[True]


def run_with_gh(step: Mapping[Any, Any], folder: Path, answer: str, **variables: str) -> list[str]:
    """Run a step's script as GitHub does, beside a `gh` that writes down how it is called; its calls."""
    programs, log = folder / ".bin", folder / ".calls"
    programs.mkdir()
    (programs / "gh").write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n{answer}\n')
    (programs / "gh").chmod(0o755)
    given_values = {key: value for key, value in step["env"].items() if "${{" not in value}
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **given_values,
        **variables,
    }
    subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, check=True)
    return log.read_text().splitlines() if log.exists() else []
