"""Reports the failure of a build: on the screen, and in the files that a job's status quotes."""

from __future__ import annotations

import sys

from .host import job_folder
from .problems import BuildError

MAX_CHARACTERS = 1000
"""A job's ExitMessage and FailureReason have 1,024 (botocore)."""


def report_failure(error: BuildError) -> None:
    """Report a failure in the log and in the job's status."""
    print(f"error: {error.problem.name}: {error.message}\n{error.remedy}", file=sys.stderr)
    folder = job_folder()
    if folder is None:
        return
    try:
        (folder / "output").mkdir(exist_ok=True)
        for name in ("message", "failure"):
            (folder / "output" / name).write_text(
                f"{error.problem.name}: {error.message}"[:MAX_CHARACTERS], "utf-8"
            )
    except OSError as refusal:
        print(f"the job's status could not be written: {refusal}", file=sys.stderr)
