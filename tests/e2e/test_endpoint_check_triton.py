"""The endpoint check's own code against a real Triton: every data type, targets that load, and that do not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from endpoint_check.errors import CheckError
from endpoint_check.handler import is_complete
from tests.support.sampled_endpoint import SECONDS, SampledEndpoint
from tests.support.zoo import ENDPOINT, Zoo, times
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton

ECHO_VALUES: dict[str, list[Any]] = {
    "BOOL": [True, False],
    "UINT8": [0, 255],
    "INT32": [-(2**31), 7],
    "UINT64": [2**64 - 1, 1],
    "INT64": [-(2**63), 2**53 + 1],
    "FP16": [0.1, "NaN"],
    "FP32": [0.1, "Infinity"],
    "FP64": [0.1, "-Infinity"],
    "BYTES": ["grün", ""],
}
ECHO = """\
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse(
            [pb_utils.Tensor(f"{each.name()}_OUT", each.as_numpy()) for each in request.inputs()]
        ) for request in requests]
"""


def echo() -> dict[str, str]:
    """A model that answers each of its inputs, of all types, with itself."""
    types = [(name, "STRING" if name == "BYTES" else name) for name in ECHO_VALUES]
    inputs = ", ".join(f'{{ name: "{name}" data_type: TYPE_{kind} dims: [ 2 ] }}' for name, kind in types)
    outputs = ", ".join(
        f'{{ name: "{name}_OUT" data_type: TYPE_{kind} dims: [ 2 ] }}' for name, kind in types
    )
    config = f'backend: "python"\ninput [ {inputs} ]\noutput [ {outputs} ]\n'
    return {"echo/config.pbtxt": config, "echo/1/model.py": ECHO}


@pytest.fixture(scope="module")
def zoo(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    zoo = Zoo(runtime, tmp_path_factory.mktemp("checked"))
    zoo.start()
    zoo.upload("echo.tar.gz", echo())
    zoo.upload("times.tar.gz", times(3))
    zoo.upload("spoilt.tar.gz", times(3, initialize="        raise ValueError('spoilt')"))
    yield zoo
    zoo.stop()


def check_function(zoo: Zoo, *samples: dict[str, Any], warm: tuple[str, ...] = ()) -> str:
    properties: dict[str, Any] = {"EndpointName": ENDPOINT, "EndpointConfigName": "zoo", "Warm": warm}
    event = SampledEndpoint().event(*samples, **properties) | {"Deadline": time.time() + 60}
    answer = is_complete(
        event, SampledEndpoint(), lambda service, config=None: zoo.client(service), {"SECONDS": SECONDS}
    )
    assert answer["IsComplete"] is True
    return str(answer["Data"]["Summary"])


def tripled_sample(expected_numbers: list[float], **more: Any) -> dict[str, Any]:
    tensor = {"datatype": "FP32", "shape": [1, 2], "data": [1, 2]}
    output = {"datatype": "FP32", "shape": [1, 2], "data": expected_numbers, "tolerance": 0}
    return {
        "name": "pair",
        "target": "times.tar.gz",
        "inputs": {"x": tensor},
        "outputs": {"y": output},
        **more,
    }


def test_values_of_every_data_type_come_back_as_they_were_sent(zoo: Zoo) -> None:
    tensors = {name: {"datatype": name, "shape": [2], "data": data} for name, data in ECHO_VALUES.items()}
    outputs = {f"{name}_OUT": tensor for name, tensor in tensors.items()}
    sample = {"name": "all", "target": "echo.tar.gz", "inputs": tensors, "outputs": outputs}
    assert "samples passed: 1" in check_function(zoo, sample)
    outputs["INT64_OUT"] = {**outputs["INT64_OUT"], "data": [-(2**63), 2**53]}
    with pytest.raises(
        CheckError, match=r"INT64_OUT\[1\] is 9007199254740993, expected 9007199254740992 \(tolerance 0\)"
    ):
        check_function(zoo, json.loads(json.dumps(sample)))


def test_a_target_is_loaded_without_a_sample(zoo: Zoo) -> None:
    assert "targets loaded: 1" in check_function(zoo, warm=("times.tar.gz",))
    assert "times.tar.gz" in {model["target"] for model in zoo.report()["models"] if model["memory"]}


def test_a_target_that_triton_does_not_load_is_told_with_tritons_reason(zoo: Zoo) -> None:
    with pytest.raises(
        CheckError, match="Target spoilt.tar.gz of endpoint zoo cannot be loaded: .*ValueError"
    ):
        check_function(zoo, warm=("times.tar.gz", "spoilt.tar.gz"))


def test_a_target_that_is_not_there_is_refused_by_sagemaker(zoo: Zoo) -> None:
    with pytest.raises(
        CheckError, match="target absent.tar.gz .* SageMaker refuses the call with Validation"
    ):
        check_function(zoo, warm=("absent.tar.gz",))


def test_right_and_wrong_answers_and_refusals_are_told_apart(zoo: Zoo) -> None:
    assert "samples passed: 1" in check_function(zoo, tripled_sample([3, 6]))
    with pytest.raises(
        CheckError, match=r"sample pair of times.tar.gz: output y\[0, 1\] is 6, expected 7 \(tolerance 0\)"
    ):
        check_function(zoo, tripled_sample([3, 7]))
    too_many = {"x": {"datatype": "FP32", "shape": [9, 2], "data": 0}}
    assert "samples passed: 1" in check_function(
        zoo, tripled_sample([0, 0], inputs=too_many, outputs={}, status=400)
    )
    with pytest.raises(CheckError, match="status 400, expected 200: .*batch-size must be <= 8"):
        check_function(zoo, tripled_sample([0, 0], inputs=too_many))
