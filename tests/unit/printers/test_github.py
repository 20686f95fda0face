"""Annotations of a pull request: what GitHub shows of them, and what only the log has."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.made_findings import different, missing_lock
from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.github import ANNOTATIONS, MAX_MESSAGE, as_github


def at_line(finding: Finding, line: int) -> Finding:
    return replace(finding, line=line)


def message_of(command: str) -> str:
    """The lines that GitHub shows of a command."""
    return command.split("::", 2)[2].replace("%0A", "\n").replace("%25", "%")


def test_a_long_list_is_shortened_to_what_the_runner_keeps_and_is_whole_in_the_log(tmp_path: Path) -> None:
    names = tuple(f"endpoint-of-a-team-{number:04}" for number in range(400))
    shared_finding = Finding(
        code="FL112", message="wrong", file=tmp_path / "p.yaml", line=2, column=1, endpoints=names
    )
    missing_findings = [missing_lock(tmp_path, f"endpoint-of-a-team-{number:04}") for number in range(400)]
    command, other_text, group, *log, end = as_github([shared_finding, *missing_findings], tmp_path).split(
        "\n"
    )
    assert group.startswith("::group::")
    assert end == "::endgroup::"
    for text in (command, other_text):
        message = message_of(text)
        assert MAX_MESSAGE * 0.9 < len(message) <= MAX_MESSAGE
        assert re.search(r" and \d+ more, in the log of this step$", message)
    assert log[0].startswith("p.yaml:2:1: error invalid-value (FL112): wrong [endpoint-of-a-team-0000, ")
    assert log[0].endswith("endpoint-of-a-team-0399]")
    assert len(log) == 401
    assert all("(hint: run `fleet lock --env dev" in item for item in log[1:])


@pytest.mark.parametrize("sign", ["x", "ü", "\N{ROCKET}", "%", "\n"])
def test_a_message_that_is_too_long_by_itself_is_in_the_log(tmp_path: Path, sign: str) -> None:
    names = tuple(f"endpoint-{number}" for number in range(2))
    for length in (MAX_MESSAGE // 2 - 30, MAX_MESSAGE - 20, 5000):
        long = Finding(
            code="FL112", message=sign * length, file=tmp_path / "p.yaml", endpoints=names, hint="fix it"
        )
        lines = as_github([long, at_line(long, 3), at_line(long, 4), at_line(long, 5)], tmp_path).split("\n")
        message = message_of(lines[0])
        assert len(message.encode("utf-16-le")) // 2 <= MAX_MESSAGE
        if len((sign * length).encode("utf-16-le")) // 2 > MAX_MESSAGE - 30:
            assert "in the log of this step\nthe same in 3 more places" in message
            assert message.endswith("\n2 endpoints, in the log of this step")
            text = " " if sign == "\n" else sign
            assert lines[2].endswith(f"{text * length} (hint: fix it) [endpoint-0, endpoint-1]")


def test_what_one_list_leaves_of_the_room_the_next_one_has(tmp_path: Path) -> None:
    names = tuple(f"endpoint-of-a-team-{number:04}" for number in range(400))
    shared_finding = Finding(
        code="FL112", message="wrong", file=tmp_path / "p.yaml", line=1, column=1, endpoints=names
    )
    findings = [shared_finding, *(at_line(shared_finding, line) for line in range(2, 5))]
    message = message_of(as_github(findings, tmp_path).split("\n")[0])
    assert MAX_MESSAGE * 0.98 < len(message) <= MAX_MESSAGE


def test_a_cause_is_one_annotation_with_all_its_places(tmp_path: Path) -> None:
    github = as_github([missing_lock(tmp_path, f"e{number}") for number in range(40)], tmp_path)
    assert github.count("::warning ") == 1
    assert all(f"locks/dev/e{number}.lock.yaml" in github for number in range(40))


def test_beyond_what_github_shows_the_last_annotation_says_so_and_the_log_has_the_rest(
    tmp_path: Path,
) -> None:
    findings = [different(tmp_path, number) for number in range(25)]
    lines = as_github(findings, tmp_path).split("\n")
    commands = [line for line in lines if line.startswith("::error")]
    assert len(commands) == ANNOTATIONS
    assert "16 more errors are in the log of this step" in commands[-1]
    begin = next(number for number, line in enumerate(lines) if line.startswith("::group::"))
    assert len(lines[begin + 1 : lines.index("::endgroup::")]) == 16
    assert all(f"`k{number}`" in "\n".join(lines) for number in range(25))


def test_ten_of_each_severity_fit(tmp_path: Path) -> None:
    findings = [different(tmp_path, n, severity) for severity in Severity for n in range(10)]
    assert "::group::" not in as_github(findings, tmp_path)


def test_no_line_of_the_log_is_a_command(tmp_path: Path) -> None:
    findings = [different(tmp_path, number) for number in range(12)]
    findings.append(
        Finding(code="FL110", message="x\n::add-mask::a\r::error::b", file=tmp_path / "z.yaml", line=9)
    )
    lines = as_github(findings, tmp_path).split("\n")
    begin = next(number for number, line in enumerate(lines) if line.startswith("::group::"))
    assert not any("::" in line for line in lines[begin + 1 : lines.index("::endgroup::")])
