"""Writes two versions of a small graph with the inputs and outputs of BERT for masked words, and its words.

The bytes depend on the seeds and on the pinned wheels alone: the digest of the archive is reviewed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

EXAMPLE = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLE.parent / "sentence_embeddings"))
from make_weights import MASK_BIAS, Array, Graph, attention, feed_forward, find_weights, update  # noqa: E402

VERSIONS = (1, 2)
"""Each is the seed of its weights, too."""
INPUTS = ("input_ids", "token_type_ids", "attention_mask")
WORDS, POSITIONS, TYPES = 30_522, 512, 2  # of bert-base-uncased
HEADS, WIDTH, LAYERS, EPSILON = 2, 4, 2, 1e-12  # BERT has 12, 768, 12; its table of words alone is 94 MB
FIRST_WORD, COMMON, PREFERENCE = 1996, 50, 8.0
"""The id of `the`, from which words are sorted by how common they are; how many are likely, by how much."""


class DrawnWeights(dict[str, Array]):
    """Weights by name as BERT has them; those of a layer are given as [out, in]."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        # RandomState's stream is frozen; drawing evenly needs no function that rounds as the machine does.
        self._random = np.random.RandomState(seed)
        for name, rows in (("words", WORDS), ("positions", POSITIONS), ("types", TYPES)):
            self.draw(name, rows, WIDTH)
        self.norm("embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            for part in ("self.query", "self.key", "self.value", "output.dense"):
                self.dense(f"{at}.attention.{part}", WIDTH, WIDTH)
            self.norm(f"{at}.attention.output.LayerNorm")
            self.dense(f"{at}.intermediate.dense", 4 * WIDTH, WIDTH)
            self.dense(f"{at}.output.dense", WIDTH, 4 * WIDTH)
            self.norm(f"{at}.output.LayerNorm")
        self.draw("predictions.weight", WORDS, WIDTH)
        ranks = np.arange(WORDS - FIRST_WORD)
        weights = np.concatenate([np.zeros(FIRST_WORD), PREFERENCE * COMMON / (COMMON + ranks)])
        self["predictions.bias"] = weights.astype(np.float32)

    def draw(self, name: str, *shape: int) -> None:
        self[name] = (2.0 * self._random.random_sample(shape) - 1.0).astype(np.float32)

    def dense(self, name: str, out: int, into: int) -> None:
        self.draw(f"{name}.weight", out, into)
        self.draw(f"{name}.bias", out)

    def norm(self, name: str) -> None:
        self[f"{name}.weight"] = np.ones(WIDTH, np.float32)
        self[f"{name}.bias"] = np.zeros(WIDTH, np.float32)


def embeddings(g: Graph) -> str:
    """Words, positions and types of as many tokens as there are, [n, tokens, 4]."""
    for table in ("words", "positions", "types"):
        g.constant(table, g.weights[table])
    x = g.add("Gather", "words.taken", "words", "input_ids")
    tokens = g.add("Shape", "tokens", "input_ids", start=1, end=2)
    begin = g.constant("begin", [0])
    x = g.add("Add", "words.placed", x, g.add("Slice", "positions.taken", "positions", begin, tokens, begin))
    x = g.add("Add", "embeddings", x, g.add("Gather", "types.taken", "types", "token_type_ids"))
    return g.norm("embeddings.LayerNorm", x, EPSILON)


def onnx_model(seed: int) -> bytes:
    """The file: three inputs INT64 [n, tokens] to output FP32 [n, tokens, 30522], before a softmax."""
    g = Graph(DrawnWeights(seed))
    # As the functions of the other example name them; 0 in a shape is the size that there is.
    g.constant("split", [0, 0, HEADS, WIDTH // HEADS])
    g.constant("joined", [0, 0, WIDTH])
    scalars = {"scale": math.sqrt(WIDTH // HEADS), "root": math.sqrt(2), "one": 1.0, "half": 0.5}
    for name, value in (scalars | {"masked": MASK_BIAS}).items():
        g.constant(name, value)
    mask = g.add("Unsqueeze", "mask.wide", "attention_mask", g.constant("mask.axes", [1, 2]))
    mask = g.add("Sub", "mask.padding", "one", g.add("Cast", "mask.float", mask, to=TensorProto.FLOAT))
    mask = g.add("Mul", "mask", mask, "masked")
    x = embeddings(g)
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        x = g.add("Add", f"{at}.attended", attention(g, at, x, mask), x)
        x = g.norm(f"{at}.attention.output.LayerNorm", x, EPSILON)
        x = g.add("Add", f"{at}.thought", feed_forward(g, at, x), x)
        x = g.norm(f"{at}.output.LayerNorm", x, EPSILON)
    g.add("Identity", "output", g.dense("predictions", x))
    return model_file(g)


def model_file(g: Graph) -> bytes:
    def tensor(name: str, kind: int, *more: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["batch", "tokens", *more])

    inputs = [tensor(name, TensorProto.INT64) for name in INPUTS]
    constants = [g.constants[name] for name in sorted(g.constants)]
    outputs = [tensor("output", TensorProto.FLOAT, WORDS)]
    graph = helper.make_graph(g.nodes, "small_masked_bert", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def files(source: Path) -> Iterator[tuple[str, bytes]]:
    """The files that git does not keep, by its place in the model repository."""
    for version in VERSIONS:
        yield f"bert_base/{version}/model.bin", onnx_model(version)
    yield "bert_base_text/vocab.txt", (source / "vocab.txt").read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=EXAMPLE / "models", help="model repository to write to")
    into = parser.parse_args().into
    try:
        source = find_weights()
    except FileNotFoundError as error:
        print(f"make_text_models: {error}", file=sys.stderr)
        return 2
    for place, content in files(source):
        update(into / place, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
