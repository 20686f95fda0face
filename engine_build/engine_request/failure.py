"""Saying why there is no engine: on the screen, in the bucket, and where a job's status takes it from."""

from __future__ import annotations

import json
import sys
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from .bucket import Bucket
from .host import builder, job_folder, now
from .problems import BuildError
from .request import Named

MOST = 1000
"""Characters that a job's ExitMessage and FailureReason hold at least (botocore, 1,024)."""


def failure_document(error: BuildError) -> dict[str, Any]:
    """What failure.json holds; `by` tells one attempt from another, as builder() names it."""
    return {
        "exit_code": error.problem.exit_code,
        "problem": error.problem.name,
        "message": error.message,
        "remedy": error.remedy,
        "log": list(error.log),
        "by": builder(),
        "at": now(),
    }


def tell(error: BuildError) -> None:
    """Say it to whoever reads the log, and to the job's status."""
    print(f"error: {error.problem.name}: {error.message}\n{error.remedy}", file=sys.stderr)
    folder = job_folder()
    if folder is None:
        return
    try:
        (folder / "output").mkdir(exist_ok=True)
        for name in ("message", "failure"):
            (folder / "output" / name).write_text(f"{error.problem.name}: {error.message}"[:MOST], "utf-8")
    except OSError as refusal:
        print(f"the job's status could not be written: {refusal}", file=sys.stderr)


def keep(error: BuildError, bucket: Bucket, request: Named) -> None:
    """Leave failure.json for the publisher; that S3 refuses it is said, and changes nothing."""
    try:
        bucket.write(request.failure, json.dumps(failure_document(error), indent=2).encode())
    except (ClientError, BotoCoreError) as refusal:
        print(f"{bucket.url(request.failure)} could not be written: {refusal}", file=sys.stderr)
