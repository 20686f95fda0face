"""Writes a small Inception as ONNX, and labels for its classes; its weights are drawn, not trained.

The bytes depend on the seed and on the pinned wheel of onnx alone: the digest of the archive is reviewed.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SENTENCES = Path(__file__).resolve().parents[1] / "sentence_embeddings"
sys.path.insert(0, str(SENTENCES))
from make_weights import update  # noqa: E402

MODEL = Path(__file__).parent / "models/image/inception_onnx"
INPUT, OUTPUT = "input", "InceptionV3/Predictions/Softmax"
SIDE, CLASSES = 299, 1001
SEED = 299
CONTRAST = 3.0
"""Of the last layer, so that two images get different classes; a trained model learns as much."""


class Graph:
    """Layers over images in NCHW; each takes the value that it names and returns its own name."""

    def __init__(self) -> None:
        # RandomState's stream is frozen; drawing evenly needs no function that rounds as the machine does.
        self._random = np.random.RandomState(SEED)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._channels = {"nchw": 3}

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def draw(self, name: str, *shape: int, limit: float) -> str:
        """Weights between -limit and limit."""
        values = limit * (2.0 * self._random.random_sample(shape) - 1.0)
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def conv(self, name: str, x: str, out: int, size: int, stride: int = 1) -> str:
        """A convolution and a ReLU; with a stride of 1 the image keeps its size."""
        into = self._channels[x]
        # He's bound, which keeps the spread of values from layer to layer.
        weight = self.draw(f"{name}.weight", out, into, size, size, limit=math.sqrt(6 / (into * size**2)))
        pads = [size // 2 if stride == 1 else 0] * 4
        output = self.add(
            "Conv",
            f"{name}.conv",
            x,
            weight,
            kernel_shape=[size, size],
            strides=[stride, stride],
            pads=pads,
        )
        self._channels[name] = out
        return self.add("Relu", name, output)

    def pool(self, op: str, name: str, x: str, stride: int) -> str:
        pads = [1 if stride == 1 else 0] * 4
        self._channels[name] = self._channels[x]
        return self.add(op, name, x, kernel_shape=[3, 3], strides=[stride, stride], pads=pads)

    def inception(self, at: str, x: str, out: int, narrow: int) -> str:
        """The block that gave Inception its name: four branches over one image, side by side."""
        five = self.conv(f"{at}.5x5.reduced", x, narrow, 1)
        double = self.conv(f"{at}.3x3.first", self.conv(f"{at}.3x3.reduced", x, narrow, 1), out, 3)
        branches = [
            self.conv(f"{at}.1x1", x, out, 1),
            self.conv(f"{at}.5x5", five, out, 5),
            self.conv(f"{at}.3x3", double, out, 3),
            self.conv(f"{at}.pooled", self.pool("AveragePool", f"{at}.pool", x, 1), out, 1),
        ]
        self._channels[at] = len(branches) * out
        return self.add("Concat", at, *branches, axis=1)


def onnx_model() -> bytes:
    """The file: input FP32 [n, 299, 299, 3] to InceptionV3/Predictions/Softmax FP32 [n, 1001]."""
    g = Graph()
    x = g.add("Transpose", "nchw", INPUT, perm=[0, 3, 1, 2])
    x = g.conv("stem.first", x, 8, 3, stride=2)
    x = g.conv("stem.second", x, 16, 3)
    x = g.pool("MaxPool", "stem.pool", x, 2)
    x = g.conv("stem.third", x, 24, 3, stride=2)
    x = g.inception("mixed.first", x, 16, 12)
    x = g.pool("MaxPool", "mixed.pool", x, 2)
    x = g.inception("mixed.second", x, 32, 16)
    x = g.add("Flatten", "features", g.add("GlobalAveragePool", "average", x))
    features = 4 * 32
    weight = g.draw("classes.weight", features, CLASSES, limit=CONTRAST * math.sqrt(3 / features))
    g.add("Softmax", OUTPUT, g.add("MatMul", "classes", x, weight), axis=-1)
    graph = helper.make_graph(
        g.nodes,
        "small_inception",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["batch", SIDE, SIDE, 3])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", CLASSES])],
        g.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def labels() -> bytes:
    """A line for each class, by number: ImageNet's own names are not ours to give."""
    return "".join(f"{name}\n" for name in ("other", *(f"class {n}" for n in range(1, CLASSES)))).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=MODEL, help="model directory to write to")
    into = parser.parse_args().into
    update(into / "1/model.onnx", onnx_model())
    update(into / "inception_labels.txt", labels())
    return 0


if __name__ == "__main__":
    sys.exit(main())
