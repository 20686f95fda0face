"""Other people's configurations, with the verdict of a real Triton 24.10 on each."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.support.corpus import CORPUS, needs_corpus, rows
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.config.judge import config_findings
from triton_fleet.repository.config.message import CODE as NOT_PARSED
from triton_fleet.repository.config.message import parsed_config

RELEASES = (None, "24.10", "25.04", "26.05")
SAME_CAUSE = 0.9

pytestmark = needs_corpus


@cache
def corpus_findings(name: str, release: str | None = None) -> tuple[Finding, ...]:
    file = CORPUS / name
    try:
        return tuple(config_findings(parsed_config(file.read_bytes(), file), release))
    except FindingsError as error:
        return tuple(error.findings)


def errors(name: str, release: str | None = None) -> list[Finding]:
    return [finding for finding in corpus_findings(name, release) if finding.severity is Severity.ERROR]


def refused_by_config() -> list[dict[str, str]]:
    return [row for row in rows() if row["kind"] == "qa-invalid" and row["note"].startswith("level=config")]


def test_a_file_is_parsed_if_triton_parses_it() -> None:
    uploads = {
        row["file"]: all(finding.code != NOT_PARSED for finding in corpus_findings(row["file"]))
        for row in rows()
    }
    assert uploads == {row["file"]: row["parse"] == "ok" for row in rows()}


def test_with_its_release_a_file_is_refused_where_that_triton_does_not_parse_it() -> None:
    codes = {row["file"]: {finding.code for finding in errors(row["file"], "24.10")} for row in rows()}
    refused_files = {file for file, code in codes.items() if code & {NOT_PARSED, "FL416"}}
    assert refused_files == {row["file"] for row in rows() if row["triton_strict"].startswith("PARSE_ERROR")}


def test_a_file_that_does_not_parse_is_refused_at_the_line_that_triton_names() -> None:
    for row in rows():
        place = re.match(r"PARSE_ERROR: (\d+):", row["triton_strict"])
        # Of a word that is none, Triton names the place behind it.
        if place and row["parse"] != "ok" and "enumeration" not in row["triton_strict"]:
            assert corpus_findings(row["file"])[0].line == int(place[1]), row["file"]


@pytest.mark.parametrize("release", RELEASES)
def test_what_triton_takes_in_strict_mode_is_no_error(release: str | None) -> None:
    files = [
        row["file"]
        for row in rows()
        if row["triton_strict"].startswith("CONFIG_OK") and row["kind"] != "qa-invalid"
    ]
    assert {file: findings for file in files if (findings := errors(file, release))} == {}
    assert files


def test_what_tritons_own_tests_expect_to_be_refused_is_an_error() -> None:
    assert [row["file"] for row in refused_by_config() if not errors(row["file"])] == []
    assert refused_by_config()


def test_of_what_is_refused_nine_in_ten_are_told_in_tritons_words() -> None:
    report = [
        any(
            row["expected_triton_error"].replace("\\", "") in finding.message
            for finding in errors(row["file"])
        )
        for row in refused_by_config()
    ]
    assert sum(report) >= SAME_CAUSE * len(report)
