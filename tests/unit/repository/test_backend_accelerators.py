"""Execution accelerators: names and parameters that the backend knows, by release and device."""

from __future__ import annotations

import pytest

from tests.support.model_configs import config_of, messages_and_hints
from triton_fleet.repository.config.parameters import parameters

GPU = "instance_group { kind: KIND_GPU }"


def accelerator_config(accelerator: str, device: str = "gpu", group: str = GPU) -> str:
    """A configuration with one accelerator."""
    given_text = f"{device}_execution_accelerator [ {{ {accelerator} }} ]"
    return f"{group} optimization {{ execution_accelerators {{ {given_text} }} }}"


def accelerator_messages(
    text: str, release: str | None = None, backend: str = "onnxruntime"
) -> list[tuple[str, str]]:
    """Findings of it."""
    return messages_and_hints(parameters(config_of(text), backend, release))


def tensorrt(key: str, value: str) -> str:
    """TensorRT with one parameter."""
    return f'name: "tensorrt" parameters {{ key: "{key}" value: "{value}" }}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (accelerator_config('name: "TensorRT"'), "unknown Execution Accelerator 'TensorRT' is requested"),
        (
            accelerator_config('name: "tensorrt"', "cpu", ""),
            "unknown Execution Accelerator 'tensorrt' is requested",
        ),
        (
            accelerator_config(tensorrt("precision_mode", "fp16")),
            "unsupported precision mode 'fp16' is requested",
        ),
        (
            accelerator_config(tensorrt("workspace", "1")),
            "unknown parameter 'workspace' is provided for TensorRT Execution Accelerator",
        ),
        (
            accelerator_config(tensorrt("max_workspace_size_bytes", "GiB")),
            "failed to convert 'GiB' to unsigned long long integral number",
        ),
        (
            accelerator_config(tensorrt("trt_engine_cache_enable", "yes")),
            "failed to convert 'yes' to boolean",
        ),
    ],
)
def test_what_onnx_runtime_does_not_take_is_told_in_its_words(text: str, words: str) -> None:
    assert accelerator_messages(text) == [("error FL454", words)]


@pytest.mark.parametrize(
    "text",
    [
        accelerator_config(tensorrt("precision_mode", "FP16")),
        accelerator_config(tensorrt("max_workspace_size_bytes", "1073741824")),
        accelerator_config('name: "cuda" parameters { key: "cudnn_conv_use_max_workspace" value: "1" }'),
        accelerator_config('name: "openvino" parameters { key: "device" value: "CPU" }', "cpu"),
        accelerator_config('name: "anything"', group="instance_group { kind: KIND_CPU }"),
    ],
)
def test_what_it_takes_or_never_reads_is_left_alone(text: str) -> None:
    assert accelerator_messages(text) == []


def test_without_a_kind_of_instances_it_is_only_warned_of() -> None:
    [(weight, _)] = accelerator_messages(accelerator_config('name: "anything"', group=""))
    assert weight == "warning FL454"


@pytest.mark.parametrize(
    ("accelerator", "before", "since"),
    [
        (tensorrt("trt_min_subgraph_size", "5"), "24.03", "24.04"),
        (tensorrt("precision_mode", "BF16"), "26.01", "26.02"),
        ('name: "cuda"', "24.05", "24.06"),
    ],
)
def test_what_came_later_is_refused_by_earlier_releases(accelerator: str, before: str, since: str) -> None:
    text = accelerator_config(accelerator)
    assert [weight for weight, _ in accelerator_messages(text, before)] == ["error FL454"]
    assert accelerator_messages(text, since) == []


def test_one_mistake_does_not_lighten_the_next() -> None:
    part = 'parameters { key: "max_workspace_size_bytes" value: "1 GiB" }'
    text = accelerator_config(tensorrt("precision_mode", "half") + part)
    assert [weight for weight, _ in accelerator_messages(text)] == ["warning FL454", "error FL454"]


def test_backends_that_nobody_knows_have_accelerators_of_their_own() -> None:
    assert accelerator_messages(accelerator_config('name: "paddle_gpu"'), backend="paddle") == []
    assert accelerator_messages(accelerator_config('name: "anything"'), backend="tensorrt") == []


def test_the_place_is_that_of_the_wrong_value() -> None:
    text = accelerator_config(tensorrt("precision_mode", "half")).replace("parameters", "\nparameters")
    [finding] = parameters(config_of(text), "onnxruntime", None)
    assert finding.line == 2
