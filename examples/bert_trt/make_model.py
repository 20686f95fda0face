"""Writes a small ONNX graph with the inputs and outputs of BERT; its weights are drawn, not trained.

The bytes depend on the seed and on the pinned wheel of onnx alone: the digest of the file is reviewed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

SENTENCES = Path(__file__).resolve().parents[1] / "sentence_embeddings"
sys.path.insert(0, str(SENTENCES))
from make_weights import TOKENS, Array, Graph, bert, model_file, pool, update  # noqa: E402

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
        width = CONFIG["hidden_size"]
        self.draw("embeddings.word_embeddings.weight", WORDS, width)
        self.draw("embeddings.position_embeddings.weight", TOKENS, width)
        self.draw("embeddings.token_type_embeddings.weight", 1, width)
        self.norm("embeddings.LayerNorm")
        for layer in range(CONFIG["num_hidden_layers"]):
            at = f"encoder.layer.{layer}"
            for part in ("self.query", "self.key", "self.value", "output.dense"):
                self.dense(f"{at}.attention.{part}", width, width)
            self.norm(f"{at}.attention.output.LayerNorm")
            self.dense(f"{at}.intermediate.dense", 4 * width, width)
            self.dense(f"{at}.output.dense", width, 4 * width)
            self.norm(f"{at}.output.LayerNorm")
        self.dense("widened", OUT, width)
        self.dense("pooler.dense", OUT, width)

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
    tokens = bert(g, CONFIG)
    g.add("Identity", "output", g.dense("widened", tokens))
    pool(g, tokens, "pooled_output")
    return model_file(g, "small_bert", {"output": [TOKENS, OUT], "pooled_output": [OUT]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=MODEL, help="file to write")
    update(parser.parse_args().into, onnx_model())
    return 0


if __name__ == "__main__":
    sys.exit(main())
