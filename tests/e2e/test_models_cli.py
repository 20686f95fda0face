"""A model is added to a running live endpoint on this machine, answers, and is taken away again."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fleet_client import InferenceError, TritonEndpoint
from tests.support.clone import Clone, make_clone
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = [pytest.mark.triton, pytest.mark.cdk, pytest.mark.nightly]

ENDPOINT, BUCKET = "live-zoo", "triton-fleet-local-123456789012-us-east-1"
REPOSITORY = "examples/model_zoo/models/top-classes"
ROW = [0.1, 0.5, 0.2, 0.05, 0.1, 0.05]
LIVE = f"""\
endpoint: {ENDPOINT}
mode: multi-model
archive_set: live
triton: "25.04"
instance: {{type: ml.g5.xlarge}}
models:
  - {{archive: top-classes, version: 1, repository: ../{REPOSITORY}}}
"""


@pytest.fixture(scope="module")
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """A clone with a live endpoint, deployed."""
    clone = make_clone(tmp_path_factory.mktemp("live") / "clone")
    (clone.root / "model_specs" / f"{ENDPOINT}.yaml").write_text(LIVE)
    up = clone.fleet("local", "up", ENDPOINT)
    assert up.returncode == 0, up.stderr
    yield clone
    assert clone.fleet("local", "down").returncode == 0


def models(clone: Clone, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return clone.fleet("models", command, ENDPOINT, *arguments, "--env", "local")


def repository(clone: Clone, classes: int) -> Path:
    """The same model, which answers with another number of classes."""
    folder = clone.root / f"top-{classes}"
    shutil.copytree(clone.root / REPOSITORY, folder)
    config = folder / "top_classes" / "config.pbtxt"
    config.write_text(config.read_text().replace('"5"', f'"{classes}"'))
    return folder


def top_classes(clone: Clone, target: str) -> list[int]:
    endpoint = TritonEndpoint(ENDPOINT, client=clone.client("sagemaker-runtime"))
    answer = endpoint.infer({"probabilities": np.array([ROW], dtype=np.float32)}, target=target)
    return [int(index) for index in answer["classes"][0]]


def test_a_model_that_is_added_answers_without_a_deploy(clone: Clone) -> None:
    assert top_classes(clone, "top-classes-v1.tar.gz") == [1, 2, 0, 4, 3]
    process = models(clone, "add", "top-classes", str(repository(clone, 2)))
    assert process.stdout == f'added: callers of {ENDPOINT} pass TargetModel="top-classes-v2.tar.gz"\n', (
        process.stderr
    )
    assert top_classes(clone, "top-classes-v2.tar.gz") == [1, 2]
    second_process = models(clone, "add", "top-classes", "top-2")
    assert second_process.stdout.startswith("already present: ")


def test_what_is_there_is_not_overwritten(clone: Clone) -> None:
    refused_process = models(clone, "add", "top-classes", str(repository(clone, 3)), "--version", "1")
    assert refused_process.returncode == 1
    assert "FL330: top-classes-v1.tar.gz of live-zoo has other content" in refused_process.stderr
    assert "hint: leave out --version, or pass `--version 3`" in refused_process.stderr


def test_the_targets_are_listed_with_their_digests(clone: Clone) -> None:
    models(clone, "add", "listed", str(repository(clone, 4)))
    rows = [re.split(r"  +", line) for line in models(clone, "ls", "--digests").stdout.splitlines()]
    (hand,) = [row for row in rows if row[0] == "listed-v1.tar.gz"]
    (spec,) = [row for row in rows if row[0] == "top-classes-v1.tar.gz"]
    assert (hand[-1], spec[-1]) == ("added by hand", "spec")
    head = clone.client("s3").head_object(Bucket=BUCKET, Key=f"endpoints/{ENDPOINT}/live/listed-v1.tar.gz")
    assert hand[3] == head["Metadata"]["tar-digest"]


def test_a_removed_model_is_refused_by_an_instance_that_has_not_loaded_it(clone: Clone) -> None:
    models(clone, "add", "gone", str(repository(clone, 1)))
    removed_process = models(clone, "rm", "gone-v1.tar.gz", "--yes")
    assert removed_process.returncode == 0, removed_process.stderr
    assert "may continue to serve it" in removed_process.stdout
    with pytest.raises(InferenceError, match="gone-v1.tar.gz"):
        top_classes(clone, "gone-v1.tar.gz")
    assert "gone-v1.tar.gz" not in models(clone, "ls").stdout


def test_a_model_that_the_spec_names_is_not_removed(clone: Clone) -> None:
    refused_process = models(clone, "rm", "top-classes-v1.tar.gz", "--yes")
    assert refused_process.returncode == 1
    assert "FL331" in refused_process.stderr
    assert top_classes(clone, "top-classes-v1.tar.gz") == [1, 2, 0, 4, 3]


def test_a_model_is_not_removed_unless_that_is_confirmed(clone: Clone) -> None:
    models(clone, "add", "kept", str(repository(clone, 6)))
    assert models(clone, "rm", "kept-v1.tar.gz").returncode != 0
    assert "kept-v1.tar.gz" in models(clone, "ls").stdout


def test_a_repository_that_is_not_there_is_named(clone: Clone) -> None:
    refused_process = models(clone, "add", "nothing", "no/such/folder")
    assert refused_process.returncode == 1
    assert "no/such/folder does not exist" in refused_process.stderr


def test_an_endpoint_whose_archives_are_locked_is_refused_with_the_way(clone: Clone) -> None:
    refused_process = clone.fleet("models", "ls", "model-zoo", "--env", "local")
    assert refused_process.returncode == 1
    assert "FL333" in refused_process.stderr
    assert "model_specs/model-zoo.yaml" in refused_process.stderr
    assert "`archive_set: live`" in refused_process.stderr
