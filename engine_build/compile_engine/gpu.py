"""The GPU that is there, held against the one that the engine is for."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from engine_request.problems import NO_GPU, OLD_DRIVER, WRONG_GPU, BuildError
from engine_request.request import Request

PATIENCE = 120
"""Seconds; a driver that hangs would let it wait for ever, a cold one takes some tens."""


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
    if int(driver.partition(".")[0]) < int(request.least_driver):
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
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except OSError as error:
        raise BuildError(NO_GPU, f"nvidia-smi could not be started: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise BuildError(NO_GPU, f"nvidia-smi does not answer within {PATIENCE} seconds") from error
    said = done.stdout.strip()
    values = [value.strip() for value in said.partition("\n")[0].split(",")]
    if done.returncode or len(values) != len(fields):
        raise BuildError(
            NO_GPU, f"nvidia-smi shows no GPU (exit code {done.returncode}): {said or 'it says nothing'}"
        )
    return values
