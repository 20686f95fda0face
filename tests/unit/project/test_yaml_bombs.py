"""Files that are made to take all time, all memory or all of the stack are refused at once, and at their place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project import reader
from triton_fleet.project.reader import (
    BYTES_OF_A_VALUE,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_EXPLAINED_BYTES,
    read_source,
)
from triton_fleet.spec.endpoint import ARCHIVES, EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import MAX_FINDINGS, Source

HANG = 20.0
"""Seconds of the processor's time: no measure, which is benchmarks/check.py's, but an end on any machine."""
LINES = MAX_BYTES // 12


def found_in(
    folder: Path, content: bytes | str, model: type[EndpointSpec | Environment] = EndpointSpec
) -> list[Finding]:
    """The problem of a file; nothing if it can be read."""
    file = folder / "file.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    began = time.process_time()
    findings: list[Finding] = []
    try:
        validate(model, read_source(file))
    except FindingsError as error:
        findings = error.findings
    assert time.process_time() - began < HANG
    assert all(finding.file == file for finding in findings)
    return findings


def codes(findings: list[Finding]) -> set[str]:
    return {finding.code for finding in findings}


@pytest.mark.parametrize("opening", ["[", "{", "- ", "a: [", "- - ? "])
def test_deep_nesting(tmp_path: Path, opening: str) -> None:
    content = opening * (MAX_BYTES // len(opening))
    assert codes(found_in(tmp_path, content)) == {"FL104"}


@pytest.mark.parametrize("length", [2000, MAX_EXPLAINED_BYTES - 10, MAX_BYTES - 10])
def test_deep_nesting_behind_a_mistake(tmp_path: Path, length: int) -> None:
    (finding,) = found_in(tmp_path, f"a: {{b:{'{' * length}")
    assert (finding.code, finding.line) in {("FL101", 1), ("FL104", 1)}


def test_nesting_as_deep_as_it_may_be(tmp_path: Path) -> None:
    deepest = MAX_DEPTH - 1
    assert codes(found_in(tmp_path, f"a: {'[' * deepest}{']' * deepest}")) == {"FL110", "FL111"}
    assert codes(found_in(tmp_path, f"a: [{'[' * deepest}{']' * deepest}]")) == {"FL104"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "anchors are not read"),
        ("a: *nothing\n", "aliases are not read"),
        ("a: !!python/object/apply:os.system [id]\n", "tags are not read"),
        ("a: !x 1\n", "tags are not read"),
        ('a: "\\ud800"\n', "the character '\\ud800' is not read"),
        ('"\\ud800": a\n', "the character '\\ud800' is not read"),
        ('a: "\\U00110000"\n', "this is not YAML"),
    ],
)
def test_what_plain_files_do_not_need(tmp_path: Path, content: str, message: str) -> None:
    (finding,) = found_in(tmp_path, content)
    assert finding.message.startswith(message)
    assert finding.line == 1


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("".join(f"k{number}: 1\n" for number in range(LINES)), id="keys"),
        pytest.param(f"a: [{'[],' * (MAX_BYTES // 4)}]", id="lists"),
        pytest.param(f"a: [{'1,' * (MAX_BYTES // 3)}}}", id="numbers and a mistake"),
        *(
            pytest.param(content, marks=pytest.mark.nightly, id=name)
            for name, content in (
                ("one key", "a: 1\n" * (MAX_BYTES // 6)),
                ("numbers", f"a: [{'1,' * (MAX_BYTES // 3)}]"),
                ("mappings", f"a: [{'{},' * (MAX_BYTES // 4)}]"),
                (
                    "variables",
                    SPEC + "environment:\n" + "".join(f"  K{number}: x\n" for number in range(LINES)),
                ),
            )
        ),
    ],
)
def test_more_values_than_a_file_of_its_size_needs(tmp_path: Path, content: str) -> None:
    (finding,) = found_in(tmp_path, content)
    max_bytes = MAX_BYTES // BYTES_OF_A_VALUE
    assert (finding.code, finding.message) == (
        "FL104",
        f"the file contains more than {max_bytes} keys and values",
    )


@pytest.mark.parametrize(
    "character",
    ["'", '"', "]", "?", "&", "*", "%", "!", "|", "#", "\t", "\n", " ", ":", "x", "-", "é", "\r", "9"],
)
def test_a_file_of_one_character(tmp_path: Path, character: str) -> None:
    findings = found_in(tmp_path, character * (MAX_BYTES // len(character.encode())))
    assert findings
    assert codes(findings) <= {"FL101", "FL104", "FL106", "FL110", "FL111"}


@pytest.mark.parametrize(
    "content",
    [
        "a: |\n" + "  text\n" * (MAX_BYTES // 8) + "&",
        "a: '" + "x" * (MAX_BYTES - 10),
        f"a: {'x' * (MAX_BYTES - 10)}\n]",
        "k" * (MAX_BYTES - 10) + ": 1\n",
        "---\n" * (MAX_BYTES // 5),
    ],
    ids=["block", "open quote", "plain", "key", "documents"],
)
def test_a_large_file_with_a_mistake(tmp_path: Path, content: str) -> None:
    (finding, *other_findings) = found_in(tmp_path, content)
    assert finding.code == "FL101"
    assert not other_findings


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, "[" * (MAX_BYTES + 1))
    assert finding.message == f"the file is larger than {MAX_BYTES} bytes"


@pytest.mark.parametrize(
    "number",
    ["9" * 999, "1" + "0" * 1000, "9" * 1_000_000, f"0.{'0' * 1_000_000}1", "1e999999999"],
    ids=["999 digits", "10**1000", "a megabyte", "a megabyte of zeros", "exponent"],
)
def test_long_numbers(tmp_path: Path, number: str) -> None:
    findings = found_in(tmp_path, f"{SPEC}scaling: {{min: {number}, max: 2, gpu_utilization: 50}}\n")
    assert codes(findings) <= {"FL106", "FL112"}
    assert [finding.line for finding in findings] == [6]


@pytest.mark.parametrize("count", [ARCHIVES + 1, 2**31 - 1])
def test_copies_without_end(tmp_path: Path, count: int) -> None:
    spec = SPEC.replace("../repository", f"../repository, copies: {count}")
    (finding,) = found_in(tmp_path, f"mode: multi-model\n{spec}")
    assert f"these are {count} archives; an endpoint has {ARCHIVES} at most" in finding.message


def test_mistakes_without_end_are_counted(tmp_path: Path) -> None:
    wrong = 40_000
    findings = found_in(tmp_path, SPEC + "".join(f"k{number}: 1\n" for number in range(wrong)))
    assert len(findings) == MAX_FINDINGS
    assert (
        sum(
            f"and {wrong - MAX_FINDINGS} more mistakes in this file" in finding.message
            for finding in findings
        )
        == 1
    )
    tags = "".join(f"  aws:{number}: x\n" for number in range(wrong))
    assert len(found_in(tmp_path, f"{ENVIRONMENT}tags:\n{tags}", Environment)) == MAX_FINDINGS


def test_large_documents_are_laid_over_one_another_at_once(tmp_path: Path) -> None:
    def variables(name: str) -> str:
        return "environment:\n" + "".join(f"  {name}{number}: x\n" for number in range(20_000))

    sources: list[Source] = []
    for name in "ab":
        file = tmp_path / f"{name}.yaml"
        file.write_text(variables(name))
        sources.append(read_source(file))
    began = time.process_time()
    source = sources[0].merge(sources[1])
    assert time.process_time() - began < HANG
    assert source.mark(("environment", "a7")).file == sources[0].file
    assert source.mark(("environment", "b7")).file == sources[1].file
    assert source.section("environment").mark(("b7",)).line == 9


@pytest.mark.parametrize("change", ["\r\n", "\r"])
def test_line_breaks_of_other_systems(tmp_path: Path, change: str) -> None:
    findings = found_in(tmp_path, f"{SPEC}wrong: 1\n".replace("\n", change))
    assert [(finding.code, finding.line) for finding in findings] == [("FL110", 6)]


def test_a_byte_order_mark_at_the_start(tmp_path: Path) -> None:
    assert found_in(tmp_path, SPEC.encode("utf-8-sig")) == []


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (f"{SPEC}a: \0\n".encode(), 6, "the character '\\x00' is not valid in YAML"),
        (f"{SPEC}a: ".encode() + b"\xc3\x28\n", 6, "the byte 0xc3 is not valid in UTF-8 text"),
        (f"{SPEC}a: ".encode() + b"\xed\xa0\x80\n", 6, "the byte 0xed is not valid in UTF-8 text"),
        (SPEC.encode("utf-16"), 1, "the byte 0xff is not valid in UTF-8 text"),
        (f"{SPEC}<<: {{a: 1}}\n".encode(), 6, "unknown key `<<`"),
        (
            f"{SPEC}endpoint: x\n".encode(),
            6,
            "the key `endpoint` is given twice; it is already in line 1",
        ),
        (f"{SPEC}? [a]\n: 1\n".encode(), 6, "a key must be text, not a list or a mapping"),
        (
            f"{SPEC}---\na: 1\n".encode(),
            6,
            "this is not YAML: expected a single document in the stream that begins",
        ),
    ],
)
def test_bytes_that_are_told_by_their_line(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    (finding,) = found_in(tmp_path, content)
    assert finding.line == line
    assert finding.message.startswith(message)


@pytest.mark.parametrize(("escape", "code"), [("\\ud800", "FL104"), ("\\U00110000", "FL101")])
def test_escapes_of_no_character_without_libyaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, escape: str, code: str
) -> None:
    monkeypatch.setattr(reader, "LOADER", yaml.SafeLoader)
    (finding,) = found_in(tmp_path, f'{SPEC}a: "{escape}"\n')
    assert finding.code == code


def test_values_that_are_not_kept_are_read_to_their_end(tmp_path: Path) -> None:
    content = f"{SPEC}endpoint: {{a: [1, {{b: 0x1}}]}}\n? {{a: [1]}}\n: [2, {{c: 3}}]\nwrong: 0o7\n"
    rows = [(finding.code, finding.line) for finding in found_in(tmp_path, content)]
    assert rows == [("FL102", 6), ("FL103", 7), ("FL106", 9)]


@pytest.mark.parametrize("key", ["repository: a\\0", "engines: [{model: a, onnx: b\\0}]"])
def test_paths_with_a_nul(folder: FleetFolder, key: str) -> None:
    name, _, value = key.partition(": ")
    quoted_value = value if value.startswith("[") else f'"{value}"'
    archive = f"archive: sentences, {name}: {quoted_value}".replace("b\\0", '"b\\0"')
    archive += "" if name == "repository" else ", repository: ../repository"
    folder.spec(base=SPEC.replace("archive: sentences, repository: ../repository", archive))
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 5)
