"""Memory that is counted against an instance's, and how."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules

GIB = 1 << 30


def memory_messages(code: str, facts: dict[str, Any], **spec: Any) -> list[tuple[bool, str]]:
    """Whether each problem is certain, and its message."""
    case = Case(spec=spec, region=REGION, models=facts, archive_size=ARCHIVE_SIZE)
    return [(problem.certain, problem.message) for problem in case.problems(rules()[code])]


def model(backend: str, gib: float = 0, **group: Any) -> dict[str, Any]:
    return {"backend": backend, "size": int(gib * GIB), "instances": [{"kind": "KIND_GPU", **group}]}


class TestWeights:
    def test_each_instance_of_an_onnx_model_has_weights_of_its_own(self) -> None:
        assert memory_messages("FL251", {"m": model("onnxruntime", 6, count=3)}) == []
        ((certain, message),) = memory_messages("FL251", {"m": model("onnxruntime", 6, count=4)})
        assert certain
        assert "the weights of m with all instances take 24.0 GiB" in message

    def test_a_gpu_has_what_nvidia_smi_prints_not_the_size_that_it_is_sold_with(self) -> None:
        t4 = {"instance": {"type": "ml.g4dn.xlarge"}}
        assert memory_messages("FL251", {"m": model("onnxruntime", 15.0)}, **t4) == []
        ((certain, message),) = memory_messages("FL251", {"m": model("onnxruntime", 15.5)}, **t4)
        assert certain
        assert message.endswith("GPU 0 of ml.g4dn.xlarge (T4) has 15.0 GiB")

    def test_instances_of_a_tensorrt_plan_share_its_weights(self) -> None:
        assert memory_messages("FL251", {"m": model("tensorrt", 6, count=4)}) == []

    def test_whether_pytorch_instances_share_weights_is_not_known(self) -> None:
        ((certain, _),) = memory_messages("FL251", {"m": model("pytorch", 6, count=4)})
        assert not certain

    def test_models_that_are_loaded_together_are_added_up(self) -> None:
        pair = {
            "ensemble": {"backend": "ensemble", "steps": ["a", "b"]},
            "a": model("onnxruntime", 15),
            "b": model("onnxruntime", 15),
        }
        ((_, message),) = memory_messages("FL251", pair, default_model="ensemble")
        assert "the weights of a, b with all instances take 30.0 GiB" in message

    def test_models_that_are_not_loaded_are_not_counted(self) -> None:
        two = {"a": model("onnxruntime", 15), "b": model("onnxruntime", 15)}
        assert memory_messages("FL251", two, default_model="a") == []

    def test_models_on_the_cpu_and_python_models_are_not_counted(self) -> None:
        assert memory_messages("FL251", {"m": model("onnxruntime", 40, kind="KIND_CPU")}) == []
        assert memory_messages("FL251", {"m": model("python", 40)}) == []

    def test_each_gpu_has_the_models_that_name_it(self) -> None:
        four = {f"m{number}": model("onnxruntime", 15, gpus=[number]) for number in range(4)}
        ensemble = {"backend": "ensemble", "steps": list(four)}
        wide = {"type": "ml.g5.12xlarge"}
        assert memory_messages("FL251", {**four, "e": ensemble}, default_model="e", instance=wide) == []
        ((_, message),) = memory_messages(
            "FL251",
            {
                "a": model("onnxruntime", 15, gpus=[2]),
                "b": model("onnxruntime", 15, gpus=[2]),
                "e": {"backend": "ensemble", "steps": ["a", "b"]},
            },
            default_model="e",
            instance=wide,
        )
        assert "GPU 2 of ml.g5.12xlarge" in message

    def test_where_the_backend_places_a_model_nothing_is_sure(self) -> None:
        ((certain, _),) = memory_messages("FL251", {"m": model("onnxruntime", 40, kind="KIND_MODEL")})
        assert not certain

    def test_of_a_multi_model_endpoint_each_archive_is_counted_alone(self) -> None:
        two = [{"archive": name, "repository": f"../{name}"} for name in "ab"]
        assert memory_messages("FL251", {"m": model("onnxruntime", 15)}, mode="multi-model", models=two) == []


class TestSharedMemory:
    @pytest.mark.parametrize(
        ("group", "count"),
        [
            ({"kind": "KIND_CPU", "count": 800}, 800),
            ({"kind": "KIND_GPU", "count": 800, "gpus": [0]}, 800),
            ({"kind": "KIND_AUTO", "count": 800}, 800),
        ],
    )
    def test_instances_are_counted_on_one_gpu(self, group: dict[str, Any], count: int) -> None:
        ((_, message),) = memory_messages("FL250", {"m": {"backend": "python", "instances": [group]}})
        assert message.startswith(f"{count} instances of Python models (m) take 12.5 GiB")

    def test_instances_are_counted_on_each_gpu(self) -> None:
        facts = {"backend": "python", "instances": [{"kind": "KIND_GPU", "count": 2000}]}
        ((_, message),) = memory_messages("FL250", {"m": facts}, instance={"type": "ml.g5.12xlarge"})
        assert message.startswith("8000 instances")

    def test_a_region_of_another_size_is_counted_as_it_is(self) -> None:
        facts = {"backend": "python", "instances": [{"kind": "KIND_CPU", "count": 100}]}
        container = {"shm_default_byte_size": 1 << 20}
        assert memory_messages("FL250", {"m": facts}, container=container) == []
        assert memory_messages("FL250", {"m": facts}, container={"shm_default_byte_size": 1 << 27}) != []
