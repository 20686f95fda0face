"""The outcome of a finished job."""

from __future__ import annotations

import re

from engine_request.problems import BY_EXIT_CODE, CANCELLED, FAILED, REFUSED, TIME_OUT, BuildError

from .sagemaker import State

NO_CAPACITY = "try again later, or build in another region or on another size of the family"


def require_success(state: State, name: str) -> None:
    """Refuse a job that did not complete.

    Raises:
        BuildError: it has not; the container's exit code and last words say why.
    """
    if state.status == "Completed":
        return
    said = f"{name} {state.status.lower()}: {state.said or state.detail or 'SageMaker gives no reason'}"
    if state.status == "Stopped":
        is_late = "MaxRuntime" in f"{state.detail} {state.said}"
        raise BuildError(TIME_OUT if is_late else CANCELLED, said)
    if re.search(r"Capacity", state.said):
        raise BuildError(REFUSED, said, remedy=NO_CAPACITY)
    # SageMaker writes `AlgorithmError: ..., exit code: 11`.
    code = re.search(r"exit code:? (\d+)", state.said, re.IGNORECASE)
    raise BuildError(BY_EXIT_CODE.get(int(code[1]), FAILED) if code else REFUSED, said)
