"""Lines of a container's log: errors, rows of tables that are folded, secrets that a model prints."""

from __future__ import annotations

import pytest

from triton_fleet.aws.doctor.lines import (
    MOST_CHARACTERS,
    MOST_LINES,
    bare,
    is_error,
    symptom_texts,
    unfold_tables,
)

HEAD = "1121 19:01:50.623994 1457 model_lifecycle.cc:642]"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (f"E{HEAD} failed to load 'double' version 1: Internal: ValueError", True),
        (f"I{HEAD} failed to load 'double'", False),
        ("ERROR: More than 1 model directory found in model repository.", True),
        ("| double | 1 | UNAVAILABLE: Internal: ValueError |", True),
        ("Traceback (most recent call last):", True),
        ("| double | 1 | READY |", False),
        ("Starting with the only existing model directory double", False),
    ],
)
def test_an_error_is_told_by_its_head_or_its_words_and_never_information(line: str, error: bool) -> None:
    assert is_error(line) is error


def test_a_row_that_triton_folds_is_one_text() -> None:
    table = [
        "+-------+---------+------------------------------+",
        "| Model | Version | Status                       |",
        "+-------+---------+------------------------------+",
        "| gpt2  | 1       | UNAVAILABLE: Internal: Unabl |",
        "|       |         | e to initialize shared memory  |",
        "|       |         | key '/gpt2_0'                |",
        "| other | 2       | READY                        |",
        "+-------+---------+------------------------------+",
    ]
    rows = [text for text in unfold_tables(table) if text.startswith("| ")]
    assert rows == [
        "| Model | Version | Status |",
        "| gpt2 | 1 | UNAVAILABLE: Internal: Unable to initialize shared memory key '/gpt2_0' |",
        "| other | 2 | READY |",
    ]


def test_a_row_at_the_end_is_not_lost_and_other_lines_stay_as_they_are() -> None:
    lines = ["| a |", "x", "| m | 1 | UNAVAILABLE: no |"]
    assert list(unfold_tables(lines)) == lines
    assert list(unfold_tables([])) == []


def test_each_line_comes_with_the_next_one_and_information_is_left_out() -> None:
    assert list(symptom_texts(["a", f"I{HEAD} loading: x:1", "b"])) == [("a", "b"), ("b", "")]


def test_endless_logs_are_cut_to_their_end_and_endless_lines_to_their_beginning() -> None:
    texts = list(symptom_texts(["first", *["x" * 10_000] * MOST_LINES]))
    assert len(texts) == MOST_LINES
    assert {len(text) for text, _ in texts} == {MOST_CHARACTERS}


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("key AKIAIOSFODNN7EXAMPLE of somebody", "key [a secret] of somebody"),
        ("HF_TOKEN=abc123 BATCH=8", "HF_TOKEN=[a secret] BATCH=8"),
        ("env: HF_TOKEN=a= API_KEY: b", "env: HF_TOKEN=[a secret] API_KEY: [a secret]"),
        ("{'DB_PASSWORD': 'hunter2', 'a': 1}", "{'DB_PASSWORD': '[a secret]', 'a': 1}"),
        ("expecting library version 8.6.1.2", "expecting library version 8.6.1.2"),
    ],
)
def test_what_looks_like_a_secret_is_not_shown(line: str, output: str) -> None:
    assert bare(line) == output
