"""A locked fleet in a folder of its own, for benchmarks to measure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from onnx import TensorProto, helper

from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

ENVIRONMENT = """\
environment: dev
account: "123456789012"
region: us-east-1
tags: {team: ml-platform, stage: dev}
defaults: {timeouts: {startup: 15m}}
"""
ONNX = """\
backend: "onnxruntime"
max_batch_size: 16
input [{ name: "tokens" data_type: TYPE_INT64 dims: [ 128 ] }]
output [{ name: "embedding" data_type: TYPE_FP32 dims: [ 384 ] }]
instance_group [{ kind: KIND_GPU count: 2 }]
"""
"""The config.pbtxt of an encoder."""
IR_VERSION, OPSET = 10, 22
"""The latest that the ONNX Runtime of Triton 25.04 loads."""


def _encoder(name: str) -> bytes:
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", 128])
    embedding = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", 384])
    node = helper.make_node("Encode", ["tokens"], ["embedding"], domain="benchmark")
    graph = helper.make_graph([node], name, [tokens], [embedding])
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[opset]).SerializeToString()


def locked_fleet(root: Path, files: Mapping[str, str]) -> Path:
    """Write the files, by their paths below the root, and the locks of environment `dev`.

    The text of an ONNX file is the name of its graph, which is that of an encoder.
    """
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(_encoder(text) if path.endswith(".onnx") else text.encode())
    write_locks(open_project(root, "dev"))
    return root
