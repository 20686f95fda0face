"""A job that is over without an engine: who knows best why, says so."""

from __future__ import annotations

import json

import pytest

from embedded_s3 import BUCKET
from engine_builds import JOB, EngineStore
from engine_job.ended import require_engine
from engine_job.sagemaker import State
from engine_request.bucket import Bucket
from engine_request.problems import BuildError
from engine_request.request import Request


@pytest.mark.parametrize(
    ("state", "exit_code", "message"),
    [
        (
            State("Completed", "", ""),
            20,
            "engine-1 completed: SageMaker gives no reason; but there is no s3://",
        ),
        (State("Failed", "", "AlgorithmError: See job logs, exit code: 11"), 11, "exit code: 11"),
        (State("Failed", "", "AlgorithmError: , exit code: 137"), 18, "exit code: 137"),
        (State("Failed", "", "CapacityError: Unable to provision"), 20, "CapacityError"),
        (State("Failed", "", "InternalServerError: We encountered"), 20, "InternalServerError"),
        (State("Stopped", "MaxRuntimeExceeded", ""), 17, "engine-1 stopped: MaxRuntimeExceeded"),
        (State("Stopped", "Stopped", ""), 21, "engine-1 stopped: Stopped"),
    ],
)
def test_sagemaker_tells_what_it_knows(
    store: EngineStore, state: State, exit_code: int, message: str
) -> None:
    request = Request.of(store.request(job=JOB).json().encode())
    with pytest.raises(BuildError) as error:
        require_engine(state, "engine-1", request, Bucket(store.s3, BUCKET))
    assert error.value.problem.exit_code == exit_code
    assert message in error.value.message
    assert error.value.remedy


@pytest.mark.parametrize(("by", "exit_code"), [("engine-1", 15), ("engine-0", 18)])
def test_the_script_in_the_job_knows_better_but_not_that_of_an_earlier_one(
    store: EngineStore, by: str, exit_code: int
) -> None:
    request = Request.of(store.request(job=JOB).json().encode())
    told = {
        "exit_code": 15,
        "message": "TensorRT has no Fast",
        "remedy": "Export it.",
        "log": ["[E]"],
        "by": by,
    }
    store.put(request.failure, json.dumps(told).encode())
    with pytest.raises(BuildError) as error:
        require_engine(State("Failed", "", "exit code: 1"), "engine-1", request, Bucket(store.s3, BUCKET))
    assert error.value.problem.exit_code == exit_code
    assert (error.value.log == ("[E]",)) == (by == "engine-1")


def test_a_script_that_sagemaker_ended_as_its_time_was_over_did_not_know_why(store: EngineStore) -> None:
    request = Request.of(store.request(job=JOB).json().encode())
    told = {"exit_code": 21, "message": "a signal stopped it", "remedy": "", "log": [], "by": "engine-1"}
    store.put(request.failure, json.dumps(told).encode())
    for detail, exit_code in (("MaxRuntimeExceeded", 17), ("Stopped", 21)):
        with pytest.raises(BuildError) as error:
            require_engine(State("Stopped", detail, ""), "engine-1", request, Bucket(store.s3, BUCKET))
        assert error.value.problem.exit_code == exit_code


def test_an_engine_that_is_there_counts_whatever_became_of_the_job(store: EngineStore) -> None:
    request = Request.of(store.request(job=JOB).json().encode())
    store.put(request.manifest, b"{}")
    bucket = Bucket(store.s3, BUCKET)
    require_engine(State("Stopped", "", ""), "engine-1", request, bucket)
    assert bucket.read(request.failure) is None
