"""The image's trtexec with the version of its TensorRT, its two calls, and the figures that it prints.

One call builds the plan, one loads it back and runs it for a moment. With `--loadEngine` and
`--skipInference` trtexec ends well even where the plan could not be deserialised: it asks for the engine, and
prints nothing of the null that it gets (NVIDIA/TensorRT, samples/trtexec/trtexec.cpp and
samples/common/sampleEngines.cpp, 8.6.1 and 10.9). A short inference fails there. It also proves that the GPU
has the memory for the plan's context and runs its kernels, and it measures them
(samples/common/sampleReporting.cpp, printEpilog, in 8.6.1 to 11.0 alike).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine_request.problems import UNFIT_IMAGE, BuildError

TRTEXEC_PATH = "/usr/src/tensorrt/bin/trtexec"
"""Where NVIDIA's Triton image has it (triton-inference-server/server, qa/L0_perf_resnet/test.sh)."""
FOUR_NUMBERS = re.compile(r"\b(\d+\.\d+\.\d+\.\d+)\b")
BANNER = re.compile(r"\[TensorRT v(\d+)\](?: \[b(\d+)\])?")
"""NV_TENSORRT_VERSION and, in newer ones, the build: `[TensorRT v8601]`, `[TensorRT v100900] [b34]`."""


@dataclass(frozen=True)
class TensorRT:
    """A trtexec, and the version of its TensorRT: four numbers, three where the image shows no more."""

    trtexec: str
    version: str


def require_tensorrt(environ: Mapping[str, str] = os.environ) -> TensorRT:
    """The one that comes first on PATH, else the one in NVIDIA's place.

    Raises:
        BuildError: there is none, or the image does not show its version.
    """
    trtexec = shutil.which("trtexec", path=environ.get("PATH")) or shutil.which(TRTEXEC_PATH)
    if trtexec is None:
        raise BuildError(UNFIT_IMAGE, f"the image has no trtexec: neither on PATH, nor {TRTEXEC_PATH}")
    sources: Sequence[Callable[[], str]] = (
        lambda: environ.get("TRT_VERSION", ""),
        lambda: _output("dpkg-query", "--show", "--showformat=${Version}\n", "libnvinfer[0-9]*"),
        lambda: _banner(_output(trtexec, "--help")),
    )
    for version in sources:
        match = FOUR_NUMBERS.search(version())
        if match is not None:
            return TensorRT(trtexec, match[1])
    numbers = re.fullmatch(r"\d+\.\d+\.\d+", _banner(_output(trtexec, "--help")))
    if numbers is None:
        raise BuildError(
            UNFIT_IMAGE,
            "the image does not show which TensorRT it has: not in TRT_VERSION, not in dpkg-query, "
            f"not in the banner of {trtexec}",
        )
    return TensorRT(trtexec, numbers[0])


def _banner(text: str) -> str:
    match = BANNER.search(text)
    if match is None:
        return ""
    number, build = int(match[1]), match[2]
    # From 10 on, a number has two digits for the minor version (NvInferRuntimeBase.h).
    major, rest = divmod(number, 10_000) if number >= 100_000 else divmod(number, 1000)
    return ".".join(map(str, (major, *divmod(rest, 100)))) + (f".{build}" if build else "")


def _output(*command: str) -> str:
    try:
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            check=False,
        ).stdout
    except OSError:
        return ""


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


PATTERNS = {
    "queries_per_second": r"Throughput: ([0-9.e+-]+) qps",
    "latency_median_ms": r"\] Latency: .*\bmedian = ([0-9.e+-]+) ms",
    "latency_99_ms": r"\] Latency: .*percentile\(99%\) = ([0-9.e+-]+) ms",
    "gpu_compute_median_ms": r"GPU Compute Time: .*\bmedian = ([0-9.e+-]+) ms",
}


def read_figures(lines: Sequence[str]) -> dict[str, float]:
    """By name, with its unit in the name; what the output does not have is left out."""
    figures = {}
    for name, pattern in PATTERNS.items():
        for line in lines:
            match = re.search(pattern, line)
            if match is not None:
                figures[name] = float(match[1])
    return figures
