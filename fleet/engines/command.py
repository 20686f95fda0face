"""The whole command line of trtexec, as a person would write it."""

from __future__ import annotations

from pathlib import PurePosixPath
from shlex import join

from fleet.engines.endpoint_engines import PlannedEngine
from fleet.engines.object_keys import PLAN


def command_line(planned: PlannedEngine) -> str:
    """For a shell in the image, in the folder of the ONNX model; the build adds a timing cache to it."""
    onnx = PurePosixPath(planned.engine.onnx.removeprefix("s3://")).name
    return join(["trtexec", f"--onnx={onnx}", f"--saveEngine={PLAN}", *planned.arguments])
