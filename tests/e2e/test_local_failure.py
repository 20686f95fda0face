"""`fleet local up` of two endpoints, of which one cannot be served."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.support.clone import Clone
from tests.support.fleet_folder import ROOT, SPEC, FleetFolder
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = [pytest.mark.triton, pytest.mark.cdk, pytest.mark.nightly]

MODEL = """\
import triton_python_backend_utils as utils


class TritonPythonModel:
    def initialize(self, args):
        {start}

    def execute(self, requests):
        return [utils.InferenceResponse([]) for _ in requests]
"""
CONFIG = """\
name: "embed"
backend: "python"
input [{ name: "X", data_type: TYPE_FP32, dims: [1] }]
output [{ name: "Y", data_type: TYPE_FP32, dims: [1] }]
"""


@pytest.fixture
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """Two endpoints, `good` and `bad`; the model of `bad` does not start."""
    root = tmp_path_factory.mktemp("local") / "fleet"
    folder = FleetFolder(root)
    folder.write("environments/local.yaml", (ROOT / "environments/local.yaml").read_text())
    for name, start in (("good", "pass"), ("bad", "raise RuntimeError('no weights')")):
        spec = SPEC.replace("sentences", name).replace("../repository", f"../{name}")
        folder.spec(name=name, base=spec)
        folder.write(f"{name}/embed/config.pbtxt", CONFIG)
        folder.write(f"{name}/embed/1/model.py", MODEL.format(start=start))
    for file in ("app.py", "cdk.json", "package.json"):
        shutil.copy(ROOT / file, root / file)
    (root / "node_modules").symlink_to(ROOT / "node_modules")
    clone = Clone(root)
    yield clone
    clone.fleet("local", "down")
    assert clone.processes() == []


def test_a_first_start_keeps_the_good_endpoint_and_shows_the_failure_of_the_bad_one(clone: Clone) -> None:
    up = clone.fleet("local", "up")
    assert up.returncode == 1
    assert "✓ cdk deploy triton-fleet-local-good: created" in up.stdout
    assert "good: ready" in up.stdout
    assert "FL601: AWS::SageMaker::Endpoint of triton-fleet-local-bad: " in up.stderr
    assert "no weights" in up.stderr
    assert "its log: `fleet local logs cdk/bad`" in up.stderr
    assert (
        "deploy of triton-fleet-local-bad by the change set" in clone.fleet("local", "logs", "cdk/bad").stdout
    )
    status = clone.fleet("local", "status")
    assert (status.returncode, "good: ready" in status.stdout) == (0, True)


def test_a_first_start_of_which_nothing_runs_leaves_nothing_behind(clone: Clone) -> None:
    up = clone.fleet("local", "up", "bad")
    assert up.returncode == 1
    assert "no weights" in up.stderr
    assert "✓ stop what was started" in up.stdout
    assert clone.fleet("local", "status").returncode == 2
