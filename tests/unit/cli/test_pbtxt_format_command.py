"""`fleet pbtxt format`: which files it rewrites, and what it only says."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet.cli.commands import app
from fleet.exits import run_to_exit

UGLY, PRETTY = "max_batch_size:8;name:'é'", 'name: "é"\nmax_batch_size: 8\n'


@dataclass
class Command:
    """`fleet pbtxt format` in a folder of its own."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def write(self, file: str, text: str = UGLY) -> Path:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """The exit code, and what is written to standard output and standard error."""
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            run_to_exit(lambda: app(["pbtxt", "format", *arguments], standalone_mode=False))
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = self.capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, monkeypatch, capsys)


def test_files_are_rewritten_and_named_and_others_are_left(command: Command) -> None:
    changed, kept = command.write("a/config.pbtxt"), command.write("b/config.pbtxt", PRETTY)
    before = kept.stat()
    assert command.run("a", "b/config.pbtxt") == (0, "rewrote a/config.pbtxt\n", "")
    assert changed.read_text() == PRETTY
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert command.run() == (0, "nothing to change in 2 files\n", "")


def test_below_folders_hidden_files_other_names_and_links_are_left_out(command: Command) -> None:
    left = [command.write(name) for name in (".hidden/config.pbtxt", "a/.config.pbtxt", "a/labels.txt")]
    target = command.write("../beside.pbtxt")
    (command.root / "link.pbtxt").symlink_to(target)
    (command.root / "loop").symlink_to(command.root)
    found = command.write("a/1/configs/fast.pbtxt")
    assert command.run(".")[1] == "rewrote a/1/configs/fast.pbtxt\n"
    assert found.read_text() == PRETTY
    assert {file.read_text() for file in (*left, target)} == {UGLY}


def test_of_a_link_that_is_named_the_target_is_rewritten_with_its_mode(command: Command) -> None:
    target = command.write("a/config.pbtxt")
    target.chmod(0o640)
    link = command.root / "link"
    link.symlink_to("a/config.pbtxt")
    assert command.run("link", "a")[1] == "rewrote link\n"
    assert link.readlink() == Path("a/config.pbtxt")
    assert (target.read_text(), target.stat().st_mode & 0o777) == (PRETTY, 0o640)
    assert list(target.parent.iterdir()) == [target]


def test_one_file_that_protobuf_refuses_keeps_all_as_they_are(command: Command) -> None:
    good, broken = command.write("a.pbtxt"), command.write("b.pbtxt", 'name: "x"\nplatfrom: "y"\n')
    code, said, problems = command.run(".")
    assert (code, said) == (1, "")
    assert "b.pbtxt:2:1: error[unformattable-config] FL480: " in problems
    assert 'has no field named "platfrom"' in problems
    assert (good.read_text(), broken.read_text()) == (UGLY, 'name: "x"\nplatfrom: "y"\n')


def test_a_check_names_the_files_that_would_change_and_changes_none(command: Command) -> None:
    file = command.write("a.pbtxt")
    command.write("b.pbtxt", PRETTY)
    code, said, problems = command.run("--check")
    assert (code, said, file.read_text()) == (1, "", UGLY)
    assert "a.pbtxt: error[non-canonical-config] FL481: " in problems
    assert "b.pbtxt" not in problems
    assert command.run("--check", "b.pbtxt") == (0, "nothing to change in 1 file\n", "")


def test_a_difference_is_printed_and_nothing_is_changed(command: Command) -> None:
    file = command.write("a.pbtxt")
    expected = (
        "--- a.pbtxt\n+++ a.pbtxt\n@@ -1 +1,2 @@\n-max_batch_size:8;name:'é'\n"
        '\\ No newline at end of file\n+name: "é"\n+max_batch_size: 8\n'
    )
    assert command.run("--diff", "a.pbtxt") == (0, expected, "")
    code, said, problems = command.run("--diff", "--check", "a.pbtxt")
    assert (code, said) == (1, expected)
    assert "FL481" in problems
    assert file.read_text() == UGLY


def test_standard_input_is_written_to_standard_output(command: Command) -> None:
    assert command.run("-", stdin=UGLY.encode()) == (0, PRETTY, "")
    code, said, problems = command.run("-", stdin=b"nme: 'x'")
    assert (code, said) == (1, "")
    assert "-:1:1: error[unformattable-config] FL480: " in problems
    assert command.run("--check", "-", stdin=PRETTY.encode()) == (0, "", "")


def test_a_path_that_leads_nowhere_is_refused(command: Command) -> None:
    code, _, problems = command.run("there.pbtxt", ".")
    assert code == 1
    assert "there.pbtxt: error[missing-config-path] FL483: " in problems


def test_a_file_beyond_a_mebibyte_is_refused_unread(command: Command) -> None:
    file = command.write("a.pbtxt", "#" * (1 << 20) + "\n")
    code, _, problems = command.run()
    assert code == 1
    assert "a.pbtxt: error[oversized-config] FL482: " in problems
    assert file.stat().st_size == (1 << 20) + 1


def test_a_folder_that_cannot_be_written_to_is_told_without_a_traceback(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.write("a.pbtxt")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "a.pbtxt")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert command.run() == (2, "", "cannot run: a.pbtxt: Permission denied\n")
