"""A SageMaker job of the embedded AWS runs the build script, and the script's other half follows it."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from zipfile import ZipFile

import boto3
import pytest

from engine_job.job import run_job
from engine_request.bucket import Bucket
from engine_request.problems import BuildError, Cancellation
from engine_request.request import EngineRequest as ScriptRequest
from tests.support.embedded_keys import SESSION
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import JOB, EngineStore, engine_store
from triton_fleet.builds.engines.artifacts import JOBS
from triton_fleet.builds.engines.request import EngineRequest, JobKind

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
        ScriptRequest.of(request.json().encode()),
        Bucket(store.s3, BUCKET),
        lambda name: make(name, endpoint_url=store.url, **session),
        sleep=pause or (lambda _: threading.Event().wait(0.05)),
    )


@pytest.mark.parametrize("kind", ["processing", pytest.param("training", marks=pytest.mark.nightly)])
def test_a_job_builds_an_engine_and_its_log_is_copied(
    store: EngineStore, kind: JobKind, capsys: pytest.CaptureFixture[str]
) -> None:
    request = request_of(store, kind)
    run(store, request)
    values, output = store.json(request.manifest), capsys.readouterr().out
    assert values["by"].startswith(f"engine-{request.key.partition(':')[2][:40]}-")
    assert f"is built by {values['by']}" in output
    assert "NVIDIA A10G (stand-in), compute capability 8.6" in output
    assert store.has(request.plan)
    assert not store.has(JOBS), "nothing of the job stays"


def test_a_job_on_another_gpu_fails_with_the_scripts_own_words(store: EngineStore) -> None:
    request = request_of(store, "processing", "ml.g4dn.xlarge")
    with pytest.raises(BuildError, match="this is an NVIDIA T4") as error:
        run(store, request)
    assert error.value.problem.exit_code == 11
    assert not store.has(JOBS)


def script(store: EngineStore, code: str) -> str:
    """The key of another program in the script's place: what an image runs as `python3` is its own business."""
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("__main__.py", code)
    key = f"engines/scripts/{hashlib.sha256(code.encode()).hexdigest()}.zip"
    store.put(key, content.getvalue())
    return key


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [("pass", 20, "the job left no record.json"), ("raise SystemExit(16)", 16, "exit code: 16")],
)
def test_a_script_that_leaves_nothing_is_judged_by_how_its_job_ended(
    store: EngineStore, code: str, exit_code: int, message: str
) -> None:
    with pytest.raises(BuildError, match=message) as error:
        run(store, request_of(store, "training", script=script(store, code)))
    assert error.value.problem.exit_code == exit_code


HOSTILE = """
import json, os, pathlib, sys, urllib.error, urllib.request

def attempt(url, method="GET", data=None):
    try:
        request = urllib.request.Request(url, data=data, method=method)
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return type(error).__name__

def signed():
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError
    s3 = boto3.client("s3", endpoint_url=AWS, region_name="us-east-1")
    try:
        return s3.list_objects_v2(Bucket=BUCKET)["KeyCount"]
    except (BotoCoreError, ClientError) as error:
        return type(error).__name__

inputs, outputs = map(pathlib.Path, sys.argv[2:4])
theirs = f"{AWS}/{BUCKET}/{OTHER}"
names = ("AWS", "ECS", "FLEET_ENGINE", "CODEBUILD")
print("FOUND " + json.dumps({
    "variables": sorted(name for name in os.environ if name.startswith(names)),
    "address in variables": [name for name, value in os.environ.items() if AWS in value],
    "inputs": sorted(str(each.relative_to(inputs)) for each in inputs.rglob("*")),
    "home": sorted(each.name for each in pathlib.Path.home().iterdir()),
    "credentials": signed(),
    "read": attempt(theirs),
    "list": attempt(f"{AWS}/{BUCKET}"),
    "write": attempt(theirs, "PUT", b"evil"),
    "delete": attempt(theirs, "DELETE"),
}))
request = json.loads((inputs / "request.json").read_bytes())
outputs.joinpath("deeper").mkdir()
outputs.joinpath("deeper", "..manifest.json").write_text("{}")
outputs.joinpath("manifest.json").write_text("{}")
outputs.joinpath("stolen").symlink_to("/etc/passwd")
outputs.joinpath("model.plan").write_bytes(b"a hostile plan")
outputs.joinpath("record.json").write_text(json.dumps({**RECORD, "key": KEY or request["key"]}))
"""


def hostile(store: EngineStore, kind: JobKind, key: str = "") -> tuple[EngineRequest, EngineRequest]:
    """A build in a hostile image, and the one of somebody else that it is after."""
    other_request, plan = store.request(), b"a hostile plan"
    store.put(other_request.plan, b"their plan")
    record = {
        "plan": {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)},
        "tensorrt": "1",
        "gpu": dict.fromkeys(("name", "compute_capability", "driver", "memory"), "any"),
        "build_seconds": 1,
        "figures": {},
        "started": "now",
    }
    inputs = {"AWS": store.url, "BUCKET": BUCKET, "OTHER": other_request.plan, "RECORD": record, "KEY": key}
    code = "".join(f"{name} = {value!r}\n" for name, value in inputs.items()) + HOSTILE
    return request_of(store, kind, script=script(store, code)), other_request


@pytest.mark.parametrize("kind", ["training", pytest.param("processing", marks=pytest.mark.nightly)])
def test_a_hostile_image_gets_its_own_inputs_and_leaves_its_own_plan_and_nothing_else(
    store: EngineStore, kind: JobKind, capsys: pytest.CaptureFixture[str]
) -> None:
    request, other_request = hostile(store, kind)
    before = set(store.keys())
    run(store, request)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FOUND ")]
    document = json.loads(line.removeprefix("FOUND "))
    assert document == {
        "variables": [],
        "address in variables": [],
        "inputs": ["model.onnx", "request.json", "script.zip"],
        "home": ["opt"],
        "credentials": "NoCredentialsError",
        **dict.fromkeys(("read", "list", "write", "delete"), 403),
    }
    assert set(store.keys()) - before == {request.plan, request.manifest}
    assert store.body(request.plan) == b"a hostile plan", "an engine of its own key, which is its team's"
    assert store.json(request.manifest)["key"] == request.key
    assert store.body(other_request.plan) == b"their plan"


def test_a_hostile_image_cannot_leave_the_engine_of_another_key(store: EngineStore) -> None:
    other_request = store.request()
    request, _ = hostile(store, "processing", other_request.key)
    before = set(store.keys())
    with pytest.raises(BuildError, match="it has the key of another engine"):
        run(store, request)
    assert set(store.keys()) == before


def test_a_job_that_is_cancelled_is_stopped_in_sagemaker(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting_script = script(store, "import signal\nsignal.pause()\n")
    pauses = iter([True])

    def cancel_first(_: float) -> None:
        if next(pauses, False):
            raise Cancellation
        threading.Event().wait(0.05)

    with pytest.raises(Cancellation):
        run(store, request_of(store, "processing", script=waiting_script), cancel_first)
    assert ": Stopped" in capsys.readouterr().out
    assert not store.has(JOBS)
