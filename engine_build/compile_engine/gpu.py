"""Compares the host's GPU with the requested one."""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO

from engine_request.problems import NO_GPU, OLD_DRIVER, WRONG_GPU, BuildError
from engine_request.request import EngineRequest

ANSWER_SECONDS = 120
"""For an answer of nvidia-smi: a driver that hangs never gives one, a cold one takes some tens of seconds."""
KILL_SECONDS = 5
"""For nvidia-smi to end: a process that waits for the driver within the kernel survives even SIGKILL."""


@dataclass(frozen=True)
class Gpu:
    """The first GPU as nvidia-smi shows it, which trtexec takes.

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


def require_gpu(request: EngineRequest) -> Gpu:
    """The GPU, if it is the one of the request.

    Raises:
        BuildError: there is none, it is another one, or its driver is too old.
    """
    name, driver, memory = _query("name", "driver_version", "memory.total")
    target = f"{request.gpu} of compute capability {request.compute_capability}"
    if not re.search(rf"(?<![A-Za-z0-9]){re.escape(request.gpu)}(?![A-Za-z0-9])", name, re.IGNORECASE):
        raise BuildError(WRONG_GPU, f"the engine is for an {target}; this is an {name}")
    major = re.match(r"\d+", driver)  # trtexec checks a driver without a version
    if major is not None and int(major[0]) < int(request.least_driver):
        raise BuildError(
            OLD_DRIVER,
            f"the image {request.image} needs NVIDIA's driver {request.least_driver} or newer; "
            f"this host has {driver}",
        )
    # Only now: a driver that is too old does not know this field.
    (capability,) = _query("compute_cap")
    if capability != request.compute_capability:
        raise BuildError(
            WRONG_GPU, f"the engine is for an {target}; this {name} has compute capability {capability}"
        )
    return Gpu(name, capability, driver, memory)


def _query(*fields: str) -> list[str]:
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"]
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        except OSError as error:
            raise BuildError(NO_GPU, f"nvidia-smi could not be started: {error}") from error
        try:
            code = process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_SECONDS)
            raise BuildError(NO_GPU, f"nvidia-smi does not answer within {ANSWER_SECONDS} seconds") from error
        output, errors = (_text(file) for file in (stdout, stderr))
    values = [value.strip() for value in output.partition("\n")[0].split(",")]
    if code or len(values) != len(fields):
        text = "\n".join(filter(None, (output, errors))) or "it writes nothing"
        raise BuildError(NO_GPU, f"nvidia-smi shows no GPU (exit code {code}): {text}")
    return values


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip()
