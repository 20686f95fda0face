"""Healthy model repositories, and what a case that changes one of them is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from onnx import TensorProto, helper

Files = dict[str, bytes]
"""The content of each file by its path; a path that ends in a slash is a folder."""

MULTI_MODEL, SINGLE = "multi-model", "single"

TENSORS = """\
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""
CODE = b"""\
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        batch = pb_utils.Tensor("y", np.zeros((1, 2), np.float32))
        return [pb_utils.InferenceResponse([batch]) for _ in requests]
"""
CONFIG = "double/config.pbtxt"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A repository, what of a healthy one was changed in it, and the mode it is loaded in."""

    id: str
    files: Mapping[str, bytes]
    change: str
    mode: str = MULTI_MODEL

    @property
    def target(self) -> str:
        """The name of the archive."""
        return f"{self.id}.tar.gz"

    def write(self, folder: Path) -> Path:
        """The repository on disk, in a folder that does not exist yet."""
        folder.mkdir(parents=True)
        for path, content in self.files.items():
            file = folder / path
            if path.endswith("/"):
                file.mkdir(parents=True, exist_ok=True)
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder


def change_file(files: Files, file: str, *replacements: tuple[str, str], add: str = "") -> Files:
    """The files with texts of one of them replaced, each of which it must have, and something appended."""
    text = files[file].decode()
    for old, new in replacements:
        if old not in text:
            raise ValueError(f"{file} has no {old!r}")
        text = text.replace(old, new, 1)
    return {**files, file: (text + add).encode()}


def without(files: Files, paths: Iterable[str]) -> Files:
    return {path: content for path, content in files.items() if path not in set(paths)}


def move_files(files: Files, start: str, to: str) -> Files:
    """The files with the beginning of their paths changed."""
    return {
        to + path.removeprefix(start) if path.startswith(start) else path: content
        for path, content in files.items()
    }


def graph(
    shape: list[str | int],
    kind: int = TensorProto.FLOAT,
    *,
    ir_version: int = 8,
    opsets: Mapping[str, int] = MappingProxyType({"": 17}),
) -> bytes:
    """An ONNX model that doubles x into y."""
    x, y = (helper.make_tensor_value_info(name, kind, shape) for name in "xy")
    body = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(body, opset_imports=imports, ir_version=ir_version)
    return bytes(model.SerializeToString())


def python_model(name: str, config: str) -> Files:
    return {f"{name}/config.pbtxt": config.encode(), f"{name}/1/model.py": CODE}


DOUBLE: Files = python_model("double", f'name: "double"\nbackend: "python"\n{TENSORS}')
"""A Python model."""

SCALE: Files = {
    "scale/config.pbtxt": f'name: "scale"\nplatform: "onnxruntime_onnx"\n{TENSORS}instance_group [ {{ kind: KIND_CPU count: 1 }} ]\n'.encode(),
    "scale/1/model.onnx": graph(["n", 2]),
}
"""An ONNX model."""

PLAN: Files = {
    "plan/config.pbtxt": f'name: "plan"\nplatform: "tensorrt_plan"\n{TENSORS}'.encode(),
    "plan/1/model.plan": b"a plan",
}
"""A model of a backend that needs a GPU."""

PIPELINE = """\
name: "pipeline"
platform: "ensemble"
max_batch_size: 8
input [ { name: "raw" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "final" data_type: TYPE_FP32 dims: [ 2 ] } ]
ensemble_scheduling {
  step [
    { model_name: "double" model_version: -1 input_map { key: "x" value: "raw" } output_map { key: "y" value: "half" } },
    { model_name: "scale" model_version: -1 input_map { key: "x" value: "half" } output_map { key: "y" value: "final" } }
  ]
}
"""
ENSEMBLE: Files = {**DOUBLE, **SCALE, "pipeline/config.pbtxt": PIPELINE.encode(), "pipeline/1/": b""}
"""An ensemble over the Python model and the ONNX model."""

WRAPPER: Files = {
    **DOUBLE,
    "pipeline/config.pbtxt": re.sub(r"half(.*)},\n.*", r"final\1}", PIPELINE).encode(),
    "pipeline/1/": b"",
}
"""An ensemble over the Python model alone."""

CONTROLS = """\
sequence_batching {
  max_sequence_idle_microseconds: 5000000
  control_input [
    { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] },
    { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] }
  ]
}
"""
SEQUENCE: Files = python_model("sequence", f'name: "sequence"\nbackend: "python"\n{TENSORS}{CONTROLS}')
"""A Python model with state."""

RAGGED_MODEL: Files = python_model(
    "ragged",
    """\
name: "ragged"
backend: "python"
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ -1 ] } ]
batch_input [ { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "ends" data_type: TYPE_FP32 source_input: "x" } ]
batch_output [ { target_name: "y" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "x" } ]
dynamic_batching { max_queue_delay_microseconds: 100 }
""",
)
"""A Python model that takes ragged batches."""
