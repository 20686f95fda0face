"""The stand-in for the ONNX Runtime backend serves what that backend serves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import (
    TENSORS,
    RefusedError,
    Starter,
    call,
    onnx_model,
)

pytestmark = pytest.mark.triton


def test_an_onnx_model_without_config_is_completed_and_batches_across_requests(
    starter: Starter, tmp_path: Path
) -> None:
    server = starter.start(onnx_model(tmp_path, None, ["n", 2]))
    calls = [[[float(number), 1.0]] * (1 + number % 3) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda x: call(server, x), calls))
    for x, answer in zip(calls, answers, strict=True):
        assert answer == [len(x), 2, *(2 * np.array(x)).ravel()]
    with pytest.raises(RefusedError, match="400"):
        call(server, [[1.0, 1.0]] * 5)


def test_an_onnx_model_may_reshape_its_tensors(starter: Starter, tmp_path: Path) -> None:
    config = """
    platform: "onnxruntime_onnx"
    input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] reshape { shape: [ 1, 2 ] } } ]
    output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] reshape { shape: [ 1, 2 ] } } ]
    """
    server = starter.start(onnx_model(tmp_path, config, [1, 2]))
    assert call(server, [1, 2]) == [2, 2, 4]


def test_an_error_of_onnx_runtime_reaches_the_caller_and_later_calls_succeed(
    starter: Starter, tmp_path: Path
) -> None:
    config = f'platform: "onnxruntime_onnx" {TENSORS}'.replace("dims: [ 2 ]", "dims: [ -1 ]")
    server = starter.start(onnx_model(tmp_path, config, ["n", 2]))
    with pytest.raises(RefusedError, match=r"500 .*onnx runtime error: "):
        call(server, [[1, 2, 3]])
    assert call(server, [[1, 2]]) == [1, 2, 2, 4]


@pytest.mark.parametrize("config", [None, f'platform: "onnxruntime_onnx" {TENSORS}'])
def test_a_model_that_this_machines_onnx_runtime_reads_is_refused_where_the_releases_does_not(
    starter: Starter, tmp_path: Path, config: str | None
) -> None:
    repository = onnx_model(tmp_path, config, ["n", 2], ir_version=11)
    words = r"Unsupported model IR version: 11, max supported IR version: 10"
    with pytest.raises(HostingError, match=rf"onnx runtime error 1: Load model from .*failed:{words}"):
        starter.start(repository)


def test_an_operator_set_is_refused_likewise(starter: Starter, tmp_path: Path) -> None:
    starter.runtime = starter.runtime.for_release("23.03")
    with pytest.raises(HostingError, match=r"domain ai\.onnx is till opset 18\."):
        starter.start(onnx_model(tmp_path, None, ["n", 2], opset=19))


def test_the_model_is_loaded_where_the_containers_release_reads_it(starter: Starter, tmp_path: Path) -> None:
    model = onnx_model(tmp_path, None, ["n", 2], ir_version=11)
    starter.runtime = starter.runtime.for_release("25.09")
    assert call(starter.start(model), [[1, 2]]) == [1, 2, 2, 4]
