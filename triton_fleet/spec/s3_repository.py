"""Model repositories in S3, as a spec names them."""

from __future__ import annotations

import re

from triton_fleet.spec.endpoint import Archive
from triton_fleet.spec.engine import Engine

S3 = "s3://"
FORM = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/(?:.*/|.*\.tar\.gz)?")
HINT = "write `s3://BUCKET/KEY.tar.gz`, or `s3://BUCKET/PREFIX/` with a slash at its end"
"""What to write for a repository that is misnamed."""


def in_s3(archive: Archive) -> bool:
    """Whether a repository is in S3, not in a folder."""
    return archive.repository.startswith(S3)


def onnx_in_s3(engine: Engine) -> bool:
    """Whether an engine's ONNX model is in S3, not in a file."""
    return engine.onnx.startswith(S3)


def name_problem(archive: Archive) -> str:
    """What is wrong with the name of a repository in S3; empty where it is an archive or a prefix."""
    if FORM.fullmatch(archive.repository):
        return ""
    return f"{archive.repository!r} is neither an archive nor a prefix in S3"
