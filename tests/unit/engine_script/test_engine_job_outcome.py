"""A job that is over without an engine: its exit code and its last words say why."""

from __future__ import annotations

import pytest

from engine_job.sagemaker import State, require_success
from engine_request.problems import BuildError


@pytest.mark.parametrize(
    ("state", "exit_code", "message"),
    [
        (State("Failed", "", "AlgorithmError: See job logs, exit code: 11"), 11, "exit code: 11"),
        (
            State("Failed", "", "AlgorithmError: See job logs, exit code: 15 unsupported operator: no Fast"),
            15,
            "unsupported operator: no Fast",
        ),
        (State("Failed", "", "AlgorithmError: , exit code: 137"), 18, "exit code: 137"),
        (State("Failed", "", "CapacityError: Unable to provision"), 20, "CapacityError"),
        (State("Failed", "", "InternalServerError: We encountered"), 20, "InternalServerError"),
        (State("Stopped", "MaxRuntimeExceeded", ""), 17, "engine-1 stopped: MaxRuntimeExceeded"),
        (State("Stopped", "Stopped", ""), 21, "engine-1 stopped: Stopped"),
    ],
)
def test_sagemaker_tells_what_it_knows(state: State, exit_code: int, message: str) -> None:
    with pytest.raises(BuildError) as error:
        require_success(state, "engine-1")
    assert error.value.problem.exit_code == exit_code
    assert message in error.value.message
    assert error.value.remedy


def test_a_job_that_completed_is_no_failure() -> None:
    require_success(State("Completed", "", ""), "engine-1")
