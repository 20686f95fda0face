"""Where and when the script runs: in CodeBuild, in a SageMaker job, or at somebody's hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

CODE = {"processing": "/opt/ml/processing/input/code", "training": "/opt/ml/input/data/code"}
"""By the kind of a job, where it is given the script."""
JOB = "FLEET_ENGINE_JOB"
"""The environment variable that tells a job its name."""


def builder(environ: Mapping[str, str] = os.environ) -> str:
    """Who builds: the name of the job, the id of the CodeBuild build, or ""."""
    return environ.get(JOB) or environ.get("CODEBUILD_BUILD_ID", "")


def job_folder(script: str | None = None) -> Path | None:
    """A job's `/opt/ml`, in which the script lies; None outside of a job."""
    file = Path(sys.argv[0] if script is None else script).resolve()
    for path in CODE.values():
        inside = Path(path).relative_to("/opt/ml").parts
        if file.parent.parts[-len(inside) :] == inside:
            return Path(*file.parent.parts[: -len(inside)])
    return None


def now() -> str:
    """The time in UTC, as documents in the bucket have it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
