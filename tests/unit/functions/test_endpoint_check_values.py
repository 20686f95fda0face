"""How the endpoint check sends the values of a sample, and compares those of an answer."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest

from endpoint_check.answer import AnswerError, outputs_of
from endpoint_check.compare import difference
from endpoint_check.datatypes import pack, unpack
from endpoint_check.sample import BINARY, Sample
from fleet_client import codec
from tests.support.sampled_endpoint import answer

NAN, INF = float("nan"), float("inf")
NUMBERS = [
    ("BOOL", "?", [True, False]),
    *((f"UINT{8 * size}", f"<u{size}", [0, 2 ** (8 * size) - 1]) for size in (1, 2, 4, 8)),
    *((f"INT{8 * size}", f"<i{size}", [-(2 ** (8 * size - 1)), 7]) for size in (1, 2, 4, 8)),
    *((f"FP{8 * size}", f"<f{size}", [0.1, -INF]) for size in (2, 4, 8)),
]


def check_event(**tensor: Any) -> dict[str, Any]:
    """A sample's request, as another codec reads it: requests are like answers but for a word."""
    text = json.dumps([{"name": "one", "inputs": {"x": tensor}}])
    body, kind = Sample.all_of(text)[0].request()
    size = int(kind.rpartition("=")[2])
    header = json.loads(body[:size])
    assert header.pop("parameters") == {"binary_data_output": True}
    renamed_content = json.dumps({"outputs": header["inputs"]}).encode()
    return dict(
        codec.decode(renamed_content + body[size:], f"{kind.rpartition('=')[0]}={len(renamed_content)}")
    )


def wrong(expected_values: dict[str, Any], got: Any, datatype: str | None = None) -> str | None:
    sample = Sample.all_of(json.dumps([{"name": "one", "inputs": {}, "outputs": {"y": expected_values}}]))[0]
    body, kind = answer({"y": np.asarray(got)}, {"y": datatype} if datatype else None)
    return difference(sample, outputs_of(body, kind))


@pytest.mark.parametrize(("datatype", "dtype", "values"), NUMBERS)
def test_numbers_are_sent_and_read_as_numpy_has_them(datatype: str, dtype: str, values: list[Any]) -> None:
    array = np.array(values, dtype)
    assert pack(datatype, values) == array.tobytes()
    assert list(unpack(datatype, array.tobytes())) == array.tolist()
    got = check_event(datatype=datatype, shape=[1, 2], data=[values])["x"]
    assert (got.dtype, got.tolist()) == (array.dtype, [array.tolist()])


def test_bf16_is_the_nearest_and_not_what_is_left_when_half_is_cut_off() -> None:
    values = [1.0, 1.00390625, 1.01171875, 3.3895313892515355e38, NAN, INF, -INF]
    read = list(unpack("BF16", pack("BF16", values)))
    assert read[:4] == [1.0, 1.0, 1.015625, 3.3895313892515355e38]
    assert str(read[4:]) == "[nan, inf, -inf]"


def test_texts_are_sent_as_utf8_and_nan_by_its_name() -> None:
    assert check_event(datatype="BYTES", shape=[2], data=["grün", ""])["x"].tolist() == ["grün".encode(), b""]
    assert (
        str(check_event(datatype="FP32", shape=[2], data=["NaN", "-Infinity"])["x"].tolist()) == "[nan, -inf]"
    )


def test_one_value_fills_a_whole_shape() -> None:
    assert check_event(datatype="INT64", shape=[2, 3], data=7)["x"].tolist() == [[7] * 3] * 2
    assert check_event(datatype="BYTES", shape=[2], data="a")["x"].tolist() == [b"a", b"a"]
    assert check_event(datatype="FP32", shape=[0, 3], data=7)["x"].shape == (0, 3)


@pytest.mark.parametrize(
    ("expected_values", "got"),
    [
        ({}, [1.5]),
        ({"shape": [-1, 2]}, [[1.5, 2.5]]),
        ({"datatype": "FP32", "shape": [1], "data": [0.1], "tolerance": 0}, np.array([0.1], np.float32)),
        ({"datatype": "FP64", "data": [[1.0, 2.0]], "tolerance": 0.25}, [[1.25, 1.75]]),
        ({"datatype": "FP64", "data": ["NaN", "Infinity"], "tolerance": 1}, [NAN, INF]),
        ({"datatype": "FP64", "data": 0, "tolerance": 0.5}, [[0.5, -0.5], [0.25, 0.0]]),
        ({"datatype": "INT64", "data": [1, 2]}, [1, 2]),
        ({"datatype": "INT64", "first": [1, 2]}, [[1, 2], [7, 8]]),
        ({"datatype": "UINT8", "data": [100], "tolerance": 3}, np.array([103], np.uint8)),
        ({"datatype": "BOOL", "data": [True, False]}, [True, False]),
        ({"datatype": "BYTES", "data": ["grün"]}, np.array(["grün".encode()], object)),
        ({"datatype": "FP64", "shape": [-1, 0], "data": 5, "tolerance": 0}, np.zeros((3, 0))),
        ({"datatype": "FP64", "shape": [-1], "data": [], "tolerance": 0}, np.zeros(0)),
    ],
)
def test_what_is_near_enough_passes(expected_values: dict[str, Any], got: Any) -> None:
    assert wrong(expected_values, got) is None


@pytest.mark.parametrize("expected_number", [7, 8])
def test_a_large_answer_is_compared_without_a_list_of_its_values(expected_number: int) -> None:
    got = np.full(250_000, 7)
    body, kind = answer({"y": got})
    sample = {"name": "one", "inputs": {}, "outputs": {"y": {"data": expected_number}}}
    (parsed_sample,) = Sample.all_of(json.dumps([sample]))
    tracemalloc.start()
    try:
        assert (difference(parsed_sample, outputs_of(body, kind)) is None) is (expected_number == 7)
        _, maximum = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert maximum < 2 * got.nbytes


@pytest.mark.parametrize(
    ("expected_values", "got", "words"),
    [
        ({"datatype": "FP32"}, [1.5], "output y has datatype FP64, expected FP32"),
        ({"shape": [2, -1]}, [[1.5]], "output y has shape [1, 1], expected [2, -1]"),
        ({"shape": [1]}, [[1.5]], "output y has shape [1, 1], expected [1]"),
        ({"datatype": "FP64", "data": [1.0], "tolerance": 0}, [1.0, 2.0], "has 2 values, expected 1"),
        ({"datatype": "FP64", "data": [0], "tolerance": 1}, [NAN], "y[0] is nan, expected 0 (tolerance 1)"),
        (
            {"datatype": "FP64", "data": ["NaN"], "tolerance": 1},
            [0.0],
            "y[0] is 0, expected nan (tolerance 1)",
        ),
        (
            {"datatype": "FP64", "data": ["Infinity"], "tolerance": 1},
            [-INF],
            "is -inf, expected inf (tolerance 1)",
        ),
        (
            {"datatype": "FP64", "data": [0], "tolerance": 1e300},
            [INF],
            "is inf, expected 0 (tolerance 1e+300)",
        ),
        (
            {"datatype": "INT64", "first": [1, 2]},
            [[1, 3], [7, 8]],
            "y[0, 1] is 3, expected 2 (tolerance 0); 1 of 2",
        ),
        (
            {"datatype": "FP32", "data": [0.1], "tolerance": 0},
            np.array([0.3], np.float32),
            "is 0.3, expected 0.1 (tolerance",
        ),
        (
            {"datatype": "FP64", "data": [0.1], "tolerance": 0},
            [0.1 + 0.2],
            "is 0.30000000000000004, expected 0.1 (tolerance",
        ),
        (
            {"datatype": "FP16", "data": [0], "tolerance": 0},
            np.array([65504], np.float16),
            "is 6.55e+04, expected 0 (tolerance",
        ),
        ({"datatype": "INT64", "first": [1, 2]}, [1], "has 1 values, expected 2"),
        (
            {"datatype": "FP64", "shape": [-1], "data": 5, "tolerance": 0},
            np.zeros(0),
            "output y has shape [0], so no values; expected 5 throughout",
        ),
        (
            {"datatype": "INT64", "data": 5},
            np.zeros((0, 2), np.int64),
            "output y has shape [0, 2], so no values; expected 5",
        ),
        (
            {"datatype": "INT64", "data": 3},
            [[3, 3], [3, 4]],
            "y[1, 1] is 4, expected 3 (tolerance 0); 1 of 4",
        ),
        ({"datatype": "BOOL", "data": [True]}, [False], "y[0] is false, expected true; 1 of 1"),
        (
            {"datatype": "BYTES", "data": ["a"]},
            np.array([b"\xff"], object),
            "is '\\\\xff', expected 'a'",
        ),
    ],
)
def test_what_is_off_is_told_with_its_place(expected_values: dict[str, Any], got: Any, words: str) -> None:
    assert words in str(wrong(expected_values, got))


def test_an_output_that_is_not_there_is_told_with_those_that_are() -> None:
    sample = Sample.all_of('[{"name": "one", "inputs": {}, "outputs": {"z": {}}}]')[0]
    body, kind = answer({"x": np.zeros(1), "y": np.zeros(1)})
    assert difference(sample, outputs_of(body, kind)) == "output z is missing; the answer has outputs x, y"


@pytest.mark.parametrize("header", [b"[" * 100_000, b'{"outputs":' * 20_000])
def test_an_answer_that_is_nested_without_end_is_none(header: bytes) -> None:
    with pytest.raises(AnswerError, match="cannot be read: RecursionError"):
        outputs_of(header, f"{BINARY}{len(header)}")


@pytest.mark.parametrize("array", [np.zeros(2, np.float32), np.array([b"abc", b"d"], object)])
def test_an_answer_that_is_cut_off_is_none(array: Any) -> None:
    body, kind = answer({"y": array})
    with pytest.raises(AnswerError, match="cannot be read"):
        outputs_of(body[:-1], kind)
