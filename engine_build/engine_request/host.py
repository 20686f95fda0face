"""The host that runs the script: CodeBuild, a SageMaker job, or a person's machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

INPUT = {"processing": "/opt/ml/processing/input/engine", "training": "/opt/ml/input/data/engine"}
"""By the kind of a job: the folder with its inputs."""
OUTPUT = {"processing": "/opt/ml/processing/output/engine", "training": "/opt/ml/model"}
"""By the kind of a job: the folder that SageMaker uploads at its end."""


def builder(environ: Mapping[str, str] = os.environ) -> str:
    """The id of the CodeBuild build, or ""."""
    return environ.get("CODEBUILD_BUILD_ID", "")


def job_folder(script: str | None = None) -> Path | None:
    """A job's `/opt/ml`, which has the script; None outside of a job."""
    file = Path(sys.argv[0] if script is None else script).resolve()
    for path in INPUT.values():
        inside = Path(path).relative_to("/opt/ml").parts
        if file.parent.parts[-len(inside) :] == inside:
            return Path(*file.parent.parts[: -len(inside)])
    return None


def timestamp() -> str:
    """The time in UTC, as documents in the bucket have it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
