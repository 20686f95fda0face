"""The shipped shared container in `dev` on the embedded AWS: locked offline, built by its deploy, pinned, served."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.clone import Clone, make_clone
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.shared_container import missing_program

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

SHARED_ENDPOINT = "shared-models"
LOCK = f"locks/dev/{SHARED_ENDPOINT}.lock.yaml"


@pytest.fixture
def clone(runtime: TritonRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    """A clone whose `dev` is the account of the embedded AWS."""
    if text := missing_program():
        pytest.skip(f"this machine has no {text}")
    clone = make_clone(tmp_path / "clone")
    examples, environment = clone.root / "examples", clone.root / "environments" / "dev.yaml"
    for script in ("shared_models/make_image_models.py", "shared_models/make_text_models.py"):
        subprocess.run([sys.executable, examples / script], check=True, capture_output=True)
    environment.write_text(re.sub('account: ".*"', 'account: "123456789012"', environment.read_text()))
    up = clone.fleet("local", "up", "sentence-embeddings")
    assert up.returncode == 0, up.stderr
    for name, value in json.loads(clone.fleet("local", "env", "--format", "json").stdout).items():
        monkeypatch.setenv(name, value)
    yield clone
    for name in [text for text in os.environ if text.startswith("AWS_")]:
        monkeypatch.delenv(name)
    assert clone.fleet("local", "down").returncode == 0


def run_command(clone: Clone, *arguments: str) -> str:
    process = clone.fleet(*arguments)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_a_deploy_builds_the_image_that_the_lock_expects_and_serves_it_with_this_machines_programs(
    clone: Clone,
) -> None:
    assert yaml.safe_load((clone.root / LOCK).read_text())["image"].keys() == {"key", "expected"}
    deployed_text = run_command(clone, "deploy", "--env", "dev", SHARED_ENDPOINT)
    assert "1 image built, 2 engines built" in deployed_text
    assert "class 601" in run_command(
        clone, "invoke", SHARED_ENDPOINT, "--env", "dev", "--sample", "black-pixel"
    )
    status = run_command(clone, "local", "status")
    assert re.search(
        "image triton-fleet-dev:[0-9a-f]{64}: not run, but served by this machine's nginx", status
    )
    run_command(clone, "lock", "--env", "dev", SHARED_ENDPOINT)
    image = yaml.safe_load((clone.root / LOCK).read_text())["image"]
    assert f"{SHARED_ENDPOINT}: the image is {image['digest']};" in deployed_text
    assert image["facts"]["routes_calls"] is True
    assert "image built" not in run_command(clone, "deploy", "--env", "dev", SHARED_ENDPOINT)
    assert f"image triton-fleet-dev@{image['digest']}: not run" in run_command(clone, "local", "status")
