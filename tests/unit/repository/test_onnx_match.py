"""A config is held against its graph in the ONNX Runtime backend's own words."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.onnx_graphs import FLOAT, INT8, INT32, STRING, external, graph_bytes, header_of, weights
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig, parsed_config
from triton_fleet.repository.contents import Contents, Entry, EntryKind, OnnxHeader, OnnxTensor
from triton_fleet.repository.onnx.match import external_findings, onnx_findings

FILE = Path("m/1/model.onnx")
INPUTS = {"INPUT0": (INT32, ["n", 16]), "INPUT1": (INT32, ["n", 16])}
OUTPUTS = {"OUTPUT0": (INT8, ["n", 16]), "OUTPUT1": (INT8, ["n", 16])}


GRAPH = header_of(graph_bytes(INPUTS, OUTPUTS))
UNBATCHED_GRAPH = header_of(
    graph_bytes({name: (INT32, [16]) for name in INPUTS}, {name: (INT8, [16]) for name in OUTPUTS})
)


def config(text: str) -> ParsedConfig:
    return parsed_config(text.encode(), Path("m/config.pbtxt"), "m")


def tensors(kind: str, *given_text: str, data_type: str) -> str:
    """`NAME` with dims [ 16 ], or `NAME DIMS` with whatever stands there."""
    fields = []
    for text in given_text:
        name, _, rest = text.partition(" ")
        fields.append(f'{{ name: "{name}" data_type: {data_type} {rest or "dims: [ 16 ]"} }}')
    return f"{kind} [ {', '.join(fields)} ]\n"


def inputs(*given_text: str, data_type: str = "TYPE_INT32") -> str:
    return tensors("input", *given_text, data_type=data_type)


def outputs(*given_text: str, data_type: str = "TYPE_INT8") -> str:
    return tensors("output", *given_text, data_type=data_type)


def findings(text: str, header: OnnxHeader = GRAPH) -> list[Finding]:
    return list(onnx_findings(config(text), header, FILE))


def match_messages(text: str, header: OnnxHeader = GRAPH) -> list[str]:
    return [finding.message for finding in findings(text, header)]


BATCH = "max_batch_size: 1\n"
BOTH_IN, BOTH_OUT = inputs("INPUT0", "INPUT1"), outputs("OUTPUT0", "OUTPUT1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        BATCH,
        BATCH + BOTH_IN,
        BATCH + BOTH_OUT,
        BATCH + BOTH_IN + BOTH_OUT,
        BATCH + BOTH_IN + outputs("OUTPUT1"),
        BATCH + inputs("INPUT1", "INPUT0 dims: [ -1 ] reshape { shape: [ 16 ] }") + BOTH_OUT,
        inputs("INPUT0 dims: [ 8, 16 ]", "INPUT1 dims: [ -1, 16 ]")
        + outputs("OUTPUT0 dims: [ -1, 16 ]", "OUTPUT1 dims: [ -1, 16 ]"),
    ],
)
def test_a_config_that_fits_its_graph_has_no_findings(text: str) -> None:
    assert findings(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            inputs("INPUT0 dims: [ 16, 1 ]", "INPUT1") + BOTH_OUT,
            "model 'm', tensor 'INPUT0': the model expects 2 dimensions (shape [-1,16]) but the model"
            " configuration specifies 3 dimensions (an initial batch dimension because max_batch_size > 0"
            " followed by the explicit tensor shape, making complete shape [-1,16,1])",
        ),
        (
            BOTH_IN + outputs("OUTPUT0", "OUTPUT1 dims: [ 1 ]"),
            "model 'm', tensor 'OUTPUT1': the model expects 2 dimensions (shape [-1,16]) but the model"
            " configuration specifies 2 dimensions (an initial batch dimension because max_batch_size > 0"
            " followed by the explicit tensor shape, making complete shape [-1,1])",
        ),
        (
            inputs("INPUT1") + BOTH_OUT,
            "unable to load model 'm', configuration expects 1 inputs, model provides 2",
        ),
        (
            inputs("INPUT0", "INPUT_UNKNOWN") + BOTH_OUT,
            "unexpected inference input 'INPUT_UNKNOWN', allowed inputs are: INPUT0, INPUT1",
        ),
        (
            BOTH_IN + outputs("OUTPUT_UNKNOWN"),
            "unexpected inference output 'OUTPUT_UNKNOWN', allowed outputs are: OUTPUT0, OUTPUT1",
        ),
        (
            BOTH_IN + outputs("OUTPUT0", data_type="TYPE_FP32"),
            "unable to load model 'm', configuration expects datatype TYPE_FP32 for output 'OUTPUT0',"
            " model provides TYPE_INT8",
        ),
    ],
)
def test_what_differs_is_told_in_the_backends_words(text: str, message: str) -> None:
    (finding,) = findings(BATCH + text)
    assert finding.message == message
    assert (finding.code, finding.severity, finding.file) == ("FL446", Severity.ERROR, Path("m/config.pbtxt"))
    assert finding.line in (2, 3)
    assert finding.hint


def test_too_many_inputs_are_counted_and_named() -> None:
    assert match_messages(BATCH + inputs("INPUT0", "INPUT1", "INPUT_EXTRA") + BOTH_OUT) == [
        "unable to load model 'm', configuration expects 3 inputs, model provides 2",
        "unexpected inference input 'INPUT_EXTRA', allowed inputs are: INPUT0, INPUT1",
    ]


def test_a_batch_size_without_a_batch_dimension_is_told() -> None:
    autofill = (
        "autofill failed for model 'm': model does not support batching while non-zero max_batch_size is"
        " specified"
    )
    assert match_messages(BATCH + BOTH_IN, UNBATCHED_GRAPH) == [autofill]
    assert match_messages(BATCH, UNBATCHED_GRAPH) == [autofill]
    lines = match_messages(BATCH + BOTH_IN + BOTH_OUT, UNBATCHED_GRAPH)
    assert lines[0] == (
        "model 'm', tensor 'INPUT0': for the model to support batching the shape should have at least 1"
        " dimension and the first dimension must be -1; but shape expected by the model is [16]"
    )
    assert len(lines) == 4
    assert match_messages(BOTH_IN + BOTH_OUT, UNBATCHED_GRAPH) == []


def test_without_a_batch_size_shapes_are_compared_whole() -> None:
    assert match_messages(inputs("INPUT0 dims: [ 8 ]", "INPUT1") + BOTH_OUT, UNBATCHED_GRAPH) == [
        "model 'm', tensor 'INPUT0': the model expects 1 dimensions (shape [16]) but the model configuration"
        " specifies 1 dimensions (shape [8])"
    ]


def test_where_outputs_are_completed_the_batch_size_is_too() -> None:
    whole = inputs("INPUT0 dims: [ -1, 16 ]", "INPUT1 dims: [ -1, 16 ]")
    assert [", making complete shape [-1,-1,16])" in line for line in match_messages(whole)] == [True, True]


def test_what_was_completed_from_the_graph_is_not_judged_again() -> None:
    written_config = config(BATCH)
    completed_written_config = replace(written_config, message=copy.deepcopy(written_config.message))
    completed_written_config.message.input.add(name="INPUT0", data_type="TYPE_FP32", dims=[1])
    completed_written_config.message.output.add(name="OUTPUT0", data_type="TYPE_FP32", dims=[1])
    assert list(onnx_findings(completed_written_config, GRAPH, FILE)) == []


def test_an_open_dimension_of_an_output_may_be_inferred_so_that_is_a_warning() -> None:
    header = header_of(graph_bytes({"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n", "d"]), "z": (FLOAT, None)}))
    text = BATCH + inputs("x dims: [ ] reshape { }", data_type="TYPE_FP32")
    (finding,) = findings(text + outputs("y dims: [ 384 ]", "z", data_type="TYPE_FP32"), header)
    assert finding.severity is Severity.WARNING
    assert "(shape [-1,-1])" in finding.message
    assert "infer" in finding.hint


@pytest.mark.parametrize(
    ("dims", "expected_number"), [("[ 1 ]", 0), ("[ 1, 1 ]", 0), ("[ 2 ]", 1), ("[ -1 ]", 1)]
)
def test_a_scalar_takes_only_ones(dims: str, expected_number: int) -> None:
    header = header_of(graph_bytes({"s": (FLOAT, [])}, {"y": (FLOAT, [1])}))
    text = inputs(f"s dims: {dims}", data_type="TYPE_FP32") + outputs("y dims: [ 1 ]", data_type="TYPE_FP32")
    shown_text = dims.replace(" ", "")
    assert (
        match_messages(text, header)
        == [
            "unable to load model 'm', scalar tensor 's', should only provide 1 in the model configuration when the"
            f" model doesn't support batching. Model configuration provided: {shown_text}."
        ]
        * expected_number
    )


def test_strings_are_bytes_to_the_backend() -> None:
    header = header_of(graph_bytes({"s": (STRING, [16])}, {"y": (INT8, [16])}))
    (finding,) = findings(inputs("s") + outputs("y"), header)
    assert finding.message.endswith("datatype TYPE_INT32 for input 's', model provides TYPE_BYTES")
    assert finding.hint == "write `data_type: TYPE_STRING`"


def test_an_input_that_an_initializer_gives_is_optional_and_not_counted() -> None:
    shapes = {"x": (INT32, [16]), "w": (FLOAT, [2])}
    header = header_of(graph_bytes(shapes, {"y": (INT8, [16])}, [weights("w")]))
    optional = 'input { name: "w" data_type: TYPE_FP32 dims: [ 2 ] optional: true }\n'
    assert match_messages(inputs("x") + optional + outputs("y"), header) == []
    assert match_messages(inputs("x") + outputs("y"), header) == []
    assert match_messages(inputs("x") + optional.replace("optional: true", "") + outputs("y"), header) == [
        "unable to load model 'm', configuration expects 2 inputs, model provides 1"
    ]


def test_ragged_inputs_are_flat_in_the_graph() -> None:
    batch_input = 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "INPUT1" data_type: TYPE_INT32 }\n'
    text = BATCH + inputs("INPUT0 dims: [ -1 ] allow_ragged_batch: true") + batch_input + BOTH_OUT
    assert match_messages(text) == [
        "unable to load model 'm', configuration expects model provides input with shape [-1]  for ragged"
        " input 'INPUT0', model provides [-1,16]"
    ]


def test_a_batch_output_may_have_another_shape() -> None:
    text = (
        'batch_output { target_name: "OUTPUT1" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "INPUT0" }'
    )
    assert match_messages(BATCH + BOTH_IN + outputs("OUTPUT0", "OUTPUT1 dims: [ 1 ]") + text) == []


def control(name: str, kind: str, values: str) -> str:
    return f'control_input {{ name: "{name}" control {{ kind: CONTROL_SEQUENCE_{kind} {values} }} }}'


@pytest.mark.parametrize(
    ("controls", "messages"),
    [
        (control("START", "START", "fp32_false_true: [ 0, 1 ]"), []),
        (
            control("READY", "READY", "int32_false_true: [ 0, 1 ]"),
            ["configuration specified sequence control 'READY', but model does not provide that input"],
        ),
        (
            control("START", "START", "int32_false_true: [ 0, 1 ]"),
            [
                "unable to load model 'm', sequence control 'START', the model expects data-type FLOAT but the"
                " model configuration specifies data-type TYPE_INT32"
            ],
        ),
        (
            control("INPUT0", "CORRID", "data_type: TYPE_INT32"),
            [
                "unable to load model 'm', sequence control 'INPUT0' in model has dims [16] but dims [1] is expected"
            ],
        ),
    ],
)
def test_sequence_controls_are_inputs_of_the_graph(controls: str, messages: list[str]) -> None:
    shapes = {"INPUT0": (INT32, ["n", 16]), "START": (FLOAT, ["n", 1])}
    header = header_of(graph_bytes(shapes, OUTPUTS))
    text = BATCH + inputs("INPUT0") + BOTH_OUT + f"sequence_batching {{ {controls} }}"
    assert match_messages(text, header) == messages


def test_states_are_inputs_that_are_counted() -> None:
    state = 'state { input_name: "INPUT1" output_name: "OUTPUT1" data_type: TYPE_INT32 dims: [ 16 ] }'
    text = BATCH + inputs("INPUT0") + outputs("OUTPUT0")
    assert match_messages(f"{text} sequence_batching {{ {state} }}") == []
    assert match_messages(f"{text} sequence_batching {{ {state} {state} }}") == [
        "unable to load model 'm', configuration expects 3 inputs, model provides 2"
    ]


def test_an_output_that_is_no_tensor_cannot_be_served() -> None:
    header = OnnxHeader(outputs=(OnnxTensor("s", "", None, "ONNX_TYPE_SEQUENCE"),))
    (finding,) = findings("", header)
    assert (
        finding.message
        == "Unsupported ONNX Type 'ONNX_TYPE_SEQUENCE' for I/O 's', expected 'ONNX_TYPE_TENSOR'."
    )
    assert finding.file == FILE


@pytest.mark.parametrize(("certain", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)])
def test_a_file_that_cannot_be_read_is_told(certain: bool, severity: Severity) -> None:
    (finding,) = findings(BATCH, OnnxHeader(problem="it is cut off", certain=certain))
    assert (finding.code, finding.severity, finding.file) == ("FL445", severity, FILE)
    assert "its ONNX file cannot be read: it is cut off" in finding.message


def test_files_with_weights_have_to_be_there() -> None:
    locations = ["weights.bin", "data/absent.bin", "../shared.bin", "../../../out.bin", "/etc/passwd"]
    header = header_of(graph_bytes({}, {}, [external(location, location) for location in locations]))
    entries = {"m/1/weights.bin": Entry(EntryKind.FILE, 8), "m/shared.bin": Entry(EntryKind.FILE, 8)}
    contents = Contents(place=Path("repository"), archive=False, entries=entries)
    findings = list(external_findings(config(""), header, contents, "m/1"))
    assert [(finding.code, finding.severity, finding.file) for finding in findings] == [
        ("FL447", Severity.ERROR, Path("repository/m/1/data/absent.bin")),
        ("FL447", Severity.WARNING, Path("repository/m/1")),
        ("FL447", Severity.WARNING, Path("repository/m/1")),
    ]
    assert "'data/absent.bin', which does not exist" in findings[0].message
