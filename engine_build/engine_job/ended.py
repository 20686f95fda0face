"""What a job that is over means for the engine."""

from __future__ import annotations

import json
import re

from engine_request.bucket import Bucket
from engine_request.problems import BY_EXIT_CODE, CANCELLED, FAILED, REFUSED, TIME_OUT, BuildError
from engine_request.request import Request

from .sagemaker import State

NO_CAPACITY = "try again later, or build in another region or on another size of the family"


def require_engine(state: State, name: str, request: Request, bucket: Bucket) -> None:
    """Nothing, if there is an engine.

    Raises:
        BuildError: there is none; the job's own failure.json tells best why.
        ClientError, BotoCoreError: S3 refused to tell.
    """
    if bucket.head(request.manifest) is not None:
        return
    is_late = state.status == "Stopped" and "MaxRuntime" in f"{state.detail} {state.said}"
    inner = _inner_error(name, request, bucket)
    # A script that SageMaker ends knows that it was ended, and not why.
    if inner is not None and not (is_late and inner.problem is CANCELLED):
        raise inner
    said = f"{name} {state.status.lower()}: {state.said or state.detail or 'SageMaker gives no reason'}"
    if state.status == "Stopped":
        raise BuildError(TIME_OUT if is_late else CANCELLED, said)
    if state.status == "Completed":
        raise BuildError(REFUSED, f"{said}; but there is no {bucket.url(request.manifest)}")
    if re.search(r"Capacity", state.said):
        raise BuildError(REFUSED, said, remedy=NO_CAPACITY)
    # SageMaker writes `AlgorithmError: ..., exit code: 11`.
    code = re.search(r"exit code:? (\d+)", state.said, re.IGNORECASE)
    raise BuildError(BY_EXIT_CODE.get(int(code[1]), FAILED) if code else REFUSED, said)


def _inner_error(name: str, request: Request, bucket: Bucket) -> BuildError | None:
    text = bucket.read(request.failure)
    if text is None:
        return None
    told = json.loads(text)
    if told["by"] != name:
        return None
    return BuildError(
        BY_EXIT_CODE[told["exit_code"]], told["message"], remedy=told["remedy"], log=told["log"]
    )
