"""The outcome of a finished job."""

from __future__ import annotations

import re

from engine_request.problems import BY_EXIT_CODE, CANCELLATION, OTHER_FAILURE, REFUSAL, TIME_OUT, BuildError

from .sagemaker import State

NO_CAPACITY = "try again later, or build in another region or on another size of the family"


def require_success(state: State, name: str) -> None:
    """Refuse a job that did not complete.

    Raises:
        BuildError: it did not; the reason is in the container's exit code and last message.
    """
    if state.status == "Completed":
        return
    reason = f"{name} {state.status.lower()}: {state.reason or state.detail or 'SageMaker gives no reason'}"
    if state.status == "Stopped":
        is_late = "MaxRuntime" in f"{state.detail} {state.reason}"
        raise BuildError(TIME_OUT if is_late else CANCELLATION, reason)
    if re.search(r"Capacity", state.reason):
        raise BuildError(REFUSAL, reason, remedy=NO_CAPACITY)
    # SageMaker writes `AlgorithmError: ..., exit code: 11`.
    code = re.search(r"exit code:? (\d+)", state.reason, re.IGNORECASE)
    raise BuildError(BY_EXIT_CODE.get(int(code[1]), OTHER_FAILURE) if code else REFUSAL, reason)
