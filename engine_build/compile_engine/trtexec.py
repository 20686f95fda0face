"""The two calls of trtexec: one that builds the plan, one that loads it back and runs it for a moment.

With `--loadEngine` and `--skipInference` trtexec ends well even where the plan could not be deserialised: it
asks for the engine, and prints nothing of the null that it gets (NVIDIA/TensorRT, samples/trtexec/trtexec.cpp
and samples/common/sampleEngines.cpp, 8.6.1 and 10.9). A short inference fails there. It also proves that the
GPU has the memory for the plan's context and runs its kernels, and it measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .tensorrt import TensorRT

SHORT_RUN = ("--warmUp=200", "--duration=1", "--iterations=10")
"""Milliseconds, seconds and the least number of runs; trtexec's own defaults take over 3 seconds."""


def build_command(tensorrt: TensorRT, arguments: Sequence[str], *, onnx: Path, plan: Path) -> list[str]:
    """The call that writes the plan."""
    return [tensorrt.trtexec, f"--onnx={onnx}", f"--saveEngine={plan}", *arguments]


def load_command(tensorrt: TensorRT, arguments: Sequence[str], *, plan: Path) -> list[str]:
    """The call that runs the plan, with inputs of the usual shape of its first profile."""
    usual = [argument for argument in arguments if argument.startswith("--optShapes=")][:1]
    shapes = [f"--shapes={argument.partition('=')[2]}" for argument in usual]
    # A plan of that kind holds code, which trtexec runs only with this option.
    compatible = [argument for argument in arguments if argument in ("--versionCompatible", "--vc")]
    return [tensorrt.trtexec, f"--loadEngine={plan}", *compatible, *shapes, *SHORT_RUN]
