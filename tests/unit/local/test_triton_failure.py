"""One sentence from Triton's log; the lines below are Triton 24.10's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.local.triton.failure import explain, still_loading

REPOSITORY = Path("/repository")
BACKENDS = ["onnxruntime", "python"]


def _line(message: str, level: str = "E") -> str:
    return f'{level}1121 00:22:09.420256 7763 model_lifecycle.cc:642] "{message}"\n'


NOISE = _line("CudaDriverHelper has not been initialized.")
AFTERMATH = (
    _line("Invalid argument: ensemble '/repository::all' depends on '/repository::pre'")
    + "error: creating server: Invalid argument - load failed for model '/repository::all'\n"
)
PYTHON_ERROR = _line(
    "failed to load '/repository::pre' version 1: Internal: ValueError: no such thing"
    r"\n\nAt:\n  <frozen importlib._bootstrap>(241): _call\n  /repository/pre/1/model.py(19): initialize\n"
)
NO_BACKEND = _line(
    "failed to load '/repository::pre' version 1: Invalid argument: unable to find backend library for"
    " backend 'tensorrt', try specifying runtime on the model configuration."
)
SYNTAX = (
    "[libprotobuf ERROR text_format.cc:337] Error parsing text-format inference.ModelConfig: 4:1: no field\n"
    + _line("Poll failed for model directory '/repository::pre': failed to read /repository/pre/config.pbtxt")
)
NO_MODEL = (
    _line("failed to poll model 'vae': model not found in any model repository.")
    + "error: creating server: Internal - failed to load all models\n"
)
USAGE = "Usage: tritonserver [options]\n  --help\n\tPrint usage\n\n"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            PYTHON_ERROR + AFTERMATH,
            "model 'pre' failed to load: ValueError: no such thing (pre/1/model.py:19)",
        ),
        (
            NO_BACKEND + AFTERMATH,
            "model 'pre' failed to load: unable to find backend library for backend 'tensorrt', try"
            " specifying runtime on the model configuration."
            " (the backends of this machine: onnxruntime, python)",
        ),
        (SYNTAX + AFTERMATH, "the config.pbtxt of model 'pre' cannot be read: line 4:1: no field"),
        (NO_MODEL, "model 'vae': model not found in any model repository."),
        (
            "error: creating server: in ensemble /repository::all, no;\n",
            "creating server: in ensemble all, no",
        ),
        (f"/x/tritonserver: unrecognized option '--foo=1'\n{USAGE}", "unrecognized option '--foo=1'"),
        (
            USAGE + 'Bad option: "--log-verbose".\nInvalid option value. Got maybe\n',
            'Bad option: "--log-verbose". Invalid option value. Got maybe',
        ),
        (_line("the disk is full"), "the disk is full"),
        (_line("all is well", level="I"), ""),
        ("", ""),
    ],
)
def test_the_reason_names_the_model_and_what_triton_said(log: str, reason: str) -> None:
    assert explain(NOISE + log, REPOSITORY, BACKENDS) == reason


def test_a_reason_that_is_told_twice_is_said_once() -> None:
    once_explain = explain(PYTHON_ERROR, REPOSITORY, BACKENDS)
    assert explain(PYTHON_ERROR + PYTHON_ERROR, REPOSITORY, BACKENDS) == once_explain


def test_models_that_began_to_load_and_did_not_end_are_known() -> None:
    log = (
        _line("loading: /repository::pre:1", level="I")
        + _line("loading: /repository::post:1", level="I")
        + _line("successfully loaded '/repository::post'", level="I")
    )
    assert still_loading(log, REPOSITORY) == ["pre"]
