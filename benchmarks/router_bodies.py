"""What the benchmark of the router sends: a small tensor, and bodies just below SageMaker's limit."""

from __future__ import annotations

import json
import struct
from typing import Any

from shared_container.nginx_config import MAX_BODY_BYTES

MODEL = "small"
VALUES = [0.5, 1.5, 2.5, 3.5]
JSON = "application/json"
NUMBER = b"0.5,"
CONFIG = """\
backend: "python"
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ -1 ] } ]
"""
CODE = """\
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def answer(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "x").as_numpy()
        return pb_utils.InferenceResponse([pb_utils.Tensor("y", x)])

    def execute(self, requests):
        return [self.answer(request) for request in requests]
"""


def small_body() -> bytes:
    """A request of Triton in JSON."""
    return json.dumps({"inputs": [{**_tensor(len(VALUES)), "data": VALUES}]}).encode()


def named_body(payload: bytes) -> bytes:
    """A request of Triton in the form that names its model in the body."""
    return b'{"modelname": "%s", "payload": %s}' % (MODEL.encode(), payload)


def large_binary_body() -> tuple[str, bytes]:
    """Content type and body of a request whose tensor is binary, as is that of its answer."""
    room = MAX_BODY_BYTES - 1024
    count = room // 4
    binary = {"parameters": {"binary_data_size": 4 * count}}
    wanted = {"name": "y", "parameters": {"binary_data": True}}
    head = json.dumps({"inputs": [{**_tensor(count), **binary}], "outputs": [wanted]}).encode()
    body = head + struct.pack("<f", VALUES[0]) * count
    return f"application/vnd.sagemaker-triton.binary+json;json-header-size={len(head)}", body


def large_named_body() -> bytes:
    """A request that names its model in the body, with numbers in JSON; its answer is about as long."""
    count = (MAX_BODY_BYTES - 1024) // len(NUMBER)
    head = json.dumps({"inputs": [{**_tensor(count), "data": []}]}).encode()
    return named_body(head.replace(b"[]", b"[%s]" % (NUMBER * count)[:-1]))


def _tensor(count: int) -> dict[str, Any]:
    return {"name": "x", "shape": [count], "datatype": "FP32"}
