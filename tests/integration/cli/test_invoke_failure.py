"""How `fleet invoke` ends when it cannot send, cannot reach or is refused: message, remedy and exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.embedded_keys import KEYS, VARIABLES
from tests.support.fleet_folder import FleetFolder
from tests.support.invoke_commands import SENTENCE, invoke
from tests.support.runtime_stand_in import RuntimeStandIn, refusal, served, tensor_answer
from triton_fleet.local.state import LocalState, Supervisor


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--input", SENTENCE, "--body", "b"], "--body cannot be combined with --input"),
        (["--input", SENTENCE, "--content-type", "b"], "--content-type cannot be combined with --input"),
        (["--body", "b", "--output", "y"], "--output needs --input or --sample"),
        (["--body", "b", "--json"], "--json needs --input or --sample"),
        (["--body", "b", "--save", "f"], "--save needs --input or --sample"),
        (["--sample", "a", "--input", SENTENCE], "--input cannot be combined with --sample"),
        (["--sample", "a", "--body", "b"], "--body cannot be combined with --sample"),
        (["--sample", "a", "--target", "t"], "--target cannot be combined with --sample"),
    ],
)
def test_options_of_bodies_and_of_inputs_do_not_mix(
    runtime: RuntimeStandIn, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(*options) == 1
    assert f"FL708: {words}" in capsys.readouterr().err
    assert runtime.requests == []


@pytest.mark.parametrize("options", [["--input", SENTENCE], ["--body", "model_specs/sentences.yaml"]])
def test_tritons_refusal_exits_with_1_in_its_own_words(
    runtime: RuntimeStandIn, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"error":"unexpected inference input \'INPUT0\'"}'
    runtime.answers.append(refusal(424, "ModelError", "x", OriginalStatusCode=400, OriginalMessage=text))
    assert invoke(*options) == 1
    assert capsys.readouterr().err.splitlines()[:2] == [
        "error[invocation-error] FL701: sentences answered 400: unexpected inference input 'INPUT0'",
        "  hint: its log is `fleet local logs sentences`",
    ]


def test_the_refusal_of_another_environment_names_its_log_on_aws_and_on_this_machine(
    runtime: RuntimeStandIn,
    folder: FleetFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder.environment(name="prod")
    for name, value in (VARIABLES | {"AWS_ENDPOINT_URL": runtime.url}).items():
        monkeypatch.setenv(name, value)
    arn = "arn:aws:logs:us-west-2:123456789012:log-group:/aws/sagemaker/Endpoints/sentences"
    refused_values = {"OriginalStatusCode": 400, "OriginalMessage": "no", "LogStreamArn": arn}
    runtime.answers.append(refusal(424, "ModelError", "x", **refused_values))
    assert invoke("--env", "prod", "--input", SENTENCE) == 1
    assert f"its log is {arn}, here `fleet local logs prod/sentences`" in capsys.readouterr().err


def test_a_model_that_is_still_being_loaded_is_waited_for_and_the_user_told(
    runtime: RuntimeStandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    runtime.answers += [refusal(429, "ModelNotReadyException")] * 2
    assert invoke("--input", SENTENCE) == 0
    output = capsys.readouterr()
    assert output.err.splitlines() == [f"no answer yet; trying again in {pause:.1f} s" for pause in pauses]
    assert json.loads(output.out)["outputs"][0]["name"] == "INPUT0"


def test_sagemakers_own_refusal_exits_with_1_and_its_code(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime.answers.append(refusal(400, "ValidationError", "Endpoint sentences not found."))
    assert invoke("--input", SENTENCE) == 1
    assert (
        "error[invocation-error] FL701: ValidationError: Endpoint sentences not found."
        in capsys.readouterr().err
    )


def test_an_answer_that_is_none_of_tritons_exits_with_1(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime.answers.append(tensor_answer(b"<html>", "text/html"))
    assert invoke("--input", SENTENCE) == 1
    assert (
        "error[undecodable-answer] FL710: the answer is of the content type 'text/html'"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "words", "hint"),
    [
        (["--target", "größe.tar.gz"], "the target model 'größe.tar.gz' must be 1 to 1024 printable", ""),
        (["--input", "half:FP16=[1.5]", "--json"], "input 'half' is FP16", "leave out --json"),
    ],
)
def test_what_cannot_be_sent_exits_with_1_and_is_not_sent(
    runtime: RuntimeStandIn, options: list[str], words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke("--input", SENTENCE, *options) == 1
    errors = capsys.readouterr().err
    assert "error[unsendable-request] FL709: " in errors
    assert (words in errors, hint in errors) == (True, True)
    assert runtime.requests == []


def test_a_request_of_more_than_25_mb_exits_with_1_and_is_not_sent(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("body").write_bytes(b" " * 26_300_000)
    assert invoke("--body", "body") == 1
    errors = capsys.readouterr().err
    assert (
        "error[oversized-request] FL260: the request has 25.1 MiB; a real-time call accepts 25 MB (" in errors
    )
    assert "asynchronous endpoint" in errors
    assert runtime.requests == []


@pytest.mark.parametrize(("size", "warnings"), [(6_291_456, 0), (6_291_457, 1), (26_214_400, 1)])
def test_a_request_between_the_two_limits_is_sent_with_one_warning_that_names_both_sources(
    runtime: RuntimeStandIn, size: int, warnings: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("body").write_bytes(b'{"inputs":[]}'.ljust(size))
    assert invoke("--body", "body") == 0
    errors = capsys.readouterr().err
    assert errors.count("warning[oversized-request] FL260: ") == warnings
    pair = "SageMaker's hosting FAQs allow 25 MB, botocore's model of InvokeEndpoint allows 6 MiB"
    assert errors.count(pair) == warnings
    assert len(runtime.requests[-1].get_data()) == size


def test_a_mistake_in_an_input_exits_with_1_and_nothing_is_sent(
    runtime: RuntimeStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke("--input", SENTENCE, "--input", "x=[[1],[2,3]]") == 1
    assert "error[invalid-input-values] FL707: input 'x' is ragged" in capsys.readouterr().err
    assert runtime.requests == []


def test_an_endpoint_that_cannot_be_reached_exits_with_2(
    runtime: RuntimeStandIn, folder: FleetFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(RuntimeStandIn()) as port:
        pass
    supervisor = Supervisor(
        pid=os.getpid(), url=f"http://127.0.0.1:{port}", account="1", region="us-east-1", keys=KEYS
    )
    LocalState(folder.root).announce(supervisor)
    assert invoke("--input", SENTENCE) == 2
    assert "cannot run: sentences could not be reached" in capsys.readouterr().err
