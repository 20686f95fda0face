"""A SageMaker job of the embedded AWS runs the build script, and the script's other half follows it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import boto3
import pytest

from embedded_keys import SESSION
from embedded_s3 import BUCKET
from engine_builds import JOB, EngineStore, engine_store
from engine_job.job import run_job
from engine_request.bucket import Bucket
from engine_request.problems import BuildError, Cancelled
from engine_request.request import Request
from fleet.engines.request import EngineRequest, JobKind

INSTANCES: dict[JobKind, str] = {"processing": "ml.g5.xlarge", "training": "ml.g5.2xlarge"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStore]:
    with engine_store(tmp_path_factory.mktemp("store")) as store:
        yield store


def request_of(store: EngineStore, kind: JobKind, instance_type: str = "", **changes: Any) -> EngineRequest:
    job = replace(JOB, kind=kind, instance_type=instance_type or INSTANCES[kind])
    request = replace(store.request(job=job), **changes)
    store.address(request)
    return request


def run(store: EngineStore, request: EngineRequest, pause: Callable[[float], object] | None = None) -> None:
    make: Any = boto3.client
    session = {**SESSION, "region_name": "us-east-1"}
    run_job(
        Request.of(request.json().encode()),
        Bucket(store.s3, BUCKET),
        lambda name: make(name, endpoint_url=store.url, **session),
        sleep=pause or (lambda _: threading.Event().wait(0.05)),
    )


@pytest.mark.parametrize("kind", list(INSTANCES))
def test_a_job_builds_an_engine_and_its_log_is_copied(
    store: EngineStore, kind: JobKind, capsys: pytest.CaptureFixture[str]
) -> None:
    request = request_of(store, kind)
    run(store, request)
    told, said = store.json(request.manifest), capsys.readouterr().out
    assert told["by"].startswith(f"engine-{request.key.partition(':')[2][:40]}-")
    assert f"is built by {told['by']}" in said
    assert "NVIDIA A10G (stand-in), compute capability 8.6" in said
    assert store.has(request.plan)


def test_a_job_on_another_gpu_fails_with_the_scripts_own_words(store: EngineStore) -> None:
    request = request_of(store, "processing", "ml.g4dn.xlarge")
    with pytest.raises(BuildError, match="this is an NVIDIA T4") as error:
        run(store, request)
    assert error.value.problem.exit_code == 11
    assert store.json(request.failure)["by"].startswith("engine-")


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [("pass", 20, "completed: .* but there is no"), ("raise SystemExit(16)", 16, "exit code: 16")],
)
def test_a_script_that_leaves_nothing_is_judged_by_how_its_job_ended(
    store: EngineStore, code: str, exit_code: int, message: str
) -> None:
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("__main__.py", code)
    store.put("engines/scripts/0a.zip", file.getvalue())
    with pytest.raises(BuildError, match=message) as error:
        run(store, request_of(store, "training", script="engines/scripts/0a.zip"))
    assert error.value.problem.exit_code == exit_code


def test_a_job_that_is_cancelled_is_stopped_in_sagemaker(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("__main__.py", "import signal\nsignal.pause()\n")
    store.put("engines/scripts/0b.zip", file.getvalue())
    pauses = iter([True])

    def cancel_once(_: float) -> None:
        if next(pauses, False):
            raise Cancelled
        threading.Event().wait(0.05)

    with pytest.raises(Cancelled):
        run(store, request_of(store, "processing", script="engines/scripts/0b.zip"), cancel_once)
    assert ": Stopped" in capsys.readouterr().out
