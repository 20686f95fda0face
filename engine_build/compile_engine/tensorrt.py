"""The image's trtexec, and which TensorRT it is of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine_request.problems import UNFIT_IMAGE, BuildError

PLACE = "/usr/src/tensorrt/bin/trtexec"
"""Where NVIDIA's Triton image has it (triton-inference-server/server, qa/L0_perf_resnet/test.sh)."""
FOUR = re.compile(r"\b(\d+\.\d+\.\d+\.\d+)\b")
BANNER = re.compile(r"\[TensorRT v(\d+)\](?: \[b(\d+)\])?")
"""NV_TENSORRT_VERSION and, in newer ones, the build: `[TensorRT v8601]`, `[TensorRT v100900] [b34]`."""


@dataclass(frozen=True)
class TensorRT:
    """A trtexec, and the version of its TensorRT: four numbers, three where the image tells no more."""

    trtexec: str
    version: str


def require_tensorrt(environ: Mapping[str, str] = os.environ) -> TensorRT:
    """The one that comes first on PATH, else the one in NVIDIA's place.

    Raises:
        BuildError: there is none, or it does not tell its version.
    """
    trtexec = shutil.which("trtexec", path=environ.get("PATH")) or shutil.which(PLACE)
    if trtexec is None:
        raise BuildError(UNFIT_IMAGE, f"the image has no trtexec: neither on PATH, nor {PLACE}")
    sources: Sequence[Callable[[], str]] = (
        lambda: environ.get("TRT_VERSION", ""),
        lambda: _said("dpkg-query", "--show", "--showformat=${Version}\n", "libnvinfer[0-9]*"),
        lambda: _banner(_said(trtexec, "--help")),
    )
    for version in sources:
        found = FOUR.search(version())
        if found is not None:
            return TensorRT(trtexec, found[1])
    three = re.fullmatch(r"\d+\.\d+\.\d+", _banner(_said(trtexec, "--help")))
    if three is None:
        raise BuildError(
            UNFIT_IMAGE,
            "the image does not tell which TensorRT it has: not by TRT_VERSION, not by dpkg-query, "
            f"not by the banner of {trtexec}",
        )
    return TensorRT(trtexec, three[0])


def _banner(said: str) -> str:
    found = BANNER.search(said)
    if found is None:
        return ""
    number, build = int(found[1]), found[2]
    # From 10 on, a number has two digits for the minor version (NvInferRuntimeBase.h).
    major, rest = divmod(number, 10_000) if number >= 100_000 else divmod(number, 1000)
    return ".".join(map(str, (major, *divmod(rest, 100)))) + (f".{build}" if build else "")


def _said(*command: str) -> str:
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
