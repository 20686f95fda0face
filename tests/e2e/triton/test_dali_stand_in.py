"""The images' archive of gpu-ensembles on a real Triton: a stand-in for DALI, and ONNX Runtime behind it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.pipeline_file import read_pipeline
from tests.support.fleet_folder import ROOT
from tests.support.real_dali import REAL, encode_image, scene
from tests.support.triton_models import RefusedError
from tests.support.zoo_triton import ZooTriton
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton

EXAMPLE = ROOT / "examples/gpu_ensembles"
INCEPTION, SOFTMAX = "inception_onnx", "InceptionV3/Predictions/Softmax"
ort: Any = onnxruntime  # a C extension: its names are not in its types


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that git keeps, and those that the script makes."""
    folder = tmp_path_factory.mktemp("images") / "repository"
    omitted_files = shutil.ignore_patterns("model.onnx", "inception_labels.txt", ".*")
    shutil.copytree(EXAMPLE / "models/image", folder, ignore=omitted_files)
    command: list[str | Path] = [
        sys.executable,
        EXAMPLE / "make_image_models.py",
        "--into",
        folder / INCEPTION,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def triton(
    runtime: TritonRuntime, archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ZooTriton]:
    zoo = ZooTriton(runtime, tmp_path_factory.mktemp("triton"))
    zoo.load("images", archive)
    yield zoo
    zoo.server.stop()


def batch(*files: bytes) -> np.ndarray[Any, Any]:
    """Encoded images in one tensor, the shorter ones with zeros after their end."""
    longest = max(map(len, files))
    return np.stack([np.frombuffer(file.ljust(longest, b"\0"), np.uint8) for file in files])


def test_encoded_images_become_what_inception_makes_of_their_pixels(triton: ZooTriton, archive: Path) -> None:
    files = [
        encode_image(scene(240, 320), "JPEG", quality=90),
        encode_image(scene(70, 50).convert("L"), "PNG"),
    ]
    answer = triton.infer("images", {"INPUT": batch(*files)}, ["OUTPUT"])["OUTPUT"]

    dali = Graph(read_pipeline((archive / "dali/1/model.dali").read_bytes()))
    pixels = [dali.run({"DALI_INPUT_0": np.frombuffer(file, np.uint8)})[0] for file in files]
    session = ort.InferenceSession(archive / INCEPTION / "1/model.onnx", providers=["CPUExecutionProvider"])
    (expected_value,) = session.run([SOFTMAX], {"input": np.stack(pixels)})
    assert answer.shape == (2, 1001)
    np.testing.assert_allclose(answer, expected_value, atol=1e-6)
    assert len(set(answer.argmax(axis=1))) == 2
    assert len((archive / INCEPTION / "inception_labels.txt").read_text().splitlines()) == 1001


def test_bytes_that_are_no_image_are_refused_and_later_calls_succeed(triton: ZooTriton) -> None:
    with pytest.raises(RefusedError, match="stand-in for DALI: Unrecognized image format"):
        triton.infer("images", {"INPUT": batch(b"no image")}, ["OUTPUT"])
    file = encode_image(scene(30, 40), "JPEG")
    assert triton.infer("images", {"INPUT": batch(file)}, ["OUTPUT"])["OUTPUT"].shape == (1, 1001)


def test_tensors_of_another_type_are_refused(triton: ZooTriton) -> None:
    with pytest.raises(RefusedError, match="400 .*INPUT"):
        triton.infer("images", {"INPUT": np.zeros((1, 9), np.float32)}, ["OUTPUT"])


def test_the_log_calls_it_a_stand_in(triton: ZooTriton) -> None:
    log = (triton.folder / "triton.log").read_text()
    assert "stand-in for DALI: numpy and Pillow run the pipeline of model 'dali' on the CPU" in log


INPUT = 'backend: "dali" max_batch_size: 8 input { name: "IN" data_type: TYPE_UINT8 dims: -1 }'
OUTPUT = 'output { name: "OUT" data_type: TYPE_UINT8 dims: [ -1, -1, 3 ] }'


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (INPUT + OUTPUT, ", model.dali: the stand-in for DALI does not know operator Rotate"),
        (INPUT, "leaves inputs or outputs to its pipeline"),
    ],
    ids=["unknown", "left-out"],
)
def test_what_the_stand_in_cannot_serve_is_refused_when_it_is_loaded(
    triton: ZooTriton, tmp_path: Path, config: str, message: str
) -> None:
    version = tmp_path / "repository/images/1"
    version.mkdir(parents=True)
    (version.parent / "config.pbtxt").write_text(config)
    (version / "model.dali").write_bytes(b64decode(REAL["unknown"]["operator Rotate"]))
    with pytest.raises(RefusedError, match=message):
        triton.load(f"refused-{len(config)}", tmp_path / "repository")
