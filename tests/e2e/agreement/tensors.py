"""Changes of the inputs and outputs of one model, and of what Triton makes of a batch."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import Change, cases, put, swap
from tests.support.broken_repositories import CONFIG, DOUBLE, RAGGED_MODEL, Case

BATCH = "max_batch_size: 8"
IN = 'name: "x" data_type: TYPE_FP32 dims: [ 2 ]'
OUT = 'name: "y" data_type: TYPE_FP32 dims: [ 2 ]'
INPUT, OUTPUT = f"input [ {{ {IN} }} ]", f"output [ {{ {OUT} }} ]"


def tensor(name: str, what: str, new: str) -> Change:
    """The input is another one."""
    return swap(name, what, (IN, new))


MANY = """\
input [
  { name: "a" data_type: TYPE_STRING dims: [ -1 ] optional: true },
  { name: "b" data_type: TYPE_BF16 dims: [ 4, 4, 3 ] format: FORMAT_NHWC },
  { name: "c" data_type: TYPE_FP16 dims: [ 2 ] reshape { shape: [ 1, 2, 1 ] } },
  { name: "d" data_type: TYPE_BOOL dims: [ 1 ] reshape { shape: [ ] } },
  { name: "y" data_type: TYPE_UINT8 dims: [ 2, -1, 3 ] reshape { shape: [ 2, 1, -1, 3 ] } }
]
"""

TENSORS = (
    swap("healthy", "nothing"),
    swap("harmless-tensors", "tensors of all kinds", (INPUT, MANY)),
    swap("no-name", "the name is left out", ('name: "double"\n', "")),
    swap("no-max-batch-size", "max_batch_size is left out", (BATCH, "")),
    swap("negative-max-batch-size", "max_batch_size: -1", (BATCH, "max_batch_size: -1")),
    swap("no-tensors", "inputs and outputs are left out", (INPUT, ""), (OUTPUT, "")),
    tensor("no-type", "the input has no data type", 'name: "x" dims: [ 2 ]'),
    tensor("invalid-type", "the input is of TYPE_INVALID", 'name: "x" data_type: TYPE_INVALID dims: [ 2 ]'),
    tensor("no-dims", "the input has no dims", 'name: "x" data_type: TYPE_FP32'),
    tensor("empty-dims", "the input has the dims [ ]", 'name: "x" data_type: TYPE_FP32 dims: [ ]'),
    tensor("unnamed-input", "the input has no name", "data_type: TYPE_FP32 dims: [ 2 ]"),
    tensor("zero-dim", "a dim of 0", f"{IN.replace('[ 2 ]', '[ 0 ]')}"),
    tensor("dim-below-minus-one", "a dim of -2", f"{IN.replace('[ 2 ]', '[ -2 ]')}"),
    tensor("nhwc-one-dim", "FORMAT_NHWC with one dim", f"{IN} format: FORMAT_NHWC"),
    tensor("shape-tensor", "a shape tensor of a Python model", f"{IN} is_shape_tensor: true"),
    tensor(
        "non-linear-format",
        "is_non_linear_format_io of a Python model",
        f"{IN} is_non_linear_format_io: true",
    ),
    tensor("other-reshape", "a reshape to more elements", f"{IN} reshape {{ shape: [ 3 ] }}"),
    tensor("empty-reshape", "a reshape of [ 2 ] to [ ]", f"{IN} reshape {{ shape: [ ] }}"),
    swap(
        "empty-reshape-without-batch",
        "a reshape of [ 1 ] to [ ] without batching",
        (BATCH, ""),
        (IN, f"{IN.replace('[ 2 ]', '[ 1 ]')} reshape {{ shape: [ ] }}"),
    ),
    tensor(
        "variable-reshape",
        "a reshape of [ -1 ] to [ -1, 1 ]",
        f"{IN.replace('[ 2 ]', '[ -1 ]')} reshape {{ shape: [ -1, 1 ] }}",
    ),
    tensor(
        "variable-reshape-to-fixed",
        "a reshape of [ -1 ] to [ 2 ]",
        f"{IN.replace('[ 2 ]', '[ -1 ]')} reshape {{ shape: [ 2 ] }}",
    ),
    tensor("reshape-with-zero", "a reshape to [ 0 ]", f"{IN} reshape {{ shape: [ 0 ] }}"),
    tensor(
        "reshape-segments-differ",
        "a reshape of [ 2, -1, 3 ] to [ 3, -1, 2 ]",
        f"{IN.replace('[ 2 ]', '[ 2, -1, 3 ]')} reshape {{ shape: [ 3, -1, 2 ] }}",
    ),
    swap("output-zero-dim", "a dim of 0 in the output", (OUT, OUT.replace("[ 2 ]", "[ 0 ]"))),
    swap("output-no-type", "the output has no data type", (OUT, 'name: "y" dims: [ 2 ]')),
    swap("output-no-name", "the output has no name", (OUT, "data_type: TYPE_FP32 dims: [ 2 ]")),
    swap(
        "output-other-reshape",
        "a reshape of the output to more elements",
        (OUT, f"{OUT} reshape {{ shape: [ 3 ] }}"),
    ),
    swap("no-labels", "a label file that is not there", (OUT, f'{OUT} label_filename: "labels.txt"')),
    put("second-input-of-that-name", "two inputs of one name", f"{INPUT}\n"),
)
SOURCE = 'source_input: "x"'
BATCH_INPUT = 'batch_input [ { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "ends" data_type: TYPE_FP32 source_input: "x" } ]'
BATCH_OUTPUT = 'batch_output [ { target_name: "y" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "x" } ]'
BATCHES = (
    swap("ragged-healthy", "nothing"),
    swap("ragged-no-source", "batch_input without a source", (BATCH_INPUT, BATCH_INPUT.replace(SOURCE, ""))),
    swap(
        "ragged-two-sources",
        "batch_input with two sources",
        (BATCH_INPUT, BATCH_INPUT.replace(SOURCE, 'source_input: [ "x", "x" ]')),
    ),
    swap(
        "ragged-unknown-source",
        "batch_input of an unknown input",
        (BATCH_INPUT, BATCH_INPUT.replace(SOURCE, 'source_input: "z"')),
    ),
    swap("ragged-int64", "batch_input of TYPE_INT64", (BATCH_INPUT, BATCH_INPUT.replace("FP32", "INT64"))),
    swap(
        "ragged-no-type",
        "batch_input without a type",
        (BATCH_INPUT, BATCH_INPUT.replace("data_type: TYPE_FP32", "")),
    ),
    swap(
        "ragged-no-target",
        "batch_input without a target",
        (BATCH_INPUT, BATCH_INPUT.replace('target_name: "ends"', "")),
    ),
    swap(
        "ragged-no-kind",
        "batch_input without a kind",
        (BATCH_INPUT, BATCH_INPUT.replace("kind: BATCH_ACCUMULATED_ELEMENT_COUNT", "")),
    ),
    swap(
        "ragged-unknown-kind",
        "batch_input of an unknown kind",
        (BATCH_INPUT, BATCH_INPUT.replace("ACCUMULATED", "ACCUMULATING")),
    ),
    swap(
        "scatter-no-source", "batch_output without a source", (BATCH_OUTPUT, BATCH_OUTPUT.replace(SOURCE, ""))
    ),
    swap(
        "scatter-unknown-source",
        "batch_output of an unknown input",
        (BATCH_OUTPUT, BATCH_OUTPUT.replace(SOURCE, 'source_input: "z"')),
    ),
    swap(
        "scatter-unknown-target",
        "batch_output of an unknown output",
        (BATCH_OUTPUT, BATCH_OUTPUT.replace('"y"', '"z"')),
    ),
    swap(
        "scatter-target-twice",
        "batch_output with a target given twice",
        (BATCH_OUTPUT, BATCH_OUTPUT.replace('"y"', '[ "y", "y" ]')),
    ),
    swap(
        "ragged-unbatched", "ragged batches with max_batch_size 0", ("max_batch_size: 8", "max_batch_size: 0")
    ),
)


def tensor_cases() -> Iterator[Case]:
    """All of them."""
    yield from cases(DOUBLE, CONFIG, TENSORS)
    yield from cases(RAGGED_MODEL, "ragged/config.pbtxt", BATCHES)
