"""The output of nvidia-smi, trtexec and the image is understood."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from compile_engine.gpu import require_gpu
from compile_engine.reasons import build_error, load_error
from compile_engine.trtexec import TensorRT, load_command, read_figures, require_tensorrt
from engine_request.host import job_folder
from engine_request.problems import BuildError, read_request
from engine_request.process import MAX_LINE_CHARACTERS, Deadline, ProcessResult, run
from engine_request.request import EngineRequest as ScriptRequest
from tests.support.engine_builds import ARGUMENTS, JOB, EngineStore
from tests.support.fleet_folder import ROOT
from triton_fleet.builds.engines.request import EngineRequest
from triton_fleet.builds.images.request import ImageRequest
from triton_fleet.builds.script import build_script

REASONS = json.loads(files("compile_engine").joinpath("reasons.json").read_text(encoding="utf-8"))["reasons"]


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason["source"].rpartition("/")[2])
def test_every_reason_explains_its_example(reason: dict[str, Any]) -> None:
    error = build_error(
        ProcessResult(1, ("&&&& RUNNING TensorRT.trtexec", *reason["example"], "[E] Engine set up failed"))
    )
    assert error.problem.name == reason["problem"]
    assert reason["source"].startswith("https://")


@pytest.mark.parametrize(
    ("lines", "operators"),
    [
        (['[E] [TRT] While parsing node number 3 [Round -> "y"]:', "Plugin not found, are the plugin name, version, and namespace correct?"], "Round"),
        (["[E] [TRT] 3: getPluginCreator could not find plugin: NonZero version: 1"], "NonZero"),
        (["[I] [TRT] No importer registered for op: B. Attempting", "[I] [TRT] No importer registered for op: A. Attempting", "getPluginCreator could not find plugin A version 1"], "A, B"),
    ],
)  # fmt: skip
def test_operators_are_named(lines: Sequence[str], operators: str) -> None:
    assert build_error(ProcessResult(1, lines)).message.startswith(f"TensorRT has no {operators}: ")


def test_memory_that_a_tactic_lacked_is_no_reason_where_an_operator_is() -> None:
    lines = ["Skipping tactic 0 due to insufficient memory", *REASONS[4]["example"]]
    assert build_error(ProcessResult(1, lines)).problem.name == "unsupported operator"


def test_an_unknown_reason_is_told_by_the_first_error() -> None:
    lines = [
        "[08/21/2026-10:00:00] [I] fine",
        "[08/21/2026-10:00:00] [E] [TRT] odd",
        "[E] Engine set up failed",
    ]
    error = build_error(ProcessResult(1, lines))
    assert error.message == "trtexec ended with exit code 1: odd"
    assert load_error(ProcessResult(-11, ())).message == "trtexec ended with signal 11: it writes nothing"


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    result = run(["sh", "-c", r"head -c 100000 /dev/zero | tr '\0' x; echo; printf '\377\n'"], Deadline(60))
    assert "".join(result.lines) == "x" * 100_000 + "\N{REPLACEMENT CHARACTER}"
    assert max(map(len, result.lines)) == MAX_LINE_CHARACTERS


def test_measures_are_those_of_the_summary() -> None:
    lines = [
        "[08/21/2026-10:00:00] [I] === Performance summary ===",
        "[08/21/2026-10:00:00] [I] Throughput: 1034.5 qps",
        "[08/21/2026-10:00:00] [I] Latency: min = 1.1 ms, max = 2.5 ms, mean = 1.2 ms, median = 1.15 ms, percentile(90%) = 1.3 ms, percentile(95%) = 1.4 ms, percentile(99%) = 2 ms",
        "[08/21/2026-10:00:00] [I] H2D Latency: min = 0.1 ms, max = 0.2 ms, mean = 0.1 ms, median = 0.125 ms, percentile(90%) = 0.1 ms, percentile(95%) = 0.1 ms, percentile(99%) = 0.1 ms",
        "[08/21/2026-10:00:00] [I] GPU Compute Time: min = 0.9 ms, max = 2 ms, mean = 1 ms, median = 0.95 ms, percentile(90%) = 1 ms, percentile(95%) = 1 ms, percentile(99%) = 1 ms",
    ]
    assert read_figures(lines) == {
        "queries_per_second": 1034.5,
        "latency_median_ms": 1.15,
        "latency_99_ms": 2.0,
        "gpu_compute_median_ms": 0.95,
    }
    assert read_figures(lines[:1]) == {}


@pytest.mark.parametrize(("gpu", "name"), [("L4", "L40S"), ("A10", "A10G"), ("A100", "A10")])
def test_a_gpu_is_not_taken_for_one_whose_name_begins_alike(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, gpu: str, name: str
) -> None:
    monkeypatch.setenv("FLEET_STAND_IN_GPU", name)
    with pytest.raises(BuildError, match=f"for an {gpu} of .*; this is an NVIDIA {name}"):
        require_gpu(request_of(store.request(gpu=gpu)))


@pytest.mark.parametrize(
    ("gpu", "name", "capability"),
    [("T4", "T4", "7.5"), ("A100", "A100-SXM4-40GB", "8.0"), ("H100", "H100 80GB HBM3", "9.0")],
)
def test_a_gpu_is_known_by_its_name_in_that_of_nvidia(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, gpu: str, name: str, capability: str
) -> None:
    monkeypatch.setenv("FLEET_STAND_IN_GPU", name)
    monkeypatch.setenv("FLEET_STAND_IN_COMPUTE_CAPABILITY", capability)
    assert require_gpu(request_of(store.request(gpu=gpu, compute_capability=capability))).driver == "999.0"


def request_of(request: EngineRequest) -> ScriptRequest:
    return ScriptRequest.of(request.json().encode())


@pytest.mark.parametrize(
    ("version", "kept_text"), [("8.6.1.6", "8.6.1"), ("10.9.0.34", "10.9.0.34"), ("11.1.0.106", "11.1.0.106")]
)
def test_the_banner_tells_the_version_where_the_image_does_not(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, version: str, kept_text: str
) -> None:
    monkeypatch.delenv("TRT_VERSION")
    monkeypatch.setenv("FLEET_STAND_IN_TENSORRT", version)
    assert require_tensorrt().version == kept_text


def test_an_image_that_does_not_tell_its_version_is_unfit(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRT_VERSION")
    with pytest.raises(BuildError, match="does not show which TensorRT it has"):
        require_tensorrt()


def test_the_packages_version_is_cut_out_of_its_text(store: EngineStore) -> None:
    assert (
        require_tensorrt({**store.environment, "TRT_VERSION": "8.6.1.6+cuda12.0.1.011"}).version == "8.6.1.6"
    )


def test_a_version_compatible_plan_is_loaded_as_one() -> None:
    command = load_command(
        TensorRT("trtexec", "10.9.0.34"), (*ARGUMENTS, "--versionCompatible"), plan=Path("p")
    )
    assert command[:4] == ["trtexec", "--loadEngine=p", "--versionCompatible", "--shapes=left:4x2,right:4x2"]


def test_a_plan_without_profiles_is_loaded_without_shapes() -> None:
    command = load_command(TensorRT("trtexec", "10.9.0.34"), ("--fp16",), plan=Path("p"))
    assert not [argument for argument in command if "hapes" in argument]


def test_the_script_reads_the_request_as_it_is_written(store: EngineStore) -> None:
    request = store.request(job=JOB)
    assert asdict(request_of(request)) == asdict(request)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"job": {}, "arguments": [], "more": 1}'])
def test_another_document_is_no_request(text: bytes) -> None:
    with pytest.raises(BuildError, match="the script cannot read this request"):
        read_request(ScriptRequest.of, text)


@pytest.mark.parametrize("kind", [EngineRequest, ImageRequest])
def test_publisher_and_script_have_one_file_of_a_request(kind: type) -> None:
    """Also in the uploaded script, to which `fleet` and its imports are unknown."""
    file = Path(sys.modules[kind.__module__].__file__ or "")
    assert file.resolve().relative_to(ROOT / "engine_build").name == "request.py"
    script = ZipFile(BytesIO(build_script()[0]))
    assert script.read(file.resolve().relative_to(ROOT / "engine_build").as_posix()) == file.read_bytes()


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("/opt/ml/processing/input/engine/script.zip", Path("/opt/ml")),
        ("/tmp/x/processing/input/engine/script.zip", Path("/tmp/x")),
        ("/opt/ml/input/data/engine/script.zip", Path("/opt/ml")),
        ("/codebuild/output/src1/src/__main__.py", None),
    ],
)
def test_a_job_is_known_by_where_its_script_lies(script: str, folder: Path | None) -> None:
    assert job_folder(script) == folder
