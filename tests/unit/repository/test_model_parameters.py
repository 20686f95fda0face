"""Parameters of a model: values that its backend refuses or ignores, and keys that it does not read."""

from __future__ import annotations

import pytest

from tests.support.model_configs import config_of, messages_and_hints, parameters_text
from triton_fleet.repository.config.parameters import parameters

GPU, CPU = "instance_group { kind: KIND_GPU }\n", "instance_group { kind: KIND_CPU }\n"
FOREST = {"is_classifier": "true", "threshold": "0.5"}


def parameter_messages(
    backend: str, values: dict[str, str], release: str | None = None, more: str = ""
) -> list[tuple[str, str]]:
    """Findings of a model's parameters."""
    return messages_and_hints(parameters(config_of(more + parameters_text(values)), backend, release))


@pytest.mark.parametrize(
    ("backend", "key", "value", "words"),
    [
        ("pytorch", "INFERENCE_MODE", "yes", "failed to convert 'yes' to boolean"),
        ("pytorch", "INTRA_OP_THREAD_COUNT", "four", "failed to convert 'four' to integral number"),
        ("onnxruntime", "enable_mem_arena", "", "failed to convert '' to boolean"),
        (
            "onnxruntime",
            "execution_mode",
            "2",
            "Invalid configuration value provided. Expected values for  execution_mode are 0 or 1 but got 2 .",
        ),
        (
            "tensorrt",
            "execution_context_allocation_strategy",
            "UNKNOWN",
            "Invalid value for 'execution_context_allocation_strategy': 'UNKNOWN' for model instance 'm'."
            " Supported values are 'STATIC' and 'ON_PROFILE_CHANGE'.",
        ),
        (
            "openvino",
            "NUM_STREAMS",
            "Many",
            "expected the parameter 'NUM_STREAMS' to be either AUTO/NUMA/<int_value>, got many",
        ),
        (
            "openvino",
            "INFERENCE_NUM_THREADS",
            "-1",
            "expected the parameter 'INFERENCE_NUM_THREADS' to be a non-negative number, got -1",
        ),
        ("openvino", "HINT_BF16", "NO", "expected the parameter 'HINT_BF16' to be YES, got no"),
        (
            "python",
            "FORCE_CPU_ONLY_INPUT_TENSORS",
            "No",
            "Incorrect value for FORCE_CPU_ONLY_INPUT_TENSORS: No'",
        ),
        (
            "tensorflow",
            "MAX_SESSION_SHARE_COUNT",
            "0",
            "parameter 'MAX_SESSION_SHARE_COUNT' must be positive number for TensorFlow model 'm'",
        ),
        ("dali", "num_threads", "all", "DALI Backend error: stoi"),
    ],
)
def test_a_value_that_the_backend_refuses_is_told_in_its_words(
    backend: str, key: str, value: str, words: str
) -> None:
    assert parameter_messages(backend, {key: value}) == [("error FL450", words)]


@pytest.mark.parametrize(
    ("backend", "values"),
    [
        ("pytorch", {"INFERENCE_MODE": "TRUE", "DISABLE_CUDNN": "Off", "ENABLE_JIT_EXECUTOR": "1"}),
        ("pytorch", {"INTRA_OP_THREAD_COUNT": " +4", "INTER_OP_THREAD_COUNT": "-1"}),
        ("onnxruntime", {"intra_op_thread_count": "0", "execution_mode": "1", "gpu_mem_limit": "2147483648"}),
        ("openvino", {"NUM_STREAMS": "auto", "PERFORMANCE_HINT": "Latency", "HINT_BF16": ""}),
        ("openvino", {"NUM_STREAMS": "12", "RESHAPE_IO_LAYERS": "yes", "ENABLE_BATCH_PADDING": "no"}),
        ("fil", {**FOREST, "model_type": "treelite_checkpoint", "predict_proba": "false"}),
        ("python", {"FORCE_CPU_ONLY_INPUT_TENSORS": "no", "tokenizer_dir": "t", "EXECUTION_ENV_PATHS": "x"}),
        ("my_backend", {"INFERENCE_MODE": "sometimes"}),
        ("", {"enable_mem_arena": "sometimes"}),
    ],
)
def test_what_the_backend_can_read_or_nobody_knows_is_left_alone(
    backend: str, values: dict[str, str]
) -> None:
    assert parameter_messages(backend, values) == []


@pytest.mark.parametrize(
    ("backend", "values", "words"),
    [
        (
            "pytorch",
            {"INTRA_OP_THREAD_COUNT": "4 threads"},
            "INTRA_OP_THREAD_COUNT is '4 threads', of which only 4",
        ),
        (
            "openvino",
            {"RESHAPE_IO_LAYERS": "true"},
            "RESHAPE_IO_LAYERS is 'true', which is silently ignored",
        ),
        (
            "fil",
            {**FOREST, "cpu_nthread": "all"},
            "cpu_nthread is 'all', which is silently ignored: -1",
        ),
    ],
)
def test_a_value_that_is_ignored_is_warned_of(backend: str, values: dict[str, str], words: str) -> None:
    [(weight, message)] = parameter_messages(backend, values)
    assert weight == "warning FL451"
    assert message.startswith(words)


@pytest.mark.parametrize("digits", [11, 10_000])
def test_a_number_that_no_int_holds_is_refused(digits: int) -> None:
    [(weight, message)] = parameter_messages("pytorch", {"INTRA_OP_THREAD_COUNT": "9" * digits})
    assert weight == "error FL450"
    assert "out of range from -2147483648 to 2147483647" in message


@pytest.mark.parametrize(
    ("more", "lines"),
    [(GPU, ["error FL450"]), ("", ["warning FL450"]), (CPU, [])],
    ids=["GPU", "either", "CPU"],
)
def test_what_instances_on_a_gpu_alone_read_weighs_by_where_the_model_runs(
    more: str, lines: list[str]
) -> None:
    findings = parameter_messages("onnxruntime", {"cudnn_conv_algo_search": "EXHAUSTIVE"}, more=more)
    assert [weight for weight, _ in findings] == lines


@pytest.mark.parametrize(("release", "count"), [("24.05", 0), ("24.06", 1), (None, 1)])
def test_a_number_out_of_range_is_refused_from_the_release_on_that_looks(
    release: str | None, count: int
) -> None:
    assert len(parameter_messages("onnxruntime", {"arena_extend_strategy": "2"}, release, GPU)) == count


@pytest.mark.parametrize("release", [None, "23.12", "25.04"])
def test_a_parameter_that_is_gone_is_named_with_the_release(release: str | None) -> None:
    words = "parameter 'ENABLE_NVFUSER' has not been read by the pytorch backend since Triton 23.12"
    assert parameter_messages("pytorch", {"ENABLE_NVFUSER": "sometimes"}, release) == [
        ("warning FL452", words)
    ]
    assert parameter_messages("pytorch", {"ENABLE_NVFUSER": "true"}, "23.10") == []


def test_a_parameter_that_the_release_does_not_read_yet_is_named_with_the_first_that_does() -> None:
    words = (
        "parameter 'DISABLE_CUDNN' is read by the pytorch backend from Triton 24.06 on; the image is 24.05"
    )
    assert parameter_messages("pytorch", {"DISABLE_CUDNN": "true"}, "24.05") == [("warning FL452", words)]
    assert parameter_messages("pytorch", {"DISABLE_CUDNN": "true"}, "24.06") == []


@pytest.mark.parametrize(
    ("backend", "key", "meant_text"),
    [
        ("onnxruntime", "INTRA_OP_THREAD_COUNT", "intra_op_thread_count"),
        ("pytorch", "INTRA_OP_THREADS_COUNT", "INTRA_OP_THREAD_COUNT"),
        ("openvino", "NUM_STREAM", "NUM_STREAMS"),
    ],
)
def test_a_key_that_is_nearly_a_known_one_is_warned_of(backend: str, key: str, meant_text: str) -> None:
    [finding] = parameters(config_of(parameters_text({key: "1"})), backend, None)
    assert (finding.code, finding.severity, finding.line) == ("FL452", "warning", 1)
    assert finding.hint == f"did you mean `{meant_text}`?"


@pytest.mark.parametrize("backend", ["onnxruntime", "tensorrt", "pytorch", "fil"])
def test_a_key_that_resembles_none_is_somebodys_own(backend: str) -> None:
    assert [
        code
        for code, _ in parameter_messages(backend, {"labels": "x", "owner": "y"})
        if code != "error FL453"
    ] == []


def test_each_runtime_of_pytorch_has_parameters_of_its_own() -> None:
    runtime = 'runtime: "model.py"\n'
    [(weight, message)] = parameter_messages("pytorch", {"NUM_THREADS": "4"})
    assert (weight, message) == (
        "warning FL452",
        "parameter 'NUM_THREADS' is read with `runtime: \"model.py\"` alone",
    )
    assert parameter_messages("pytorch", {"NUM_THREADS": "4"}, more=runtime) == []
    assert parameter_messages("pytorch", {"NUM_THREADS": "0"}, more=runtime) == [
        ("error FL450", "set_num_threads expects a positive integer")
    ]
    assert parameter_messages("pytorch", {"NUM_THREADS": "4.5"}, more=runtime) == [
        ("error FL450", "invalid literal for int() with base 10: '4.5'")
    ]
    platform = 'platform: "torch_aoti"\n'
    assert parameter_messages("pytorch", {"INFERENCE_MODE": "maybe"}, more=platform) == [
        ("warning FL452", "parameter 'INFERENCE_MODE' is not read with platform torch_aoti")
    ]


def test_a_batching_library_cannot_go_with_sequences() -> None:
    values, more = {"TRITON_BATCH_STRATEGY_PATH": "/opt/batch.so"}, "sequence_batching { }\n"
    words = "TRITON_BATCH_STRATEGY_PATH cannot be specified with sequence batcher, using default batching strategy"
    assert parameter_messages("my_backend", values, more=more) == [("error FL450", words)]
    assert (
        parameter_messages("my_backend", values, "22.12", more)
        == parameter_messages("my_backend", values)
        == []
    )


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("$$TRITON_MODEL_DIRECTORY/env.tar.gz", []),
        ("/opt/env.tar.gz", []),
        ("", []),
        ("/opt/$$TRITON_MODEL_DIRECTORY/env.tar.gz", ["error FL450"]),
        ("$TRITON_MODEL_DIRECTORY/env.tar.gz", ["warning FL451"]),
        ("env.tar.gz", ["warning FL451"]),
    ],
)
def test_a_python_environment_is_named_from_the_models_directory(path: str, lines: list[str]) -> None:
    assert [weight for weight, _ in parameter_messages("python", {"EXECUTION_ENV_PATH": path})] == lines
