"""Inputs, outputs and instance groups that backends refuse, by the configuration alone."""

from __future__ import annotations

import pytest

from tests.support.model_configs import config_of, messages_and_hints, parameters_text
from triton_fleet.repository.config.backend_tensors import backend_tensors
from triton_fleet.repository.config.parameters import parameters

IN = 'input { name: "INPUT__0" data_type: TYPE_FP32 dims: [ 4 ] }\n'
OUT = 'output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 4 ] }\n'
FOREST_IN, FOREST_OUT = IN.replace("INPUT__0", "input__0"), OUT.replace("OUTPUT__0", "output__0")
NO_NUMBER = "does not follow <name>__<index> naming convention."


def tensor_messages(backend: str, text: str, release: str | None = None) -> list[tuple[str, str]]:
    """Findings of a model's tensors."""
    return messages_and_hints(backend_tensors(config_of(text), backend, release))


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        ("pytorch", "TYPE_UINT32"),
        ("tensorrt", "TYPE_FP64"),
        ("tensorrt", "TYPE_STRING"),
        ("openvino", "TYPE_BF16"),
    ],
)
def test_a_data_type_that_the_backend_does_not_have_is_refused(backend: str, kind: str) -> None:
    words = f"unsupported datatype {kind} for input 'INPUT__0' for model 'm'"
    assert tensor_messages(backend, IN.replace("TYPE_FP32", kind) + OUT) == [("error FL455", words)]


@pytest.mark.parametrize(
    ("backend", "kind", "before", "since"),
    [
        ("tensorrt", "TYPE_INT64", "24.04", "24.05"),
        ("tensorrt", "TYPE_BF16", "24.05", "24.06"),
        ("onnxruntime", "TYPE_BF16", "26.02", "26.03"),
    ],
)
def test_a_data_type_that_came_later_is_refused_by_earlier_releases(
    backend: str, kind: str, before: str, since: str
) -> None:
    text = IN + OUT.replace("TYPE_FP32", kind)
    words = f"unsupported datatype {kind} for output 'OUTPUT__0' for model 'm'"
    assert tensor_messages(backend, text, before) == [("error FL455", words)]
    assert tensor_messages(backend, text, since) == tensor_messages(backend, text) == []


@pytest.mark.parametrize("text", [IN + OUT, 'input { name: "x" dims: [ 1 ] }' + OUT])
@pytest.mark.parametrize("backend", ["pytorch", "onnxruntime", "tensorrt", "openvino", "python", "mine", ""])
def test_ordinary_tensors_and_what_others_judge_are_left_alone(backend: str, text: str) -> None:
    assert tensor_messages(backend, text) == []


@pytest.mark.parametrize(("text", "kind"), [(OUT, "input"), (IN, "output")])
def test_pytorch_needs_inputs_and_outputs(text: str, kind: str) -> None:
    words = f"model configuration must contain at least one {kind}, none were specified."
    assert tensor_messages("pytorch", text) == [("error FL455", words)]
    assert tensor_messages("pytorch", text + 'platform: "torch_aoti"') == []
    assert tensor_messages("pytorch", text + 'runtime: "model.py"') == []


@pytest.mark.parametrize(
    ("shape", "is_refused"),
    [
        ("dims: [ 4 ]", False),
        ("dims: [ 2, 2 ]", True),
        ("dims: [ 4, 1 ] reshape { shape: [ 4 ] }", False),
    ],
)
def test_strings_of_pytorch_have_one_dimension(shape: str, is_refused: bool) -> None:
    text = IN.replace("TYPE_FP32", "TYPE_STRING").replace("dims: [ 4 ]", shape) + OUT
    words = "Triton only supports 1 dimensional List of String as input for 'INPUT__0' for model 'm'"
    assert tensor_messages("pytorch", text) == ([("error FL455", words)] if is_refused else [])


def test_the_batch_is_a_dimension_of_strings_too() -> None:
    text = "max_batch_size: 8 " + IN + OUT.replace("TYPE_FP32", "TYPE_STRING")
    assert [weight for weight, _ in tensor_messages("pytorch", text)] == ["error FL455"]
    scalar = text.replace("dims: [ 4 ] }\n", "dims: [ 1 ] reshape { shape: [ ] } }\n")
    assert tensor_messages("pytorch", scalar) == []


def test_two_outputs_of_one_number_and_a_mixture_of_names_are_warned_of() -> None:
    text = IN + OUT + OUT.replace("OUTPUT", "SCORES")
    words = "outputs 'OUTPUT__0' and 'SCORES__0' both are number 0 of the model"
    assert tensor_messages("pytorch", text) == [("warning FL455", words)]
    [(weight, message)] = tensor_messages("pytorch", IN + OUT + OUT.replace("OUTPUT__0", "scores"))
    assert weight == "warning FL455"
    assert message.startswith("output 'scores' does not follow the <name>__<index> naming convention")


@pytest.mark.parametrize("name", ["INPUT__0", "x", "token_ids", "a__b__0", "INPUT__x"])
def test_an_input_of_pytorch_may_be_called_like_an_argument(name: str) -> None:
    assert tensor_messages("pytorch", IN.replace("INPUT__0", name) + OUT) == []


def test_controls_of_a_sequence_are_numbered_in_pytorch() -> None:
    control = "control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] }"
    batching = f'sequence_batching {{ control_input {{ name: "START" {control} }} }}'
    assert tensor_messages("pytorch", IN + OUT + batching) == [("error FL455", f"input 'START' {NO_NUMBER}")]
    assert tensor_messages("pytorch", IN + OUT + batching.replace('START"', 'START__1"')) == []


def test_a_correlation_id_is_of_a_type_that_pytorch_has() -> None:
    control = "control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 }"
    batching = f'sequence_batching {{ control_input {{ name: "ID__1" {control} }} }}'
    words = "input 'ID__1' type 'TYPE_UINT64' is not supported by PyTorch."
    assert tensor_messages("pytorch", IN + OUT + batching) == [("error FL455", words)]
    assert tensor_messages("pytorch", IN + OUT + batching.replace("UINT64", "INT64")) == []


def test_with_states_all_names_of_pytorch_are_numbered() -> None:
    state = 'state { input_name: "STATE__1" output_name: "NEW" data_type: TYPE_UINT16 dims: [ 1 ] }'
    text = IN.replace("INPUT__0", "x") + OUT + f"sequence_batching {{ {state} }}"
    begins = "PyTorch model 'm' is using sequence batching with state but"
    assert [message for _, message in tensor_messages("pytorch", text)] == [
        f"{begins} not all inputs and outputs follow the <name>__<index> naming convention.",
        f"{begins} state 'NEW' does not follow the <name>__<index> naming convention.",
        "unsupported datatype TYPE_UINT16 for state 'NEW' for model 'm'",
    ]
    right = text.replace('"x"', '"x__0"').replace("NEW", "NEW__1").replace("UINT16", "INT16")
    assert tensor_messages("pytorch", right) == []


def test_an_optional_input_does_not_go_with_batches_in_onnx_runtime() -> None:
    text = IN.replace("dims", "optional: true dims") + OUT + "max_batch_size: 4"
    words = "unable to load model 'm', optional input 'INPUT__0' is not supported for models that support batching"
    assert tensor_messages("onnxruntime", text) == [("error FL455", words)]
    assert (
        tensor_messages("onnxruntime", text, "23.03")
        == tensor_messages("onnxruntime", text.replace("4", "0"))
        == []
    )


def test_a_forest_has_the_input_and_the_output_that_its_backend_reads() -> None:
    assert tensor_messages("fil", FOREST_IN + FOREST_OUT) == []
    assert tensor_messages("fil", FOREST_IN.replace("FP32", "FP64") + FOREST_OUT) == [
        ("error FL455", "incorrect type FP64 for input with required type FP32")
    ]
    assert [message for _, message in tensor_messages("fil", IN + OUT)] == [
        "the FIL backend reads the input 'input__0', and model 'm' has none of that name",
        "No output with name output__0 in configuration.",
    ]


@pytest.mark.parametrize(
    ("values", "release", "text"),
    [
        ({}, None, "error: Required parameter is_classifier not found in config"),
        ({}, "25.04", "error: Required parameter output_class not found in config"),
        ({"output_class": "true"}, "25.04", "error: Required parameter threshold not found in config"),
        ({"is_classifier": "true"}, "25.09", "error: Required parameter threshold not found in config"),
        ({"is_classifier": "false"}, "25.09", ""),
        ({"output_class": "false"}, "25.09", ""),
        ({"output_class": "True"}, "25.09", "error: Required parameter is_classifier not found in config"),
        ({"is_classifier": "false"}, "25.04", "warning: Required parameter output_class not found in config"),
    ],
)
def test_a_forest_says_whether_it_classifies_and_from_where_on(
    values: dict[str, str], release: str | None, text: str
) -> None:
    findings = parameters(config_of(parameters_text(values)), "fil", release)
    assert [f"{finding.severity}: {finding.message}" for finding in findings if finding.code == "FL453"] == (
        [text] if text else []
    )


@pytest.mark.parametrize(
    ("backend", "kind", "words"),
    [
        ("tensorrt", "KIND_CPU", "unable to load model 'm', TensorRT backend supports only GPU device"),
        ("tensorrt", "KIND_GPU", ""),
        (
            "openvino",
            "KIND_GPU",
            "unable to load model 'm', Triton OpenVINO backend supports only Kind CPU and AUTO",
        ),
        ("openvino", "KIND_AUTO", ""),
        ("onnxruntime", "KIND_CPU", ""),
    ],
)
def test_instances_of_a_kind_that_the_backend_does_not_run_are_refused(
    backend: str, kind: str, words: str
) -> None:
    rows = tensor_messages(backend, f"instance_group {{ kind: {kind} }}")
    assert rows == ([("error FL459", words)] if words else [])
