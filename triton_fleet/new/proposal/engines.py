"""Engines for TensorRT models that have no plan, and whose ONNX model is beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.builds.engines.model_fit import ANY, Dims, input_dims
from triton_fleet.catalog.proposals import proposals
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents, OnnxHeader
from triton_fleet.repository.loading.models import Model, models_of
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.stream import FileStream

TENSORRT, PLAN, ONNX = "tensorrt", ".plan", ".onnx"


@dataclass(frozen=True, kw_only=True)
class ProposedEngine:
    """An engine of a model.

    Attributes:
        onnx: The file.
        size: Its bytes, by which those of the plan are guessed.
        shapes: By input that varies: smallest, usual, largest.
        why: Sentences.
    """

    model: str
    onnx: Path
    size: int
    shapes: Mapping[str, tuple[str, str, str]]
    why: tuple[str, ...]

    def entry(self, below: Path) -> dict[str, object]:
        """As the spec has it, with paths relative to a folder."""
        shapes = {name: list(each) for name, each in self.shapes.items()}
        onnx = Path(os.path.relpath(self.onnx, below)).as_posix()
        return {"model": self.model, "onnx": onnx, **({"shapes": shapes} if shapes else {})}


def proposed_engines(contents: Contents) -> tuple[ProposedEngine, ...]:
    """One for each model of the TensorRT backend without a plan of which an ONNX model is found."""
    models = models_of(contents)[0]
    return tuple(
        _engine(name, model.config, onnx)
        for name, model in models.items()
        if model.backend == TENSORRT and not _has_plan(contents, model)
        for onnx in _onnx_beside(contents, name)
    )


def _has_plan(contents: Contents, model: Model) -> bool:
    message = model.config.message
    named = {message.default_model_filename, *message.cc_model_filenames.values()}
    return any(
        path.startswith(f"{model.directory}/") and (path.endswith(PLAN) or Path(path).name in named)
        for path in contents.entries
    )


def _onnx_beside(contents: Contents, model: str) -> Iterator[Path]:
    """The ONNX model in the model's directory, else one of its name in the repository or beside that."""
    within = [path for path in contents.entries if path.startswith(f"{model}/") and path.endswith(ONNX)]
    place = contents.place
    beside = [place / f"{model}{ONNX}", place.parent / f"{model}{ONNX}"]
    yield from [file for file in [*(place / path for path in within), *beside] if file.is_file()][:1]


def _engine(model: str, config: ParsedConfig, onnx: Path) -> ProposedEngine:
    size = onnx.stat().st_size
    graph = _graph(onnx, size)
    dims = {name: each for name, each in input_dims(config, graph).items() if ANY in each}
    batches = config.message.max_batch_size > 0
    batch = _batch(config)
    shapes = {name: _shapes(each, batch if batches else None) for name, each in sorted(dims.items())}
    why = [
        f"{model} uses the TensorRT backend and has no plan: it is built from {onnx.name}, on the"
        " endpoint's own GPU."
    ]
    if batches and shapes:
        why.append(
            f"The batches {', '.join(map(str, batch))} follow from its config.pbtxt; the engine is optimised"
            " for the second."
        )
    if guessed := [name for name, each in sorted(dims.items()) if ANY in each[1 if batches else 0 :]]:
        sizes = ", ".join(map(str, proposals().open_dimension))
        why.append(
            f"Guessed: the ONNX model leaves dimensions of {', '.join(guessed)} open, so {sizes} are"
            " placeholders; write the ones that calls use."
        )
    why.append("In FP32; `precision: fp16` is faster and rounds, see docs/engines.md.")
    return ProposedEngine(model=model, onnx=onnx, size=size, shapes=shapes, why=tuple(why))


def _batch(config: ParsedConfig) -> tuple[int, int, int]:
    """Smallest, usual and largest: what the model prefers, else the largest where calls are gathered."""
    most = int(config.message.max_batch_size)
    preferred = list(config.message.dynamic_batching.preferred_batch_size)
    gathered = most if config.message.HasField("dynamic_batching") else 1
    return 1, preferred[-1] if preferred else gathered, most


def _shapes(dims: Dims, batch: tuple[int, int, int] | None) -> tuple[str, str, str]:
    first, second, third = (
        "x".join(map(str, _sizes(dims, opened, None if batch is None else batch[number])))
        for number, opened in enumerate(proposals().open_dimension)
    )
    return first, second, third


def _sizes(dims: Dims, opened: int, batch: int | None) -> Iterator[int]:
    for at, size in enumerate(dims):
        yield size if size != ANY else opened if at or batch is None else batch


def _graph(file: Path, size: int) -> OnnxHeader | None:
    with file.open("rb", buffering=0) as content:
        header = read_header(FileStream(content, size), size)
    return None if header.problem else header
