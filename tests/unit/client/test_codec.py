"""Payloads against tritonclient's own encoder and decoder, and against anything that is no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tritonclient.http
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fleet_client import Payload, PayloadError, decode, encode

Array = npt.NDArray[Any]
triton: Any = tritonclient.http  # it has no types
JSON = "application/json"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
DTYPES = ["?", *(f"{kind}{size}" for kind in "ui" for size in (1, 2, 4, 8)), "f2", "f4", "f8"]
NAMES = {"?": "BOOL", "u": "UINT", "i": "INT", "f": "FP"}
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "as it is": lambda array: array,
    "Fortran": np.asfortranarray,
    "transposed": lambda array: array.T,
    "every second, backwards": lambda array: array[::-2] if array.ndim else array,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
}
without_deadline = settings(deadline=None)  # other work on the machine is no failure
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
numbers = st.sampled_from(DTYPES).flatmap(lambda dtype: arrays.arrays(dtype, shapes))
finite = st.sampled_from([dtype for dtype in DTYPES if dtype != "f2"]).flatmap(
    lambda dtype: arrays.arrays(
        dtype, shapes, elements={"allow_nan": False, "allow_infinity": False} if dtype[0] == "f" else None
    )
)
texts = arrays.arrays(np.object_, shapes, elements=st.text(st.characters(codec="utf-8")))
byte_strings = arrays.arrays(np.object_, shapes, elements=st.binary())


def datatype(array: Array) -> str:
    if array.dtype.kind == "O":
        return "BYTES"
    return "BOOL" if array.dtype.kind == "b" else f"{NAMES[array.dtype.kind]}{8 * array.dtype.itemsize}"


def as_answer(payload: Payload) -> Payload:
    """A request's tensors as the outputs of an answer: both are described alike."""
    if payload.content_type == JSON:
        return Payload(json.dumps({"outputs": json.loads(payload.body)["inputs"]}).encode(), JSON)
    size = int(payload.content_type.removeprefix(BINARY))
    header = json.dumps({"outputs": json.loads(payload.body[:size])["inputs"]}).encode()
    return Payload(header + payload.body[size:], f"{BINARY}{len(header)}")


def by_tritonclient(answer: Payload, name: str) -> Array:
    size = None if answer.content_type == JSON else int(answer.content_type.removeprefix(BINARY))
    result = triton.InferenceServerClient.parse_response_body(answer.body, header_length=size)
    array: Array = result.as_numpy(name)
    return array


def of_tritonclient(named_arrays: dict[str, Array], *, binary: bool = True) -> Payload:
    tensors = []
    for name, array in named_arrays.items():
        tensor = triton.InferInput(name, list(array.shape), datatype(array))
        tensors.append(tensor.set_data_from_numpy(array, binary_data=binary))
    body, size = triton.InferenceServerClient.generate_request_body(tensors)
    return as_answer(Payload(body, JSON if size is None else f"{BINARY}{size}"))


def bits(array: Array) -> tuple[tuple[int, ...], str, bytes]:
    return array.shape, datatype(array), array.astype(array.dtype.newbyteorder("<")).tobytes()


def in_bytes(array: Array) -> list[Any]:
    return [text.encode() if isinstance(text, str) else text for text in array.ravel().tolist()]


@without_deadline
@given(numbers, st.sampled_from(list(LAYOUTS)))
def test_numbers_of_any_layout_reach_tritonclient_bit_by_bit(array: Array, layout: str) -> None:
    given_array = LAYOUTS[layout](array)
    got = by_tritonclient(as_answer(encode({"x": given_array})), "x")
    assert bits(got) == bits(given_array)


@without_deadline
@given(numbers, byte_strings, numbers)
def test_several_outputs_of_tritonclient_come_back_bit_by_bit(a: Array, b: Array, c: Array) -> None:
    answer = of_tritonclient({"a": a, "b": b, "c": c})
    got = decode(answer.body, answer.content_type)
    assert list(got) == ["a", "b", "c"]
    assert (bits(got["a"]), bits(got["c"])) == (bits(a), bits(c))
    assert (got["b"].shape, in_bytes(got["b"])) == (b.shape, in_bytes(b))


@without_deadline
@given(st.one_of(texts, byte_strings), st.sampled_from(["as it is", "Fortran", "transposed"]))
def test_texts_and_byte_strings_reach_tritonclient_as_bytes(array: Array, layout: str) -> None:
    given_array = LAYOUTS[layout](array)
    got = by_tritonclient(as_answer(encode({"x": given_array})), "x")
    assert (got.shape, got.ravel().tolist()) == (given_array.shape, in_bytes(given_array))


@without_deadline
@given(st.one_of(finite, texts))
@example(np.array([2**64 - 1, 2**53 + 1, 0], "u8"))
def test_json_goes_to_and_comes_from_tritonclient_without_loss(array: Array) -> None:
    answer = as_answer(encode({"x": array}, binary=False))
    theirs = of_tritonclient({"x": array}, binary=False)
    ours = decode(theirs.body, theirs.content_type)["x"]
    if datatype(array) == "BYTES":
        assert in_bytes(by_tritonclient(answer, "x")) == in_bytes(array)
        assert (ours.shape, in_bytes(ours)) == (array.shape, in_bytes(array))
    else:
        assert bits(by_tritonclient(answer, "x")) == bits(ours) == bits(array)


@pytest.mark.parametrize("dtype", ["S3", "U3"])
def test_numpys_own_text_and_bytes_are_byte_strings_too(dtype: str) -> None:
    answer = as_answer(encode({"x": np.array([["a", "bcd"]], dtype=dtype)}))
    assert decode(answer.body, answer.content_type)["x"].tolist() == [[b"a", b"bcd"]]


def test_the_request_says_how_its_outputs_come_back() -> None:
    def encode_request(outputs: list[str], binary: bool) -> tuple[Any, Any]:
        payload = encode({"x": np.zeros(1, "f4")}, outputs=outputs, binary=binary)
        size = int(payload.content_type.removeprefix(BINARY)) if binary else len(payload.body)
        request = json.loads(payload.body[:size])
        return request.get("outputs"), request.get("parameters")

    assert encode_request([], True) == (None, {"binary_data_output": True})
    assert encode_request(["y"], True) == ([{"name": "y", "parameters": {"binary_data": True}}], None)
    assert encode_request([], False) == (None, None)
    assert encode_request(["y"], False) == ([{"name": "y"}], None)


SURROGATE = np.array(["\ud800"], dtype=np.object_)


@pytest.mark.parametrize(
    ("value", "binary", "words"),
    [
        (np.zeros(1, "c8"), True, "input 'x' is of dtype complex64, and Triton has no such data type"),
        (np.zeros(1, "M8[s]"), True, "dtype datetime64[s]"),
        (np.zeros(1, [("a", "f4")]), True, "and Triton has no such data type"),
        (np.array([1, "a"], dtype=np.object_), True, "holds int 1: BYTES are str or bytes"),
        (SURROGATE, True, "which is not Unicode text"),
        (SURROGATE, False, "which is not Unicode text"),
        ([1.0], True, "input 'x' is a list: give a numpy array"),
        (np.array([1.0, np.nan]), False, "holds NaN or infinity, which JSON does not have: use binary"),
        (np.array([-np.inf], "f4"), False, "use binary"),
        (np.array([b"\xff"], dtype=np.object_), False, "is not UTF-8 and cannot go by JSON: use binary"),
        (np.zeros(1, "f2"), False, "is FP16, which Triton does not take by JSON: use binary"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_name_and_reason(
    value: Any, binary: bool, words: str
) -> None:
    with pytest.raises(PayloadError) as refusal:
        encode({"x": value}, binary=binary)
    assert words in str(refusal.value)


def test_one_name_in_place_of_a_list_of_outputs_is_refused() -> None:
    with pytest.raises(PayloadError, match=r"outputs is the text 'y': give a list of names, \['y'\]"):
        encode({"x": np.zeros(1)}, outputs="y")
