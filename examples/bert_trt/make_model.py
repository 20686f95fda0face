"""Writes a small ONNX graph with the inputs and outputs of BERT; its weights are drawn, not trained.

The bytes depend on the seed and on the pinned wheel of onnx alone: the digest of the file is reviewed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

SENTENCES = Path(__file__).resolve().parents[1] / "sentence_embeddings"
sys.path.insert(0, str(SENTENCES))
from make_weights import TOKENS, Array, Graph, bert, write  # noqa: E402

MODEL = Path(__file__).parent / "model.onnx"
SEED = 768
WORDS, OUT = 30_522, 768  # of bert-base-uncased: every id of its tokenizer is taken
CONFIG = {
    "num_attention_heads": 2,
    "hidden_size": 4,  # of BERT 768; with it the table of words alone would be 94 MB
    "num_hidden_layers": 2,
    "layer_norm_eps": 1e-12,
}


class DrawnWeights(dict[str, Array]):
    """Weights by name as BERT has them; those of a layer are given as [out, in]."""

    def __init__(self) -> None:
        super().__init__()
        # RandomState's stream is frozen; drawing evenly needs no function that rounds as the machine does.
        self._random = np.random.RandomState(SEED)
        hidden = CONFIG["hidden_size"]
        self.draw("embeddings.word_embeddings.weight", WORDS, hidden)
        self.draw("embeddings.position_embeddings.weight", TOKENS, hidden)
        self.draw("embeddings.token_type_embeddings.weight", 1, hidden)
        self.norm("embeddings.LayerNorm")
        for layer in range(CONFIG["num_hidden_layers"]):
            at = f"encoder.layer.{layer}"
            for part in ("self.query", "self.key", "self.value", "output.dense"):
                self.dense(f"{at}.attention.{part}", hidden, hidden)
            self.norm(f"{at}.attention.output.LayerNorm")
            self.dense(f"{at}.intermediate.dense", 4 * hidden, hidden)
            self.dense(f"{at}.output.dense", hidden, 4 * hidden)
            self.norm(f"{at}.output.LayerNorm")
        self.dense("widened", OUT, hidden)
        self.dense("pooler.dense", OUT, hidden)

    def draw(self, name: str, *shape: int) -> None:
        self[name] = (2.0 * self._random.random_sample(shape) - 1.0).astype(np.float32)

    def dense(self, name: str, out: int, into: int) -> None:
        self.draw(f"{name}.weight", out, into)
        self.draw(f"{name}.bias", out)

    def norm(self, name: str) -> None:
        self[f"{name}.weight"] = np.ones(CONFIG["hidden_size"], np.float32)
        self[f"{name}.bias"] = np.zeros(CONFIG["hidden_size"], np.float32)


def onnx_model() -> bytes:
    """The file: token_ids, attn_mask INT32 [n, 128] to output FP32 [n, 128, 768], pooled_output [n, 768]."""
    g = Graph(DrawnWeights())
    encoded = bert(g, CONFIG)
    g.add("Identity", "output", g.dense("widened", encoded))
    first = g.add("Gather", "first", encoded, g.constant("zero", [0]), axis=1)
    first = g.add("Squeeze", "first.flat", first, g.constant("first.axes", [1]))
    g.add("Tanh", "pooled_output", g.dense("pooler.dense", first))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", TOKENS])
        for name in ("token_ids", "attn_mask")
    ]
    outputs = [
        helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch", TOKENS, OUT]),
        helper.make_tensor_value_info("pooled_output", TensorProto.FLOAT, ["batch", OUT]),
    ]
    constants = [g.constants[name] for name in sorted(g.constants)]
    graph = helper.make_graph(g.nodes, "small_bert", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=MODEL, help="file to write")
    into = parser.parse_args().into
    content = onnx_model()
    current = into.is_file() and into.read_bytes() == content
    if not current:
        write(into, content)
    print(f"{'up to date' if current else 'written'}: {into}, {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
