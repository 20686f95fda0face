"""The text for a person: the message, the line that is meant with carets under it, the hint, the sum."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.human import show_findings, sum_of


def finding(
    file: Path | None = None, line: int | None = None, column: int | None = None, **more: str
) -> Finding:
    message, hint = more.get("message", "unknown key"), more.get("hint", "")
    return Finding(code="FL110", message=message, hint=hint, file=file, line=line, column=column)


def human_lines(capsys: pytest.CaptureFixture[str], *findings: Finding) -> list[str]:
    """The lines without the sum."""
    show_findings(findings)
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.splitlines()[:-1]


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "spec.yaml"


def carets(capsys: pytest.CaptureFixture[str], file: Path, line: int, column: int | None) -> str:
    """The text above the carets."""
    _, source, marks = human_lines(capsys, finding(file, line, column))
    start = marks.index("^")
    return source[start : start + marks.count("^")]


def test_the_line_is_shown_with_its_number_and_carets_under_the_token(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text("endpoint: sentences\nscalling: {}\n")
    assert human_lines(capsys, finding(spec, 2, 1, hint="did you mean `scaling`?")) == [
        "spec.yaml:2:1: error[unknown-key] FL110: unknown key",
        "  2 | scalling: {}",
        "    | ^^^^^^^^",
        "  hint: did you mean `scaling`?",
    ]


@pytest.mark.parametrize(
    ("text", "column", "token"),
    [
        ("triton: 25.04 # the last", 1, "triton"),
        ("triton: 25.04 # the last", 9, "25.04"),
        ("  repository: s3://bucket/key#1,2", 15, "s3://bucket/key#1"),
        ('account: "1111: 2222" # dev', 10, '"1111: 2222"'),
        ("name: 'it''s' # one", 7, "'it''s'"),
        ("- {archive: [a, '}'], copies: 2} # set", 3, "{archive: [a, '}'], copies: 2}"),
        ("models: [{archive: a}, {archive: b}]", 10, "{archive: a}"),
        ("models: [a,", 9, "["),
        ('name: "open', 7, '"open'),
        ("a: }", 4, "}"),
        ("ünïcödé: 1", 1, "ünïcödé"),
    ],
)
def test_the_carets_end_where_the_key_or_value_ends(
    spec: Path, capsys: pytest.CaptureFixture[str], text: str, column: int, token: str
) -> None:
    spec.write_text(f"{text}\n")
    assert carets(capsys, spec, 1, column) == token


def test_what_is_about_a_whole_file_shows_no_line_of_it(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text("endpoint: a\n")
    assert len(human_lines(capsys, finding(spec, 1))) == 1


def test_a_column_beyond_the_line_gets_one_caret_behind_it(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text("a: 1\n")
    assert human_lines(capsys, finding(spec, 1, 99))[1:] == ["  1 | a: 1", "    |     ^"]


def test_each_finding_of_one_line_has_its_own_excerpt(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text("a: 1\n")
    assert human_lines(capsys, finding(spec, 1, 1), finding(spec, 1, 4)) == [
        "spec.yaml:1:1: error[unknown-key] FL110: unknown key",
        "  1 | a: 1",
        "    | ^",
        "spec.yaml:1:4: error[unknown-key] FL110: unknown key",
        "  1 | a: 1",
        "    |    ^",
    ]


def test_carets_stand_right_behind_tabs_and_wide_characters(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text("\t名前: 値段 # x\n")
    _, source, marks = human_lines(capsys, finding(spec, 1, 6))
    assert source == "  1 |     名前: 値段 # x"
    assert cell_len(source[: source.index("値")]) == marks.index("^")
    assert marks.count("^") == cell_len("値段")


def test_a_line_with_a_secret_is_not_printed_whatever_else_is_wrong_there(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text("environment: {TYPO: 1, HF_TOKEN: hf_secret}\nnext: 1\n")
    message = "HF_TOKEN holds a secret"
    secret = Finding(code="FL242", message=message, file=spec, line=1, column=24, confidential=True)
    lines = human_lines(capsys, finding(spec, 1, 15), secret, finding(spec, 2, 1))
    assert [line for line in lines if " | " in line] == ["  2 | next: 1", "    | ^^^^"]


def test_a_hostile_file_cannot_drive_the_terminal(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text("a: \x1b[2J\x1b]0;owned\x07\u202e\u200b[red]x[/red] :smile:\n")
    message = "bad \x1b[31m[bold]value[/bold]\r1 error, 0 warnings"
    lines = human_lines(capsys, finding(spec, 1, 1, message=message, hint="no\x9b1m\n0 errors, 0 warnings"))
    assert lines == [
        r"spec.yaml:1:1: error[unknown-key] FL110: bad \x1b[31m[bold]value[/bold]\r1 error, 0 warnings",
        r"  1 | a: \x1b[2J\x1b]0;owned\x07\u202e\u200b[red]x[/red] :smile:",
        "    | ^",
        r"  hint: no\x9b1m",
        "    | 0 errors, 0 warnings",
    ]


def test_a_hostile_file_name_is_escaped(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = Path(os.fsdecode(b"spec\x1b[2J\xff.yaml"))
    odd.write_text("a: 1\n")
    lines = human_lines(capsys, finding(odd, 1, 1))
    assert lines[:2] == [r"spec\x1b[2J\udcff.yaml:1:1: error[unknown-key] FL110: unknown key", "  1 | a: 1"]


@pytest.mark.parametrize("column", [1, 500, 3995])
def test_a_long_line_is_cut_around_the_caret(
    spec: Path, capsys: pytest.CaptureFixture[str], column: int
) -> None:
    words = [f"word{number:03}" for number in range(500)]
    spec.write_text(" ".join(words) + "\n")
    _, source, marks = human_lines(capsys, finding(spec, 1, column))
    start = marks.index("^")
    assert cell_len(source) <= 120
    assert source[start : start + marks.count("^")] == " ".join(words)[column - 1 :].split(" ")[0]
    assert source.startswith("  1 | …") is (column > 1)
    assert source.endswith("…") is (column < 3990)


def test_a_long_value_is_cut_itself(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(f'a: "{"値" * 5000}"\n')
    _, source, marks = human_lines(capsys, finding(spec, 1, 4))
    assert max(cell_len(source), len(marks)) <= 120


def test_a_terminal_s_width_is_kept(
    spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    spec.write_text(f"{'x' * 100} {'y' * 10} {'z' * 100}\n")
    _, source, marks = human_lines(capsys, finding(spec, 1, 102))
    assert "y" * 10 in source
    assert {cell_len(line) <= 40 for line in map(_without_style, (source, marks))} == {True}


def _without_style(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def test_colours_are_for_terminals(
    spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec.write_text("a: 1\n")
    message = "word " * 100
    assert not any("\x1b" in line for line in human_lines(capsys, finding(spec, 1, 1, message=message)))
    assert len(human_lines(capsys, finding(spec, 1, 1, message=message))) == 3, "nothing is wrapped"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert any("\x1b[1;31m" in line for line in human_lines(capsys, finding(spec, 1, 1)))


@pytest.mark.parametrize("what", ["gone", "directory", "latin-1", "pipe", "link to itself", "blank", "short"])
def test_what_cannot_be_shown_is_told_without_an_excerpt(
    spec: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    match what:
        case "directory":
            spec.mkdir()
        case "latin-1":
            spec.write_bytes("a: ü\n".encode("latin-1"))
        case "pipe":
            os.mkfifo(spec)
        case "link to itself":
            spec.symlink_to(spec)
        case "blank":
            spec.write_text("   \n")
        case "short":
            spec.write_text("")
    assert human_lines(capsys, finding(spec, 1, 1)) == [
        "spec.yaml:1:1: error[unknown-key] FL110: unknown key"
    ]


def test_of_a_huge_file_only_the_beginning_is_read(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with spec.open("wb") as stream:
        stream.write(b"a: 1\nb: 2\n")
        stream.truncate(1 << 40)  # a sparse file: nobody could read it
    assert human_lines(capsys, finding(spec, 2, 1))[1] == "  2 | b: 2"
    assert len(human_lines(capsys, finding(spec, 3, 1))) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_lines_are_counted_as_yaml_counts_them(
    spec: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    spec.write_bytes(f"\ufeffa: 1{end}b: 2{end}".encode())
    assert human_lines(capsys, finding(spec, 2, 1))[1:] == ["  2 | b: 2", "    | ^"]


def test_a_finding_without_a_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert human_lines(capsys, finding()) == ["error[unknown-key] FL110: unknown key"]


@pytest.mark.parametrize(
    ("errors", "warnings", "message"),
    [
        (0, 0, "0 errors, 0 warnings"),
        (1, 0, "1 error, 0 warnings"),
        (0, 1, "0 errors, 1 warning"),
        (2, 2, "2 errors, 2 warnings"),
    ],
)
def test_the_sum_counts_each_severity(errors: int, warnings: int, message: str) -> None:
    severities = [Severity.ERROR] * errors + [Severity.WARNING] * warnings
    assert (
        sum_of([Finding(code="FL110", message="m", severity=severity) for severity in severities]) == message
    )
