"""The request and the output of `fleet invoke`; a stand-in plays SageMaker's runtime."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.invoke_commands import SENTENCE, invoke
from tests.support.runtime_stand_in import RuntimeStandIn, same, tensor_answer


def npy(file: Path, array: Any) -> str:
    np.save(file, array)
    return f"x=@{file}"


def test_inputs_are_sent_to_the_local_endpoint_and_the_answer_is_one_json_document(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke("--input", SENTENCE, "--input", "scale=[[1.5, 2]]") == 0
    assert json.loads(capsys.readouterr().out) == {
        "outputs": [
            {"name": "INPUT0", "shape": [1, 1], "datatype": "BYTES", "data": ["a sentence"]},
            {"name": "scale", "shape": [1, 2], "datatype": "FP32", "data": [1.5, 2.0]},
        ]
    }
    request = runtime.requests[-1]
    assert request.path == "/endpoints/sentences/invocations"
    assert "binary+json" in request.headers["Content-Type"]
    assert runtime.last_request["parameters"] == {"binary_data_output": True}


def test_target_outputs_and_json_are_passed_on(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--target", "a.tar.gz", "--output", "y", "--output", "z", "--json"]
    assert invoke("--input", SENTENCE, *options) == 0
    assert runtime.requests[-1].headers["X-Amzn-SageMaker-Target-Model"] == "a.tar.gz"
    assert runtime.requests[-1].headers["Content-Type"] == "application/json"
    assert runtime.last_request["outputs"] == [{"name": "y"}, {"name": "z"}]
    assert json.loads(capsys.readouterr().out)["outputs"][0]["data"] == ["a sentence"]


def test_a_sample_of_the_spec_is_sent_to_its_target_and_the_answer_printed(
    runtime: RuntimeStandIn, folder: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.spec("samples: [{name: one, inputs: {x: {datatype: INT32, shape: [2], data: 3}}}]\n")
    assert invoke("--sample", "one") == 0
    assert json.loads(capsys.readouterr().out)["outputs"][0]["data"] == [3, 3]


def test_a_body_goes_as_it_is_with_its_type_and_target(
    runtime: RuntimeStandIn, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "body").write_bytes(b"\x00\xff")
    runtime.answers.append(tensor_answer(b"\xfe\x00", "application/octet-stream"))
    options = ["--body", str(tmp_path / "body"), "--content-type", "text/x-any", "--target", "a.tar.gz"]
    assert invoke(*options) == 0
    assert capsysbinary.readouterr().out == b"\xfe\x00"
    request = runtime.requests[-1]
    assert (request.get_data(), request.headers["Content-Type"]) == (b"\x00\xff", "text/x-any")
    assert request.headers["X-Amzn-SageMaker-Target-Model"] == "a.tar.gz"


def test_a_body_from_standard_input_is_json_where_nothing_else_is_said(
    runtime: RuntimeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"inputs": []}')))
    assert invoke() == 0
    assert runtime.requests[-1].headers["Content-Type"] == "application/json"


def test_each_output_is_saved_to_a_file_of_a_safe_name(
    runtime: RuntimeStandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.array([[0.25, np.nan]], np.float16))
    folder = tmp_path / "new" / "answers"
    file = f"@{tmp_path / 'x.npy'}"
    assert invoke("--input", f"gpu_0/softmax_1={file}", "--input", SENTENCE, "--save", str(folder)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}/gpu_0%2Fsoftmax_1.npy: shape [1, 2], float16",
        f"{folder}/INPUT0.npy: shape [1, 1], |S10",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["INPUT0.npy", "gpu_0%2Fsoftmax_1.npy"]
    assert np.isnan(np.load(folder / "gpu_0%2Fsoftmax_1.npy")[0, 1])
    assert np.load(folder / "INPUT0.npy").tolist() == [[b"a sentence"]]


def test_outputs_called_alike_but_for_a_slash_and_those_called_as_folders_are_kept_apart(
    runtime: RuntimeStandIn, tmp_path: Path
) -> None:
    names = ["a/b", "a_b", "..", "/etc/x"]
    options = [option for name in names for option in ("--input", f"{name}=[1]")]
    assert invoke(*options, "--save", str(tmp_path / "answers")) == 0
    files = sorted(path.name for path in (tmp_path / "answers").iterdir())
    assert files == ["%2Fetc%2Fx.npy", "...npy", "a%2Fb.npy", "a_b.npy"]


def test_where_an_output_cannot_be_saved_none_is(
    runtime: RuntimeStandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--input",
        "y=[1]",
        "--input",
        r'x=["ends in a zero\u0000"]',
        "--save",
        str(tmp_path / "answers"),
    ]
    assert invoke(*options) == 1
    assert "FL711: output 'x' has a byte string that ends in zero bytes" in capsys.readouterr().err
    assert list((tmp_path / "answers").iterdir()) == []


def test_what_json_has_no_number_for_is_printed_as_text(
    runtime: RuntimeStandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke("--input", npy(tmp_path / "x.npy", np.array([np.nan, np.inf, -np.inf, 1.5]))) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert document["outputs"][0]["data"] == ["NaN", "Infinity", "-Infinity", 1.5]


def test_bytes_that_are_no_text_are_not_printed_but_can_be_saved(
    runtime: RuntimeStandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written_text = npy(tmp_path / "x.npy", np.array([b"\xff\xfe"]))
    assert invoke("--input", written_text) == 1
    errors = capsys.readouterr().err
    assert "FL711: output 'x' has b'\\xff\\xfe', which is not UTF-8" in errors
    assert "hint: write it to a file: --save FOLDER" in errors
    assert invoke("--input", written_text, "--save", str(tmp_path)) == 0


def test_an_endpoint_of_an_account_is_called_with_the_users_own_settings(
    runtime: RuntimeStandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--env", "dev", "--input", SENTENCE]
    monkeypatch.setenv("AWS_ENDPOINT_URL", runtime.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert invoke(*options) == 2
    assert "set credentials for the account" in capsys.readouterr().err
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    runtime.answers.append(same)
    assert invoke(*options) == 0
    assert "Credential=key/" in runtime.requests[-1].headers["Authorization"]


def test_other_commands_do_not_load_numpy() -> None:
    look = "import sys, triton_fleet.cli.commands; print([n for n in ('numpy', 'fleet_client') if n in sys.modules])"
    process = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert process.stdout == "[]\n"
