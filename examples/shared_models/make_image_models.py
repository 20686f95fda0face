"""Writes small graphs with the inputs and outputs of ResNet-50 and YOLOv5s, and what is beside the models.

The bytes depend on the seed and on the pinned wheel of onnx alone: the digests of the files are reviewed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EXAMPLE = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLE.parent / "sentence_embeddings"))
from make_weights import update  # noqa: E402

SEED = 50
RESNET_SIDE, RESNET_CLASSES = 224, 1000
CONTRAST = 3.0
"""Of ResNet's last layer, so that two pictures get different classes; a trained model learns as much."""

YOLO_SIDE, YOLO_CLASSES = 640, 80
ROW = 5 + YOLO_CLASSES
ANCHORS = {8: (3, 5, 7), 16: (5, 7, 9), 32: (5, 7, 9)}
"""By the pixels between two cells: the sides of the squares that are found there, in cells."""
COLOURS = 3
WINDOW = 11
"""Cells that a head looks at, in each direction: the largest square and a ring around it."""
STEEPNESS, PRESENT = 12.0, 0.6
"""How sure it gets how fast; which share of a square has to be of the colour, beyond that around it."""
Array = np.ndarray[tuple[int, ...], np.dtype[Any]]


class Graph:
    """Nodes and constants; every value is named after the place where it is made."""

    def __init__(self) -> None:
        # RandomState's stream is frozen; drawing evenly needs no function that rounds as the machine does.
        self._random = np.random.RandomState(SEED)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output, whose name it has."""
        self._nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def split(self, names: list[str], x: str, sizes: list[int]) -> list[str]:
        """Parts of those sizes of the last axis."""
        size_constant = self.constant(f"{x}.sizes", sizes)
        self._nodes.append(helper.make_node("Split", [x, size_constant], names, axis=-1))
        return names

    def constant(self, name: str, value: Array | list[int] | float) -> str:
        dtype = np.int64 if isinstance(value, list) else np.float32
        self._constants.append(numpy_helper.from_array(np.array(value, dtype, order="C"), name))
        return name

    def draw(self, name: str, *shape: int, limit: float) -> str:
        """Weights between -bound and bound."""
        return self.constant(name, limit * (2.0 * self._random.random_sample(shape) - 1.0))

    def conv(self, name: str, x: str, weight: str, side: int, *more: str, stride: int = 1) -> str:
        pads = [side // 2] * 4
        return self.add(
            "Conv", name, x, weight, *more, kernel_shape=[side] * 2, strides=[stride] * 2, pads=pads
        )

    def drawn_conv(self, name: str, x: str, channels: tuple[int, int], side: int, stride: int = 1) -> str:
        """A convolution without bias, so that a black picture stays black; channels are out and in."""
        limit = math.sqrt(6 / (channels[1] * side**2))  # He's, which keeps the spread from layer to layer
        weight = self.draw(f"{name}.weight", *channels, side, side, limit=limit)
        return self.conv(name, x, weight, side, stride=stride)

    def file(self, name: str, input: tuple[str, list[Any]], output: tuple[str, list[Any]]) -> bytes:
        tensors = [
            helper.make_tensor_value_info(tensor, TensorProto.FLOAT, dims) for tensor, dims in (input, output)
        ]
        graph = helper.make_graph(self._nodes, name, tensors[:1], tensors[1:], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))


def resnet() -> bytes:
    """The file: input FP32 [n, 3, 224, 224] to output FP32 [n, 1000], the scores before a softmax."""
    g = Graph()
    x = g.add("Relu", "stem", g.drawn_conv("stem.conv", "input", (8, 3), 7, stride=4))
    x = g.add("MaxPool", "stem.pool", x, kernel_shape=[2, 2], strides=[2, 2])
    for at, channels, before in (("first", 8, 8), ("second", 16, 8)):
        stride = channels // before
        y = g.add("Relu", f"{at}.relu", g.drawn_conv(f"{at}.a", x, (channels, before), 3, stride))
        y = g.drawn_conv(f"{at}.b", y, (channels, channels), 3)
        if stride > 1:
            x = g.drawn_conv(f"{at}.shortcut", x, (channels, before), 1, stride)
        x = g.add("Relu", at, g.add("Add", f"{at}.added", x, y))
    features = g.add("Flatten", "features", g.add("GlobalAveragePool", "average", x))
    weight = g.draw("classes.weight", 16, RESNET_CLASSES, limit=CONTRAST)
    g.add("Gemm", "output", features, weight, g.draw("classes.bias", RESNET_CLASSES, limit=1.0))
    shape = ["batch", 3, RESNET_SIDE, RESNET_SIDE]
    return g.file("small_resnet", ("input", shape), ("output", ["batch", RESNET_CLASSES]))


def yolov5s() -> bytes:
    """The file: images FP32 [1, 3, 640, 640] to output FP32 [1, 25200, 85], rows as YOLOv5 has them.

    It finds squares of the colours red, green and blue, its classes 0 to 2, by weights that are set by hand.
    """
    g = Graph()
    opponents = np.array([[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]])[:, :, None, None]
    x = g.conv("opponents", "images", g.constant("opponents.weight", opponents), 1)
    x, before, heads = g.add("Relu", "colours", x), 1, []
    for stride, sides in ANCHORS.items():
        step = [stride // before] * 2
        x, before = g.add("AveragePool", f"cells.{stride}", x, kernel_shape=step, strides=step), stride
        heads.append(head(g, x, stride, sides))
    g.add("Concat", "output", *heads, axis=1)
    shape = [1, 3, YOLO_SIDE, YOLO_SIDE]
    return g.file("small_yolov5s", ("images", shape), ("output", [1, 25_200, ROW]))


def head(g: Graph, x: str, stride: int, sides: tuple[int, ...]) -> str:
    """The rows of one of the three resolutions, from the colours of its cells."""
    at, cells, anchors = f"head.{stride}", YOLO_SIDE // stride, len(sides)
    weight, bias = (np.concatenate(arrays) for arrays in zip(*map(detector, sides), strict=True))
    x = g.conv(
        f"{at}.conv",
        x,
        g.constant(f"{at}.weight", weight),
        weight.shape[-1],
        g.constant(f"{at}.bias", bias),
    )
    x = g.add("Reshape", f"{at}.split", x, g.constant(f"{at}.shape", [1, anchors, ROW, cells, cells]))
    x = g.add("Sigmoid", f"{at}.sigmoid", g.add("Transpose", f"{at}.turned", x, perm=[0, 1, 3, 4, 2]))
    xy, wh, rest = g.split([f"{at}.{part}" for part in ("xy", "wh", "rest")], x, [2, 2, ROW - 4])
    y_of, x_of = np.mgrid[0:cells, 0:cells]
    grid = g.constant(f"{at}.grid", stride * (np.stack([x_of, y_of], -1)[None, None] - 0.5))
    factor = g.constant(f"{at}.doubled", 2.0 * stride)
    centre = g.add("Add", f"{at}.centre", g.add("Mul", f"{at}.offset", xy, factor), grid)
    # A sigmoid of a half makes the size of the anchor.
    anchor = g.constant(f"{at}.anchor", 4.0 * stride * np.array(sides).reshape(1, -1, 1, 1, 1))
    size = g.add("Mul", f"{at}.size", g.add("Mul", f"{at}.squared", wh, wh), anchor)
    rows = g.add("Concat", f"{at}.rows", centre, size, rest, axis=-1)
    return g.add("Reshape", at, rows, g.constant(f"{at}.flat", [1, anchors * cells**2, ROW]))


def detector(side: int) -> tuple[Array, Array]:
    """Weights [85, 3, 11, 11] and biases [85] for a square in the middle with another ring around it."""
    weight, bias = np.zeros((ROW, COLOURS, WINDOW, WINDOW)), np.zeros(ROW)
    inner, outer = (slice((WINDOW - size) // 2, (WINDOW + size) // 2) for size in (side, side + 2))
    weight[4, :, outer, outer] = -STEEPNESS / ((side + 2) ** 2 - side**2)
    weight[4, :, inner, inner] = STEEPNESS / side**2
    bias[4] = -STEEPNESS * PRESENT
    for colour in range(COLOURS):
        weight[5 + colour, colour, inner, inner] = STEEPNESS / side**2
    bias[5:] = -STEEPNESS / 2
    return weight, bias


def labels() -> bytes:
    """A line for each class, by number: ImageNet's own names are not ours to give."""
    return "".join(f"class {number}\n" for number in range(RESNET_CLASSES)).encode()


def files() -> Iterator[tuple[str, bytes]]:
    """The files that git does not keep, by its place in the example."""
    yield "resnet.onnx", resnet()
    yield "yolov5s.onnx", yolov5s()
    yield "models/resnet/labels.txt", labels()
    for model in ("resnet_image", "yolov5_image"):
        yield f"models/{model}/1/pictures.py", (EXAMPLE / "pictures.py").read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=EXAMPLE, help="folder to write to")
    into = parser.parse_args().into
    for place, content in files():
        update(into / place, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
