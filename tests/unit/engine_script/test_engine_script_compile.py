"""One engine is compiled: the script runs for real, against S3, with stand-ins for trtexec and nvidia-smi."""

from __future__ import annotations

import hashlib

import pytest

from embedded_s3 import BUCKET
from engine_builds import ARGUMENTS, ONNX, TENSORRT, EngineStore
from faulty_s3 import faulty_s3
from fleet.artifacts.engine_script import build_script
from fleet.repository.plan_header import HEADER, plan_version


def test_the_plan_is_uploaded_before_the_manifest_that_says_how_it_came_to_be(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEBUILD_BUILD_ID", "engines-gpu:1")
    request = store.request()
    assert store.compile(request) == 0
    plan, told = store.body(request.plan), store.json(request.manifest)
    assert plan_version(plan) == TENSORRT
    assert plan[HEADER:] == ONNX
    assert told["plan"] == {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)}
    assert told["onnx"] == {"digest": request.onnx_digest, "size": len(ONNX)}
    assert (told["key"], told["arguments"], told["image"]) == (request.key, list(ARGUMENTS), request.image)
    assert (told["tensorrt"], told["gpu"]["compute_capability"]) == (TENSORRT, "8.6")
    assert told["gpu"]["name"] == "NVIDIA A10G (stand-in)"
    assert (told["script"], told["by"]) == (build_script()[1], "engines-gpu:1")
    assert isinstance(told["build_seconds"], float), "a plan that was there already has none"
    assert told["measured"] == {}, "the stand-in measures nothing, and nothing is made up"
    assert not store.has(request.failure)


def test_trtexec_is_called_to_build_and_then_to_run_the_plan_with_its_usual_shapes(
    store: EngineStore,
) -> None:
    request = store.request()
    assert store.compile(request) == 0
    built, loaded = (call for call in store.calls if call[0] == "trtexec")
    names = [argument.partition("=")[0] for argument in built[1:4]]
    assert names == ["--onnx", "--saveEngine", "--timingCacheFile"]
    assert built[4:] == list(ARGUMENTS)
    assert loaded[1].partition("=")[2] == built[2].partition("=")[2], "the plan that was just built"
    assert "--shapes=left:4x2,right:4x2" in loaded
    assert "--skipInference" not in loaded


def test_an_engine_that_is_there_is_left_alone(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    request = store.request()
    store.put(request.manifest, b"{}")
    assert store.compile(request) == 0
    assert store.calls == []
    assert "there already" in capsys.readouterr().out


def test_the_timing_cache_goes_from_one_build_to_the_next(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    first = store.body(request.timing_cache)
    assert store.compile(store.request(timing_cache=request.timing_cache)) == 0
    assert store.body(request.timing_cache) == first + first


def test_a_timing_cache_that_s3_does_not_take_costs_no_engine(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = store.request()
    with faulty_s3(store.url) as proxy:
        proxy.deny(lambda asked: asked.method == "PUT" and asked.path.endswith(request.timing_cache))
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        assert store.compile(request) == 0
    assert store.has(request.manifest) and not store.has(request.timing_cache)
    assert "the next build will take its full time: An error" in capsys.readouterr().err


def test_a_plan_without_a_manifest_is_looked_at_and_taken_over(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    plan = store.body(request.plan)
    store.s3.delete_object(Bucket=BUCKET, Key=request.manifest)
    assert store.compile(request) == 0
    assert store.body(request.plan) == plan
    told = store.json(request.manifest)
    assert told["plan"]["digest"] == f"sha256:{hashlib.sha256(plan).hexdigest()}"
    assert told["build_seconds"] is None
    assert len([call for call in store.calls if call[0] == "trtexec"]) == 3, "built once, loaded twice"


def test_a_plan_of_another_tensorrt_without_a_manifest_is_not_taken_over(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = store.request()
    assert store.compile(request) == 0
    store.s3.delete_object(Bucket=BUCKET, Key=request.manifest)
    monkeypatch.setenv("TRT_VERSION", "10.13.3.9")
    assert store.compile(request) == 19
    assert not store.has(request.manifest)
    told = store.json(request.failure)
    assert "expecting library version 10.13.3.9 got 10.9.0.34" in told["message"]
    assert told["remedy"] == f"delete s3://{BUCKET}/{request.plan}, and publish again"


def test_a_plan_that_somebody_put_there_by_hand_is_refused(store: EngineStore) -> None:
    request = store.request()
    store.put(request.plan, b"anything")
    assert store.compile(request) == 20
    assert not store.has(request.manifest)
