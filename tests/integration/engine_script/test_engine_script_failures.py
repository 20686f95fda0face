"""A build that gives no engine says why, by its exit code and its words."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from onnx import helper

from compile_engine.trtexec import TRTEXEC_PATH
from engine_job.job import run_job
from engine_request.files import RECORD
from engine_request.request import EngineRequest as ScriptRequest
from engine_request.run import run_request
from fleet_emulator.stand_ins import ENGINE_TOOLS
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import ARGUMENTS, ONNX, EngineStore
from tests.support.onnx_graphs import FLOAT, graph_bytes
from triton_fleet.builds.engines.artifacts import JOBS


def require_message(store: EngineStore, exit_code: int, *message: str) -> None:
    (failure,) = store.failures
    assert failure.problem.exit_code == exit_code
    assert failure.remedy
    for words in message:
        assert words in failure.message


@pytest.mark.parametrize(
    ("exit_code", "variables", "message"),
    [
        (10, {"FLEET_STAND_IN_GPU": ""}, "nvidia-smi shows no GPU (exit code 6): No devices were found"),
        (11, {"FLEET_STAND_IN_GPU": "L4"}, "for an A10G of compute capability 8.6; this is an NVIDIA L4"),
        (11, {"FLEET_STAND_IN_COMPUTE_CAPABILITY": "8.9"}, "has compute capability 8.9"),
        (12, {"FLEET_STAND_IN_DRIVER": "470.256.02"}, "driver 525 or newer; this host has 470.256.02"),
        (15, {"FLEET_STAND_IN_FAULT": "unsupported operator"}, "TensorRT has no TRTBatchedNMS: "),
        (16, {"FLEET_STAND_IN_FAULT": "out of memory"}, "OutOfMemory (no further information)"),
        (16, {"FLEET_STAND_IN_FAULT": "killed"}, "killed by the system"),
        (18, {"FLEET_STAND_IN_FAULT": "nobody knows"}, "trtexec ended with exit code 1: fails on request"),
        (19, {"FLEET_STAND_IN_FAULT": "the plan does not load back"}, "trtexec ended with exit code 1"),
    ],
)
def test_it_is_said_what_is_wrong(
    store: EngineStore,
    monkeypatch: pytest.MonkeyPatch,
    exit_code: int,
    variables: Mapping[str, str],
    message: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    request = store.request()
    assert store.compile(request) == exit_code
    require_message(store, exit_code, message)
    assert not (store.outputs / RECORD).exists()


def test_a_machine_without_nvidia_smi_has_no_gpu(store: EngineStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    request = store.request()
    assert store.compile(request) == 10
    require_message(store, 10, "nvidia-smi could not be started")


def test_an_image_without_trtexec_is_unfit(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nvidia-smi").symlink_to(ENGINE_TOOLS / "nvidia-smi")
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin")
    request = store.request()
    assert store.compile(request) == 13
    require_message(store, 13, TRTEXEC_PATH)


def test_another_model_than_the_lock_means_is_not_compiled(store: EngineStore) -> None:
    request = store.request()
    store.put(request.onnx, ONNX + b"\0")
    assert store.compile(request) == 14
    require_message(store, 14, request.onnx_digest)
    assert [call[0] for call in store.calls if call[0] == "trtexec"] == []


def test_an_operator_that_is_not_of_onnx_is_named(store: EngineStore) -> None:
    node = helper.make_node("Fast", ["x"], ["y"], domain="mine")
    model = graph_bytes({"x": (FLOAT, [1])}, {"y": (FLOAT, [1])}, nodes=[node])
    request = store.request(onnx=model, arguments=("--fp16",))
    assert store.compile(request) == 15
    require_message(store, 15, "TensorRT has no Fast: trtexec ended with exit code 1")
    assert any("While parsing node number 0" in line for line in store.failures[0].log)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--workspace=4096", "Unknown option: --workspace 4096"),
        ("--minShapes=wrong:1x2", 'Cannot find input tensor with name "wrong"'),
    ],
)
def test_what_trtexec_does_not_take_is_in_its_own_words(
    store: EngineStore, argument: str, message: str
) -> None:
    request = store.request(arguments=(*ARGUMENTS[3:], argument))
    assert store.compile(request) == 18
    require_message(store, 18, message)


def test_trtexec_is_killed_when_the_time_is_over(store: EngineStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_STAND_IN_FAULT", "hang")
    request = store.request(seconds=1)
    assert store.compile(request) == 17
    require_message(store, 17, "may take 1 seconds")
    assert not (store.outputs / RECORD).exists()


def test_a_request_that_is_not_there_is_refused(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_request(f"s3://{BUCKET}/nothing.json", ScriptRequest.of, run_job) == 20
    assert f"s3://{BUCKET}/nothing.json does not exist" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_refused(store: EngineStore) -> None:
    request = store.request()
    store.s3.delete_object(Bucket=BUCKET, Key=request.onnx)
    assert run_request(store.address(request), ScriptRequest.of, run_job) == 20
    assert "CopyObject" in store.json(request.failure)["message"]
    assert not store.has(JOBS)
