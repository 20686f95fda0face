"""One sentence from Triton's log; the lines below are Triton 24.10's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.local.triton.failure import explain, port_was_taken, still_loading

REPOSITORY = Path("/work/staged")
NOISE = 'E1121 00:22:07.507841 7763 server.cc:241] "CudaDriverHelper has not been initialized."\n'
AFTERMATH = (
    "E1121 00:22:09.719129 7763 model_repository_manager.cc:703] \"Invalid argument: ensemble '/work/staged::all'"
    " depends on '/work/staged::pre' which has no loaded version.\"\n"
    "error: creating server: Invalid argument - load failed for model '/work/staged::all'\n"
)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "E1121 00:22:09.420256 7763 model_lifecycle.cc:642] \"failed to load '/work/staged::pre' version 1:"
            r" Internal: ValueError: no such thing\n\nAt:\n  /work/staged/pre/1/model.py(19): initialize\n"
            '"\n' + AFTERMATH,
            "model 'pre' failed to load: ValueError: no such thing (pre/1/model.py:19)",
        ),
        (
            "E1121 00:22:22.588499 8279 model_lifecycle.cc:642] \"failed to load '/work/staged::pre' version 1: Invalid"
            " argument: unable to find backend library for backend 'tensorrt', try specifying runtime on the model"
            ' configuration."\n' + AFTERMATH,
            "model 'pre' failed to load: unable to find backend library for backend 'tensorrt', try specifying runtime"
            " on the model configuration. (the backends of this machine: onnxruntime, python)",
        ),
        (
            "[libprotobuf ERROR text_format.cc:337] Error parsing text-format inference.ModelConfig: 14:14: Message"
            ' type "inference.ModelConfig" has no field named "nope".\n'
            'E1121 00:22:19.189818 8166 model_repository_manager.cc:1460] "Poll failed for model directory'
            " '/work/staged::pre': failed to read text proto from /work/staged/pre/config.pbtxt\"\n"
            + AFTERMATH,
            "the config.pbtxt of model 'pre' cannot be read: line 14:14: Message type \"inference.ModelConfig\" has no"
            ' field named "nope".',
        ),
        (
            "E1121 00:23:41.751643 9615 model_repository_manager.cc:1415] \"failed to poll model 'vae': model not found"
            ' in any model repository."\nerror: creating server: Internal - failed to load all models\n',
            "model 'vae': model not found in any model repository.",
        ),
        (
            "error: creating server: Invalid argument - in ensemble /work/staged::all, inconsistent data type;\n",
            "creating server: Invalid argument - in ensemble all, inconsistent data type",
        ),
        (
            "/x/tritonserver: unrecognized option '--foo=1'\nUsage: tritonserver [options]\n  --help\n\tPrint usage\n",
            "unrecognized option '--foo=1'",
        ),
        (
            "Usage: tritonserver [options]\n  --help\n\tPrint usage\n\n"
            'Bad option: "--log-verbose".\nInvalid option value. Got maybe\n',
            'Bad option: "--log-verbose". Invalid option value. Got maybe',
        ),
        (NOISE, ""),
        ("", ""),
    ],
)
def test_the_reason_names_the_model_and_what_triton_said(log: str, reason: str) -> None:
    assert explain(NOISE + log if log else log, REPOSITORY, ["onnxruntime", "python"]) == reason or not log


def test_models_that_began_to_load_and_did_not_end_are_known() -> None:
    log = (
        'I1121 00:22:37.069693 8958 model_lifecycle.cc:472] "loading: /work/staged::pre:1"\n'
        'I1121 00:22:37.069745 8958 model_lifecycle.cc:472] "loading: /work/staged::post:1"\n'
        "I1121 00:22:38.425332 8958 model_lifecycle.cc:839] \"successfully loaded '/work/staged::post'\"\n"
    )
    assert still_loading(log, REPOSITORY) == ["pre"]


def test_a_port_that_another_process_was_faster_to_use_is_recognised() -> None:
    log = (
        'E1121 00:22:33.718617 8776 main.cc:270] "failed to start Sagemaker service: Unavailable - Socket'
        " '0.0.0.0:18080' already in use \"\n"
    )
    assert port_was_taken(log)
    assert not port_was_taken(NOISE)
