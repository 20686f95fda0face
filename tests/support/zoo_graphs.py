"""The graphs of the onnx wheel that the model zoo serves, what they answer, and the same with other weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

Array = np.ndarray[Any, np.dtype[np.float32]]
FACTOR = re.compile(r"(_s|_riv|_scale|_var|sc_w)_0$")
PIXELS = (1, 3, 224, 224)
ort: Any = onnxruntime  # a C extension: its names are not in its types


def graph(name: str) -> Path:
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


def shipped_input() -> Array:
    """Inputs as onnx's own tests feed them: onnx/backend/test/runner, `generate_dummy_data`."""
    count = np.prod(PIXELS)
    return (np.arange(count).reshape(PIXELS) / count).astype(np.float32)


def shipped_answer(name: str) -> Array:
    tensor = onnx.TensorProto.FromString(graph(name).with_name(f"light_{name}_output_0.pb").read_bytes())
    return numpy_helper.to_array(tensor).astype(np.float32)


def seeded_graph(name: str) -> bytes:
    """The graph with random weights: with its own, which are all alike, every input gets the same answer."""
    model = onnx.load(graph(name))
    random = np.random.default_rng(7)
    inputs = {initializer.name: numpy_helper.to_array(initializer) for initializer in model.graph.initializer}
    made_nodes = [node for node in model.graph.node if node.op_type == "ConstantOfShape"]
    shapes = {node.output[0]: tuple(inputs[node.input[0]]) for node in made_nodes}
    shapes |= {key: value.shape for key, value in inputs.items() if value.dtype == np.float32}
    kept_initializers = [
        initializer for initializer in model.graph.initializer if initializer.name not in shapes
    ]
    nodes = [node for node in model.graph.node if node.op_type != "ConstantOfShape"]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept_initializers)
    for key, shape in shapes.items():
        model.graph.initializer.append(numpy_helper.from_array(_weights(key, shape, random), key))
    model.ir_version = 8  # before 4, every initializer had to be an input too
    return bytes(model.SerializeToString())


def _weights(key: str, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Signals keep their size through the layers: factors and variances are 1, biases and means 0."""
    if len(shape) > 1:
        size = np.float32(np.sqrt(2 / np.prod(shape[1:])))
        return random.standard_normal(shape, dtype=np.float32) * size
    return np.full(shape, FACTOR.search(key) is not None, dtype=np.float32)


def run(model: Path | bytes, tensor: Array) -> Array:
    """The graph's only output, by ONNX Runtime without Triton."""
    options = ort.SessionOptions()
    options.log_severity_level = 3  # the wheel's graphs hold an initializer that nothing uses
    source = model if isinstance(model, bytes) else str(model)
    session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {session.get_inputs()[0].name: tensor})
    return np.asarray(answer)
