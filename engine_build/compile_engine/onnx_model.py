"""Compares the ONNX model with the one of the lock."""

from __future__ import annotations

from pathlib import Path

from engine_request.file_digest import file_digest
from engine_request.problems import DIGEST_MISMATCH, BuildError
from engine_request.request import EngineRequest


def require_onnx(request: EngineRequest, file: Path) -> None:
    """Compare the model with the request.

    Raises:
        BuildError: it is another one.
    """
    digest, size = file_digest(file), file.stat().st_size
    if (digest, size) != (request.onnx_digest, request.onnx_size):
        raise BuildError(
            DIGEST_MISMATCH,
            f"the ONNX model is {digest} of {size} bytes; "
            f"the lock has {request.onnx_digest} of {request.onnx_size}",
        )
