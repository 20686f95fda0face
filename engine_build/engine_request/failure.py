"""Saying why there is no engine: on the screen, and where a job's status takes it from."""

from __future__ import annotations

import sys

from .host import job_folder
from .problems import BuildError

MOST = 1000
"""Characters that a job's ExitMessage and FailureReason hold at least (botocore, 1,024)."""


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
