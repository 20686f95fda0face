"""Samples beside the model that would answer, whose configuration `fleet check` reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder

INPUT = "inputs: {x: {datatype: FP32, shape: [1, 2], data: [1, 2]}}"
CONFIG = """\
backend: "python"
max_batch_size: 4
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }, { name: "z" data_type: TYPE_STRING dims: [ -1 ] optional: true } ]
output [ { name: "y" data_type: TYPE_INT64 dims: [ 3, -1 ] } ]
"""


@pytest.fixture
def model_folder(folder: FleetFolder) -> FleetFolder:
    folder.spec()
    folder.lock()
    folder.write("repository/embed/config.pbtxt", CONFIG)
    return folder


def found_in(folder: FleetFolder, sample: str) -> list[str]:
    folder.spec(f"samples:\n  - name: one\n    {sample}\n")
    findings = folder.check()
    return [
        f"{finding.line} {finding.message} | {finding.hint}"
        for finding in findings
        if finding.code == "FL328"
    ]


def test_a_sample_that_fits_is_fine(model_folder: FleetFolder) -> None:
    outputs = "outputs: {y: {datatype: INT64, shape: [1, 3, 7]}}"
    assert found_in(model_folder, f"{INPUT}\n    {outputs}") == []


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ("X: {datatype: FP32, shape: [1, 2], data: 1}", "model 'embed' has no input 'X' | "),
        (
            "X: {datatype: FP32, shape: [1, 2], data: 1}",
            "needs the input 'x', but the sample does not have it",
        ),
        ("x: {datatype: FP64, shape: [1, 2], data: 1}", "'x' of model 'embed' is FP32, and not FP64 | "),
        (
            "x: {datatype: FP32, shape: [2], data: 1}",
            "does not have the shape [2] | its input is of FP32",
        ),
        (
            "x: {datatype: FP32, shape: [1, 3], data: 1}",
            "does not have the shape [1, 3] | its input is of ",
        ),
        ("x: {datatype: FP32, shape: [5, 2], data: 1}", "takes batches of 4 at most, and not of 5"),
    ],
)
def test_an_input_that_does_not_fit_is_told_at_its_line(
    model_folder: FleetFolder, tensors: str, words: str
) -> None:
    lines = found_in(model_folder, f"inputs: {{{tensors}}}")
    assert any(line.startswith("8 ") and words in line for line in lines), lines


def test_an_output_that_does_not_fit_is_told_with_what_it_is(model_folder: FleetFolder) -> None:
    (line,) = found_in(model_folder, f"{INPUT}\n    outputs: {{y: {{datatype: INT32}}}}")
    assert line == (
        "9 output 'y' of model 'embed' is INT64, and not INT32 | its output is of INT64, shape [-1, 3, -1]"
    )


def test_what_is_to_be_refused_may_be_as_wrong_as_it_likes(model_folder: FleetFolder) -> None:
    wrong = "inputs: {x: {datatype: FP64, shape: [2], data: 1}}"
    assert found_in(model_folder, f"{wrong}\n    status: 400") == []


def test_what_the_backend_completes_is_not_judged(model_folder: FleetFolder, tmp_path: Path) -> None:
    model_folder.write("repository/embed/config.pbtxt", 'backend: "onnxruntime"\n')
    assert found_in(model_folder, "inputs: {q: {datatype: FP64, shape: [2], data: 1}}") == []
