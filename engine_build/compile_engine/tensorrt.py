"""The image's trtexec, and the version of its TensorRT."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
