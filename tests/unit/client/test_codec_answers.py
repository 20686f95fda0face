"""Answers as a real Triton 24.10 has given them, and answers that no Triton gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_client import AnswerError, Payload, decode, encode

JSON = "application/json"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="


def binary(outputs: object, data: bytes = b"") -> Payload:
    header = json.dumps({"model_name": "m", "model_version": "1", "outputs": outputs}).encode()
    return Payload(header + data, f"{BINARY}{len(header)}")


def output(datatype: str, shape: object, size: object, name: str = "y") -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape, "parameters": {"binary_data_size": size}}


def list_payload(datatype: str, shape: list[int], data: object) -> Payload:
    tensor = {"name": "y", "datatype": datatype, "shape": shape, "data": data}
    return Payload(json.dumps({"outputs": [tensor]}).encode(), JSON)


def test_an_answer_may_mix_binary_and_json_outputs() -> None:
    body = (
        b'{"model_name":"identity","model_version":"1","outputs":[{"name":"oFP32","datatype":"FP32","shape":[2],'
        b'"parameters":{"binary_data_size":8}},{"name":"oINT32","datatype":"INT32","shape":[2],"data":[0,7]}]}'
    )
    got = decode(body + np.array([1.5, 2.5], "<f4").tobytes(), f"{BINARY}{len(body)}")
    assert (got["oFP32"].tolist(), got["oINT32"].tolist()) == ([1.5, 2.5], [0, 7])
    assert (got["oFP32"].dtype.name, got["oINT32"].dtype.name) == ("float32", "int32")


def test_an_answer_of_empty_binary_outputs_is_told_to_be_json() -> None:
    body = (
        b'{"model_name":"identity","model_version":"1","outputs":'
        b'[{"name":"oFP32","datatype":"FP32","shape":[0],"parameters":{"binary_data_size":0}}]}'
    )
    got = decode(body, JSON)["oFP32"]
    assert (got.shape, got.dtype.name) == ((0,), "float32")


def test_nan_and_infinity_of_tritons_json_are_read() -> None:
    body = b'{"outputs":[{"name":"y","datatype":"FP32","shape":[3],"data":[NaN,Infinity,-Infinity]}]}'
    assert np.array_equal(decode(body, JSON)["y"], np.array([np.nan, np.inf, -np.inf]), equal_nan=True)


def test_a_boolean_of_any_byte_but_0_is_true() -> None:
    answer = binary([output("BOOL", [3], 3)], b"\x02\x00\x01")
    got = decode(answer.body, answer.content_type)["y"]
    assert (got.dtype.name, got.view(np.uint8).tolist()) == ("bool", [1, 0, 1])


@pytest.mark.parametrize(("shape", "values"), [([2], [1.0, -1.5]), ([0, 2], [])])
def test_bf16_becomes_float32(shape: list[int], values: list[float]) -> None:
    data = np.array(values, "<f4").view("<u4") >> 16
    answer = binary([output("BF16", shape, 2 * len(values))], data.astype("<u2").tobytes())
    got = decode(answer.body, answer.content_type)["y"]
    assert (got.shape, got.ravel().tolist(), got.dtype.name) == (tuple(shape), values, "float32")


@pytest.mark.parametrize(
    ("datatype", "values"), [("UINT64", [2**64 - 1, 2**53 + 1, 0]), ("INT64", [-(2**63), 2**63 - 1])]
)
def test_the_largest_integers_come_through_json_exactly(datatype: str, values: list[int]) -> None:
    answer = list_payload(datatype, [len(values)], values)
    assert decode(answer.body, JSON)["y"].tolist() == values


def test_json_data_may_be_nested_as_kserve_allows() -> None:
    for datatype, data in (("FP32", [[1.0], [2.0]]), ("BYTES", [["a"], ["b"]])):
        answer = list_payload(datatype, [2, 1], data)
        assert decode(answer.body, JSON)["y"].shape == (2, 1)


@pytest.mark.parametrize("datatype", ["FP32", "BOOL", "BF16", "BYTES"])
def test_every_array_is_read_only(datatype: str) -> None:
    data = {"FP32": b"\0" * 4, "BOOL": b"\0", "BF16": b"\0\0", "BYTES": b"\1\0\0\0a"}[datatype]
    answer = binary([output(datatype, [1], len(data))], data)
    assert not decode(answer.body, answer.content_type)["y"].flags.writeable


def test_numbers_are_not_copied() -> None:
    answer = binary([output("FP32", [2], 8)], b"\0" * 8)
    assert np.shares_memory(
        decode(answer.body, answer.content_type)["y"], np.frombuffer(answer.body, np.uint8)
    )


MALFORMED_ANSWERS = {
    "no JSON": Payload(b"<html>", JSON),
    "no UTF-8": Payload(b'{"outputs":[{"name":"y","datatype":"BYTES","shape":[1],"data":["\xff"]}]}', JSON),
    "too deep": Payload(b"[" * 100_000, JSON),
    "no outputs": Payload(b'{"error":"said so"}', JSON),
    "another content type": Payload(b"{}", "text/html"),
    "no header size": Payload(b"{}", BINARY),
    "a header beyond the body": Payload(b"{}", f"{BINARY}3"),
    "no header": Payload(b"", f"{BINARY}0"),
    "no data": Payload(b'{"outputs":[{"name":"y","datatype":"FP32","shape":[1]}]}', JSON),
    "outputs that are none": binary([3]),
    "an unknown data type": binary([output("FP8", [1], 1)], b"\0"),
    "a negative shape": binary([output("FP32", [-1], 4)], b"\0" * 4),
    "a shape of fractions": binary([output("FP32", [1.0], 4)], b"\0" * 4),
    "a size that is no number": binary([output("FP32", [1], True)], b"\0"),
    "a shape beyond any memory": binary([output("FP32", [2**70, 0], 0)]),
    "more dimensions than numpy has": binary([output("FP32", [1] * 99, 4)], b"\0" * 4),
    "less data than the shape has": binary([output("FP32", [2], 4)], b"\0" * 4),
    "half a number": binary([output("FP32", [1], 3)], b"\0" * 3),
    "less data than it says": binary([output("FP32", [2], 8)], b"\0" * 4),
    "more data than it says": binary([output("FP32", [1], 4)], b"\0" * 5),
    "the same name twice": binary([output("FP32", [1], 4)] * 2, b"\0" * 8),
    "a text that is cut off": binary([output("BYTES", [1], 6)], b"\x05\0\0\0ab"),
    "a length that is cut off": binary([output("BYTES", [1], 2)], b"\x05\0"),
    "more texts than the shape has": binary([output("BYTES", [1], 8)], b"\0" * 8),
    "ragged lists": list_payload("FP32", [3], [[1.0], [2.0, 3.0]]),
    "ragged texts": list_payload("BYTES", [3], [["a"], ["b", "c"]]),
    "text for numbers": list_payload("FP32", [1], ["1.5"]),
    "null for a number": list_payload("FP32", [1], [None]),
    "a number for text": list_payload("BYTES", [1], [1]),
    "a fraction for an integer": list_payload("INT32", [1], [1.5]),
    "an integer out of range": list_payload("INT8", [1], [128]),
    "a negative unsigned integer": list_payload("UINT8", [1], [-1]),
    "a negative among the largest": list_payload("UINT64", [2], [2**63, -1]),
    "a fraction among the largest": list_payload("UINT64", [2], [2**63, 1.5]),
    "an integer of 100 digits": list_payload("INT64", [1], [10**100]),
    "a huge integer among fractions": list_payload("FP64", [2], [1.5, 10**400]),
    "a fraction out of range": list_payload("FP32", [1], [1e39]),
}


@pytest.mark.parametrize("answer", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS)
def test_what_is_no_answer_of_tritons_is_refused(answer: Payload) -> None:
    with pytest.raises(AnswerError):
        decode(answer.body, answer.content_type)


WHOLE = binary(
    [output("FP32", [2], 8), output("BYTES", [2], 11, "text"), output("BOOL", [1], 1, "flag")],
    np.array([1.5, 2.5], "<f4").tobytes() + b"\1\0\0\0a\2\0\0\0bc" + b"\1",
)


def test_an_answer_that_is_cut_off_anywhere_is_refused() -> None:
    assert len(decode(WHOLE.body, WHOLE.content_type)) == 3
    for end in range(len(WHOLE.body)):
        with pytest.raises(AnswerError):
            decode(WHOLE.body[:end], WHOLE.content_type)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE.body) - 1), st.integers(0, 255)), max_size=8))
def test_a_damaged_answer_is_read_or_refused(damages: list[tuple[int, int]]) -> None:
    body = bytearray(WHOLE.body)
    for place, byte in damages:
        body[place] = byte
    try:
        assert decode(bytes(body), WHOLE.content_type)
    except AnswerError as error:
        assert str(error)


def test_what_was_encoded_by_json_is_not_taken_for_an_answer() -> None:
    request = encode({"x": np.zeros(1, "f4")}, binary=False)
    with pytest.raises(AnswerError, match="the answer has no outputs"):
        decode(request.body, request.content_type)
