"""A body with its content type, the same for requests and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet_client.codec.datatypes import BYTES, NOT_IN_JSON, NUMPY, Array, datatype_of, elements, pack_strings
from fleet_client.errors import PayloadError

JSON = "application/json"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
"""The content type of a JSON header with raw tensors behind it, up to the header's size in bytes.

Without SageMaker the header Inference-Header-Content-Length has that size; source: Triton's
src/sagemaker_server.cc.
"""


@dataclass(frozen=True)
class Payload:
    """The body that an invocation sends, or gets back."""

    body: bytes
    content_type: str


def encode(inputs: Mapping[str, Array], *, outputs: Sequence[str] = (), binary: bool = True) -> Payload:
    """The request for one inference; answers come as the request does, by binary+json or by JSON.

    Arrays may be of any shape, memory order and byte order. Text, bytes and objects that are either become
    BYTES, text as UTF-8. `outputs` names the outputs to answer with; left out, all of them. Source of the
    format: KServe's Open Inference Protocol v2 with Triton's extension for binary data.

    Raises:
        PayloadError: Triton has no data type for an array, or JSON cannot carry its values.
    """
    if isinstance(outputs, str):
        raise PayloadError(f"outputs is the text {outputs!r}: give a list of names, [{outputs!r}]")
    headers: list[dict[str, Any]] = []
    raw: list[memoryview] = []
    for name, array in inputs.items():
        datatype = _datatype(name, array)
        tensor: dict[str, Any] = {"name": name, "shape": list(array.shape), "datatype": datatype}
        if binary:
            data = _raw(name, array, datatype)
            tensor["parameters"] = {"binary_data_size": data.nbytes}
            raw.append(data)
        else:
            tensor["data"] = _as_list(name, array, datatype)
        headers.append(tensor)
    request: dict[str, Any] = {"inputs": headers}
    if outputs:
        # Triton heeds binary_data_output only where no output is named.
        request_parameters = {"parameters": {"binary_data": True}} if binary else {}
        request["outputs"] = [{"name": output, **request_parameters} for output in outputs]
    elif binary:
        request["parameters"] = {"binary_data_output": True}
    header = json.dumps(request, separators=(",", ":")).encode()
    if not binary:
        return Payload(header, JSON)
    return Payload(b"".join((header, *raw)), f"{BINARY}{len(header)}")


def _datatype(name: str, array: object) -> str:
    if not isinstance(array, np.ndarray):
        kind = type(array).__name__
        raise PayloadError(f"input {name!r} is a {kind}: give a numpy array of the model's data type")
    datatype = datatype_of(array)
    if datatype is None:
        raise PayloadError(f"input {name!r} is of dtype {array.dtype}, and Triton has no such data type")
    return datatype


def _raw(name: str, array: Array, datatype: str) -> memoryview:
    if datatype == BYTES:
        return memoryview(pack_strings(elements(name, array)))
    return np.asarray(array, dtype=NUMPY[datatype], order="C").data


def _as_list(name: str, array: Array, datatype: str) -> list[Any]:
    if datatype in NOT_IN_JSON:
        raise PayloadError(f"input {name!r} is {datatype}, which Triton does not take by JSON: use binary")
    if datatype == BYTES:
        try:
            return [element.decode() for element in elements(name, array)]
        except UnicodeDecodeError as error:
            problem = f"holds {error.object!r}, which is not UTF-8 and cannot go by JSON: use binary"
            raise PayloadError(f"input {name!r} {problem}") from error
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise PayloadError(f"input {name!r} holds NaN or infinity, which JSON does not have: use binary")
    values: list[Any] = array.ravel().tolist()
    return values
