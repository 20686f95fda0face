"""The ONNX model, on this machine's disk."""

from __future__ import annotations

from pathlib import Path

from engine_request.bucket import Bucket
from engine_request.file_digest import file_digest
from engine_request.problems import DIGEST_MISMATCH, BuildError
from engine_request.request import Request


def download(bucket: Bucket, request: Request, file: Path) -> None:
    """Write the model to a file.

    Raises:
        BuildError: it is not the one that the request means.
        ClientError, BotoCoreError: S3 does not give it.
    """
    bucket.download(request.onnx, file)
    there, size = file_digest(file), file.stat().st_size
    if (there, size) != (request.onnx_digest, request.onnx_size):
        raise BuildError(
            DIGEST_MISMATCH,
            f"{bucket.url(request.onnx)} is {there} of {size} bytes; "
            f"the lock means {request.onnx_digest} of {request.onnx_size}",
        )
