"""The GPU that is there, held against the one that the engine is for."""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO

from engine_request.problems import NO_GPU, OLD_DRIVER, WRONG_GPU, BuildError
from engine_request.request import Request

PATIENCE = 120
"""Seconds; a driver that hangs would let it wait for ever, a cold one takes some tens."""
SECONDS_TO_DIE = 5
"""What waits for the driver within the kernel does not die even by SIGKILL."""


@dataclass(frozen=True)
class Gpu:
    """What nvidia-smi says of the first GPU, which trtexec takes.

    Attributes:
        name: `NVIDIA A10G`.
        compute_capability: `8.6`.
        driver: `550.163.01`.
        memory: With its unit, `23028 MiB`.
    """

    name: str
    compute_capability: str
    driver: str
    memory: str


def require_gpu(request: Request) -> Gpu:
    """The GPU, which is the expected one.

    Raises:
        BuildError: there is none, it is another one, or its driver is too old.
    """
    name, driver, memory = _ask("name", "driver_version", "memory.total")
    expected = f"{request.gpu} of compute capability {request.compute_capability}"
    if not re.search(rf"(?<![A-Za-z0-9]){re.escape(request.gpu)}(?![A-Za-z0-9])", name, re.IGNORECASE):
        raise BuildError(WRONG_GPU, f"the engine is for an {expected}; this is an {name}")
    major = re.match(r"\d+", driver)  # trtexec judges one that does not say its version
    if major is not None and int(major[0]) < int(request.least_driver):
        raise BuildError(
            OLD_DRIVER,
            f"the image {request.image} needs NVIDIA's driver {request.least_driver} or newer; "
            f"this host has {driver}",
        )
    # Only now: a driver that is too old does not know this field.
    (capability,) = _ask("compute_cap")
    if capability != request.compute_capability:
        raise BuildError(
            WRONG_GPU, f"the engine is for an {expected}; this {name} has compute capability {capability}"
        )
    return Gpu(name, capability, driver, memory)


def _ask(*fields: str) -> list[str]:
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    with TemporaryFile() as answer, TemporaryFile() as complaint:
        try:
            process = subprocess.Popen(command, stdout=answer, stderr=complaint)
        except OSError as error:
            raise BuildError(NO_GPU, f"nvidia-smi could not be started: {error}") from error
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_DIE)
            raise BuildError(NO_GPU, f"nvidia-smi does not answer within {PATIENCE} seconds") from error
        said, complained = (_text(file) for file in (answer, complaint))
    values = [value.strip() for value in said.partition("\n")[0].split(",")]
    if code or len(values) != len(fields):
        told = "\n".join(filter(None, (said, complained))) or "it says nothing"
        raise BuildError(NO_GPU, f"nvidia-smi shows no GPU (exit code {code}): {told}")
    return values


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip()
