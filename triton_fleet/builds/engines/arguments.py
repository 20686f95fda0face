"""The arguments of trtexec for an engine, in the spelling of the image's TensorRT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.catalog.engines import engine_option, option_spelling
from triton_fleet.spec.engine import Compatibility, Engine, Precision
from triton_fleet.spec.values import BYTES

SHAPES = {
    "smallest": "the smallest shapes that a request may have",
    "usual": "the shapes that it is optimised for",
    "largest": "the largest shapes that a request may have",
}
"""What each of an input's three shapes is for."""


@dataclass(frozen=True)
class Argument:
    """One argument of trtexec, its reason, and its price in words; empty if it has none."""

    text: str
    reason: str
    price: str = ""


def trtexec_arguments(engine: Engine, tensorrt: str) -> tuple[Argument, ...]:
    """The arguments that decide the result, without those that name files, in an order that never varies.

    What that TensorRT does not have is left out; the rule unsupported-engine-option finds it.

    Args:
        engine: As the spec has it.
        tensorrt: The version in the image, `10.9.0.34`.
    """
    return tuple(_arguments(engine, tensorrt))


def _arguments(engine: Engine, tensorrt: str) -> Iterator[Argument]:
    for number, (which, reason) in enumerate(SHAPES.items() if engine.shapes else ()):
        shapes = ",".join(f"{name}:{shapes[number]}" for name, shapes in sorted(engine.shapes.items()))
        yield Argument(option_spelling(which, tensorrt, shapes), f"`shapes`: {reason}")
    precision = engine_option("precision", engine.precision)
    if engine.precision is not Precision.FP32 and precision.known_to(tensorrt):
        reason = (
            f"`precision: {engine.precision}`: layers may compute in {engine.precision} where that is faster"
        )
        yield Argument(precision.flag, reason, precision.price)
    compatibility = engine_option("compatibility", engine.compatibility)
    if engine.compatibility is not Compatibility.NONE and compatibility.known_to(tensorrt):
        reason = f"`compatibility: {engine.compatibility}`: the plan loads on other GPUs too"
        yield Argument(compatibility.flag, reason, compatibility.price)
    if engine.workspace is not None:
        size = engine.workspace // BYTES["MiB"]
        reason = f"`workspace`: a layer uses {size} MiB at most beside its tensors"
        yield Argument(
            option_spelling("workspace", tensorrt, str(size)),
            reason,
            "tactics that need more memory are not used",
        )
    yield Argument(option_spelling("build_only", tensorrt), "only the plan is needed: nothing is measured")
