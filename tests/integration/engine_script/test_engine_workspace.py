"""A job has its inputs and its outputs below one prefix, which is read with limits and cleared in the end."""

from __future__ import annotations

import pytest

from engine_job import workspace
from engine_request.problems import BuildError
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import EngineStore
from tests.support.engine_jobs import ScriptedSageMaker


@pytest.fixture(autouse=True)
def build_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEBUILD_BUILD_ID", "triton-fleet-dev-engines-job:1")


def test_a_jobs_inputs_are_the_request_the_model_and_the_script_and_nothing_of_it_stays(
    store: EngineStore,
) -> None:
    sagemaker = ScriptedSageMaker(store)
    inputs = dict[str, bytes]()

    def look() -> None:
        contents = store.s3.list_objects_v2(Bucket=BUCKET, Prefix=sagemaker.workspace)["Contents"]
        inputs.update(
            {
                content["Key"].removeprefix(sagemaker.workspace): store.body(content["Key"])
                for content in contents
            }
        )
        sagemaker.leaves()

    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.is_in("Completed")
    sagemaker.run(pause=look)
    request = sagemaker.request
    assert inputs == {
        "input/request.json": request.json().encode(),
        "input/model.onnx": store.body(request.onnx),
        "input/script.zip": store.body(request.script),
    }
    assert store.body(request.plan) == b"a plan"
    assert not store.has(sagemaker.workspace)


@pytest.mark.parametrize("missing_text", ["model.plan", "record.json"])
def test_a_job_that_completed_without_an_engine_is_told_and_cleared(
    store: EngineStore, missing_text: str
) -> None:
    sagemaker = ScriptedSageMaker(store)

    def leave_less() -> None:
        sagemaker.leaves()
        store.s3.delete_object(Bucket=BUCKET, Key=f"{sagemaker.workspace}output/{missing_text}")

    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.is_in("Completed")
    with pytest.raises(BuildError, match=f"the job left no {missing_text}") as error:
        sagemaker.run(pause=leave_less)
    assert error.value.problem.exit_code == 20
    assert not store.has(sagemaker.workspace)


@pytest.mark.parametrize(
    ("limit", "name"), [("MAX_PLAN_BYTES", "model.plan"), ("MAX_RECORD_BYTES", "record.json")]
)
def test_what_a_job_left_is_not_read_beyond_a_limit(
    store: EngineStore, limit: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, limit, 5)
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.is_in("Completed")
    with pytest.raises(BuildError, match=f"{name} of the job has [0-9]+ bytes; the limit is 5"):
        sagemaker.run(pause=sagemaker.leaves)
    assert not store.has(sagemaker.request.plan)
