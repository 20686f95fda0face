"""Refusals of a config.pbtxt by Triton, told with its line and in its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.config_texts import HEAD, IO, REFUSED_TEXTS, VALID_TEXTS
from tests.support.scheduling_texts import REFUSED_SCHEDULING, ensemble, step
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.config.judge import config_findings
from triton_fleet.repository.config.message import parsed_config
from triton_fleet.rules.codes import code_weight, groups

FILE = Path("models/resnet/config.pbtxt")
REFUSED_CONFIGS = {**REFUSED_TEXTS, **REFUSED_SCHEDULING}


def findings(text: str, release: str | None = None) -> list[Finding]:
    try:
        return list(config_findings(parsed_config(text.encode(), FILE, ""), release))
    except FindingsError as error:
        return error.findings


def errors(text: str, release: str | None = None) -> list[Finding]:
    return [finding for finding in findings(text, release) if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED_CONFIGS.values(), ids=REFUSED_CONFIGS)
def test_what_triton_refuses_is_told_in_its_words_at_its_line(text: str, line: int, message: str) -> None:
    assert [(finding.line, finding.file) for finding in errors(text) if message in finding.message] == [
        (line, FILE)
    ]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED_CONFIGS.values(), ids=REFUSED_CONFIGS)
def test_each_error_says_what_to_do_and_weighs_what_its_code_says(text: str, line: int, message: str) -> None:
    (finding,) = (finding for finding in errors(text) if message in finding.message)
    assert finding.hint
    assert "error" in code_weight(finding.code)


def test_each_code_of_a_configuration_has_a_case() -> None:
    group = next(group for group in groups() if group.about == "A model's config.pbtxt")
    codes = {finding.code for text, *_ in REFUSED_CONFIGS.values() for finding in errors(text)}
    only_warn = set(group.warnings)
    by_release = {"FL416"}
    assert codes >= set(group.codes) - only_warn - by_release


@pytest.mark.parametrize("text", VALID_TEXTS.values(), ids=VALID_TEXTS)
def test_what_triton_takes_is_no_error(text: str) -> None:
    assert errors(text) == []


def test_a_healthy_ensemble_is_no_error() -> None:
    assert errors(ensemble(step(outputs="between"), step("between", name="b"))) == []


def test_a_field_newer_than_the_release_is_refused_as_an_unknown_one() -> None:
    text = ensemble("  max_inflight_requests: 4\n", step())
    (finding,) = errors(text, "24.10")
    assert finding.line == 7
    assert (
        finding.message
        == 'Message type "inference.ModelEnsembling" has no field named "max_inflight_requests".'
    )
    assert "25.11" in finding.hint
    assert errors(text, "25.11") == errors(text) == []


def test_a_newer_field_is_found_in_either_spelling_of_a_list() -> None:
    text = (
        HEAD
        + 'input [ { name: "i" data_type: TYPE_FP32 dims: [ 1, 1, 1 ]\n is_non_linear_format_io: false } ]\n'
    )
    assert [finding.line for finding in errors(text, "24.05")] == [5]
    assert errors(text, "24.08") == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("max_batch_sise: 4", "did you mean `max_batch_size`?"),
        ("max_batch_size: ${BATCH}", "this is a template"),
    ],
)
def test_a_slip_and_a_template_are_told_apart(line: str, hint: str) -> None:
    (finding,) = findings(line)
    assert hint in finding.hint


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace("4", "0") + "dynamic_batching { }",
        HEAD + 'model_warmup { name: "none" }',
        IO,
        'backend: "python"\ninput { name: "i" data_type: TYPE_FP32 }',
    ],
    ids=["batching without a batch", "a sample of no batch", "no backend", "dims left to the backend"],
)
def test_what_is_only_doubtful_is_a_warning(text: str) -> None:
    assert {finding.severity for finding in findings(text)} == {Severity.WARNING}


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    text = HEAD + IO.replace("8", "0") + "dynamic_batching { preferred_batch_size: [ 5, 6 ] }\n"
    assert [finding.line for finding in errors(text)] == [5, 6, 6]


@pytest.mark.parametrize(
    ("ends", "keys", "hint"),
    [
        ("", "no `input` and no `output`", "write an `input` for image; write an `output` for label"),
        (
            'output { name: "label" data_type: TYPE_FP32 dims: [ 1 ] }\n',
            "no `input`",
            "write an `input` for image",
        ),
        (
            'input { name: "image" data_type: TYPE_FP32 dims: [ 1 ] }\n',
            "no `output`",
            "write an `output` for label",
        ),
    ],
)
def test_an_ensemble_without_an_input_or_output_has_one_finding(ends: str, keys: str, hint: str) -> None:
    steps = step("image", "between") + step("between", "label")
    text = f'name: "all"\nplatform: "ensemble"\n{ends}ensemble_scheduling {{ {steps} }}\n'
    (finding,) = findings(text)
    assert (finding.code, finding.hint) == ("FL428", hint)
    assert f"has {keys}" in finding.message


def test_a_tensor_that_waits_for_another_one_is_told_from_one_that_no_step_writes() -> None:
    hints = {
        finding.message.split("'")[1]: finding.hint
        for finding in errors(ensemble(step(), step("lost", "late")))
    }
    assert hints == {
        "lost": "no step writes it, and it is not an input",
        "late": "its step waits for a tensor that is not written",
    }


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("instance_group { count: 1 }", "an ensemble has no instances"),
        ("optimization { }", "an ensemble runs no backend"),
        ('model_warmup { name: "a" batch_size: 1 }', "an ensemble loads nothing"),
    ],
)
def test_a_key_that_an_ensemble_cannot_have_says_why(key: str, reason: str) -> None:
    texts = [finding.hint for finding in errors(f"{ensemble(step())}{key}\n") if finding.code == "FL427"]
    assert texts == [f"leave out `{key.split()[0]}`: {reason}, so it belongs to the composing models"]


def test_an_ensemble_of_thousands_of_steps_is_judged() -> None:
    steps = [step(f"t{number + 1}", f"t{number}") for number in range(2000)]
    findings = errors(ensemble(*steps, step("image", "label")))
    assert {finding.code for finding in findings} == {"FL428"}
    assert len(findings) <= 40


def test_a_comment_does_not_make_a_template() -> None:
    (finding,) = findings("max_batch_size: many #How many")
    assert finding.hint == "write a whole number"
