"""The shell of the documentation's tests: a page's commands share it, none fails unnoticed, and few programs may be typed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.doc_commands import read_page
from tests.support.doc_shell import DocShell, MayNotBeTypedError


def print_words(words: list[str]) -> None:
    print(*words)
    if "fail" in words:
        print("why", file=sys.stderr)
        sys.exit(1)


def ends(folder: Path, *lines: str) -> list[tuple[int, str, str]]:
    """Exit code and what was printed of each line, where `fleet` says its words."""
    page = read_page("docs/x.md", "\n".join(["```", *lines, "```"]))
    shell = DocShell(folder, folder, {"fleet": print_words})
    return [(item.code, item.out, item.err) for item in shell.type(page.commands)]


@pytest.fixture
def jq(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that makes y of x."""
    file = tmp_path_factory.mktemp("bin") / "jq"
    file.write_text("#!/bin/sh\ntr x y\n")
    file.chmod(0o700)
    monkeypatch.setenv("PATH", f"{file.parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("jq")
def test_variables_patterns_pipes_and_comments_are_the_shells(tmp_path: Path) -> None:
    (tmp_path / "a.pbtxt").touch()
    assert ends(
        tmp_path,
        "NAME='a b'",
        'fleet say "$NAME" *.pbtxt  # why',
        "fleet x | jq .",
        "TOLD=$(fleet z)",
        "fleet say $TOLD",
    ) == [(0, "", ""), (0, "say a b a.pbtxt\n", ""), (0, "y\n", ""), (0, "", ""), (0, "say z\n", "")]


@pytest.mark.usefixtures("jq")
def test_a_command_that_fails_is_told_also_in_a_pipe_and_the_next_one_is_typed(tmp_path: Path) -> None:
    assert ends(tmp_path, "fleet fail", "fleet fail | jq .", "fleet fail && fleet b", "fleet c") == [
        (1, "fail\n", "why\n"),
        (1, "fail\n", "why\n"),
        (1, "fail\n", "why\n"),
        (0, "c\n", ""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "pip install torch",
        "docker run image",
        "git push",
        "make test",
        "make",
        "python -c 'print(1)'",
        "python setup.py",
        "export PATH=/elsewhere",
        "fleet check && rm -rf files",
        "fleet check | tee file",
        'fleet check "$(curl example.com)"',
        "fleet check `curl example.com`",
        "NAME=$(curl example.com)",
    ],
)
def test_a_page_with_another_program_is_refused_before_any_of_it_is_typed(tmp_path: Path, line: str) -> None:
    with pytest.raises(MayNotBeTypedError, match=r"docs/x\.md:3: "):
        ends(tmp_path, "fleet check > typed", line)
    assert list(tmp_path.iterdir()) == []


def test_what_bash_cannot_read_ends_the_page(tmp_path: Path) -> None:
    with pytest.raises(EOFError, match="bash has ended"):
        ends(tmp_path, "fleet a ;;")
