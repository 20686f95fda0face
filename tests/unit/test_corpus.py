"""Other people's configurations, with the verdict of a real Triton 24.10 on each."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest
from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2

from fleet.findings import Finding, FindingsError, Severity
from fleet.repository.config.judge import config_findings
from fleet.repository.config.parsed import CODE as NOT_PARSED
from fleet.repository.config.parsed import parsed_config
from fleet.repository.text_format.canonical import canonical

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
INDEX = CORPUS / "INDEX.tsv"
SAME_CAUSE = 0.9

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason=f"the corpus is not at {CORPUS}")


@cache
def rows() -> list[dict[str, str]]:
    with INDEX.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@cache
def found(name: str, release: str | None = None) -> tuple[Finding, ...]:
    file = CORPUS / name
    try:
        return tuple(config_findings(parsed_config(file.read_bytes(), file), release))
    except FindingsError as error:
        return tuple(error.findings)


def errors(name: str, release: str | None = None) -> list[Finding]:
    return [each for each in found(name, release) if each.severity is Severity.ERROR]


def refused_by_config() -> list[dict[str, str]]:
    return [row for row in rows() if row["kind"] == "qa-invalid" and row["note"].startswith("level=config")]


def test_a_file_is_parsed_if_triton_parses_it() -> None:
    parsed = {row["file"]: all(each.code != NOT_PARSED for each in found(row["file"])) for row in rows()}
    assert parsed == {row["file"]: row["parse"] == "ok" for row in rows()}


def test_with_its_release_a_file_is_refused_where_that_triton_does_not_parse_it() -> None:
    codes = {row["file"]: {each.code for each in errors(row["file"], "24.10")} for row in rows()}
    refused = {file for file, found in codes.items() if found & {NOT_PARSED, "FL416"}}
    assert refused == {row["file"] for row in rows() if row["triton_strict"].startswith("PARSE_ERROR")}


def test_a_file_that_does_not_parse_is_refused_at_the_line_that_triton_names() -> None:
    for row in rows():
        place = re.match(r"PARSE_ERROR: (\d+):", row["triton_strict"])
        # Of a word that is none, Triton names the place behind it.
        if place and row["parse"] != "ok" and "enumeration" not in row["triton_strict"]:
            assert found(row["file"])[0].line == int(place[1]), row["file"]


def test_what_triton_takes_in_strict_mode_is_no_error() -> None:
    taken = [
        row for row in rows() if row["triton_strict"].startswith("CONFIG_OK") and row["kind"] != "qa-invalid"
    ]
    assert {row["file"]: errors(row["file"]) for row in taken if errors(row["file"])} == {}
    assert taken


def test_what_tritons_own_tests_expect_to_be_refused_is_an_error() -> None:
    assert [row["file"] for row in refused_by_config() if not errors(row["file"])] == []
    assert refused_by_config()


def test_of_what_is_refused_nine_in_ten_are_told_in_tritons_words() -> None:
    told = [
        any(row["expected_triton_error"].replace("\\", "") in each.message for each in errors(row["file"]))
        for row in refused_by_config()
    ]
    assert sum(told) >= SAME_CAUSE * len(told)


def test_the_canonical_form_of_every_file_says_the_same() -> None:
    for row in rows():
        if row["parse"] == "ok":
            content = (CORPUS / row["file"]).read_bytes()
            once = canonical(content)
            assert _message(content.decode()) == _message(once), row["file"]
            assert canonical(once.encode()) == once, row["file"]


def _message(text: str) -> object:
    config = model_config_pb2.ModelConfig()  # type: ignore[attr-defined]  # it is made by the import
    return text_format.Parse(text.removeprefix("\ufeff"), config)
