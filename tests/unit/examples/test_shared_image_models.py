"""`resnet_image` and `yolov5_image`: from pixels to tensors, and from tensors to what callers get."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.support.python_backend import InferenceRequest, TritonError
from tests.support.shared_models import Arrays, in_base64, python_model, words_of


@pytest.fixture(scope="module")
def detector() -> Iterator[Any]:
    with python_model("yolov5_image", "detections") as module:
        yield module


@pytest.mark.parametrize(
    ("size", "inside"),
    [
        ((640, 640), (0, 0, 640, 640)),
        ((1280, 960), (0, 80, 640, 560)),
        ((960, 1280), (80, 0, 560, 640)),
        ((641, 3), (0, 319, 640, 321)),
        ((10, 10), (0, 0, 640, 640)),
        ((5000, 1), (0, 319, 640, 320)),
    ],
    ids=["square", "wide", "high", "strip", "small", "line"],
)
def test_a_picture_is_as_large_as_it_fits_into_the_letterbox_and_grey_is_beside_it(
    detector: Any, size: tuple[int, int], inside: tuple[int, int, int, int]
) -> None:
    pixels = detector.letterbox(Image.new("RGB", size, (255, 0, 51)))
    assert (pixels.shape, pixels.dtype) == ((1, 3, 640, 640), np.float32)
    remaining_number, top, right, bottom = inside
    expected_values = np.full((640, 640, 3), 128 / 255)
    expected_values[top:bottom, remaining_number:right] = [1.0, 0.0, 0.2]
    assert np.abs(pixels[0].transpose(1, 2, 0) - expected_values).max() < 1e-6


def row(x: float, y: float, side: float, objectness: float, **classes: float) -> list[float]:
    probabilities = [classes.get(f"c{number}", 0.0) for number in range(80)]
    return [x, y, side, side, objectness, *probabilities]


def detections(detector: Any, *rows: list[float]) -> list[tuple[Any, ...]]:
    boxes, classes, scores = detector.detections(np.array(rows, np.float32).reshape(-1, 85))
    report = zip(boxes.tolist(), classes.tolist(), scores, strict=True)
    return [(*box, number, round(float(score), 4)) for box, number, score in report]


def test_of_boxes_of_a_class_that_overlap_the_best_is_kept(detector: Any) -> None:
    rows = row(100, 100, 40, 0.8, c3=0.9), row(102, 100, 40, 0.9, c3=1.0), row(300, 100, 40, 0.7, c3=1.0)
    assert detections(detector, *rows) == [(82, 80, 122, 120, 3, 0.9), (280, 80, 320, 120, 3, 0.7)]


def test_boxes_of_two_classes_stay_where_they_overlap(detector: Any) -> None:
    assert len(detections(detector, row(100, 100, 40, 0.8, c3=0.9), row(100, 100, 40, 0.9, c4=0.9))) == 2


@pytest.mark.parametrize(("shift", "kept_number"), [(15.0, 1), (16.0, 2)])
def test_boxes_may_share_less_than_45_per_cent_of_their_union(
    detector: Any, shift: float, kept_number: int
) -> None:
    # Shifted by s of 40, they share (40 - s) / (40 + s): 0.4545 and 0.4286.
    assert (
        len(detections(detector, row(100, 100, 40, 0.9, c0=1), row(100 + shift, 100, 40, 0.8, c0=1)))
        == kept_number
    )


def test_objectness_and_score_have_to_be_above_a_half(detector: Any) -> None:
    rows = row(50, 50, 9, 0.5, c0=1.0), row(150, 50, 9, 0.9, c0=0.55), row(250, 50, 9, 0.75, c0=0.75)
    assert detections(detector, *rows) == [(245.5, 45.5, 254.5, 54.5, 0, 0.5625)]


def test_nothing_and_what_is_not_a_number_are_no_detections(detector: Any) -> None:
    assert detections(detector) == []
    nan = float("nan")
    rows = row(50, 50, 9, nan, c0=1.0), row(50, 50, 9, 0.9, c0=nan), row(nan, 50, 9, 0.9, c0=1.0)
    assert detections(detector, *rows) == []


def test_boxes_without_an_area_are_answered_and_not_divided_by(detector: Any) -> None:
    assert len(detections(detector, row(50, 50, 0, 0.9, c0=1.0), row(50, 50, 0, 0.8, c0=1.0))) == 2


def test_at_most_1000_are_answered_the_best_of_all(detector: Any) -> None:
    scores = np.linspace(0.6, 0.9, 1200)
    rows = [row(10 * (n % 60), 10 * (n // 60), 5, score, c1=1.0) for n, score in enumerate(scores)]
    kept_rows = detections(detector, *rows)
    assert len(kept_rows) == 1000
    assert [kept_row[5] for kept_row in kept_rows] == [
        round(float(score), 4) for score in scores.astype(np.float32)
    ][:199:-1]


def ask(module: Any, encoded_content: bytes, repository: Path) -> str:
    model = module.TritonPythonModel()
    if hasattr(model, "initialize"):
        model.initialize({"model_repository": str(repository / "resnet_image")})
    (response,) = model.execute(
        [InferenceRequest({"img": np.array([encoded_content], np.object_)}, ["result"])]
    )
    return words_of(response)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "resnet").mkdir()
    (tmp_path / "resnet/labels.txt").write_text("".join(f"class {n}\n" for n in range(1000)))
    return tmp_path


def test_resnet_gets_the_whole_picture_and_its_three_best_are_answered_as_triton_classifies(
    repository: Path,
) -> None:
    def resnet(model: str, version: int, inputs: Arrays) -> Arrays:
        assert (model, version, inputs["input"].shape) == ("resnet", -1, (1, 3, 224, 224))
        assert inputs["input"].dtype == np.float32
        assert np.abs(inputs["input"] - np.array([1, 0, 0.2]).reshape(1, 3, 1, 1)).max() < 1e-6
        scores = np.zeros((1, 1000), np.float32)
        scores[0, [7, 900, 30, 31]] = 1.5, 20.25, 3, 3
        return {"output": scores}

    with python_model("resnet_image", answer=resnet) as module:
        answer = ask(module, in_base64(Image.new("RGB", (900, 20), (255, 0, 51))), repository)
    assert json.loads(answer) == ["20.250000:900:class 900", "3.000000:30:class 30", "3.000000:31:class 31"]


def test_resnets_labels_have_to_be_there(tmp_path: Path) -> None:
    with (
        python_model("resnet_image") as module,
        pytest.raises(Exception, match=r"labels of resnet cannot be read: .*labels\.txt"),
    ):
        ask(module, b"", tmp_path)


def test_an_object_is_its_class_and_score_with_box_and_picture_as_the_source_answers() -> None:
    def yolov5s(model: str, version: int, inputs: Arrays) -> Arrays:
        assert (model, version, inputs["images"].shape) == ("yolov5s", -1, (1, 3, 640, 640))
        return {"output": np.array([[row(100, 200, 40, 1.0, c7=0.75), row(0, 0, 9, 0.1)]], np.float32)}

    with python_model("yolov5_image", answer=yolov5s) as module:
        answer = ask(module, in_base64(Image.new("RGB", (90, 20))), Path())
    assert json.loads(answer) == [[7, 0.75, 80.0, 120.0, 180.0, 220.0, 90, 20]]


@pytest.mark.parametrize("model", ["resnet_image", "yolov5_image"])
def test_a_caller_gets_the_error_of_the_picture_or_of_the_model_that_is_asked(
    model: str, repository: Path
) -> None:
    def fails(model: str, version: int, inputs: Arrays) -> Arrays:
        raise TritonError("out of memory")

    with python_model(model, answer=fails) as module:
        assert ask(module, base64.b64encode(b"GIF89a"), repository).startswith("img is not a picture")
        assert ask(module, in_base64(Image.new("RGB", (5, 5))), repository) == "out of memory"
