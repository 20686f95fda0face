"""A file that is being written when its writer is killed: the old one or the new one, and nothing beside it."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from triton_fleet.core.files import replace_file

WRITER = """\
import os, signal, sys
from pathlib import Path
from triton_fleet.core.files import replace_file
left = int(sys.argv[2])
def kill(event, _):
    global left
    if event == "open" or event.startswith(("os.", "fcntl.")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
replace_file(Path(sys.argv[1]), "new")
"""
MAX_STEPS = 20


def write_until_death(file: Path, step: int) -> bool:
    """Write in a process that is killed before its nth call of the system; whether it was."""
    process = subprocess.run([sys.executable, "-c", WRITER, str(file), str(step)], check=False)
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode != 0


def test_a_kill_at_any_step_leaves_the_old_or_the_new_file_and_the_next_write_nothing_else(
    tmp_path: Path,
) -> None:
    file = tmp_path / "locks" / "any.lock.yaml"
    for step in range(1, MAX_STEPS):
        replace_file(file, "old")
        has_died = write_until_death(file, step)
        assert file.read_text() in ("old", "new")
        replace_file(file, "newer")
        assert [path.name for path in file.parent.iterdir()] == [file.name]
        if not has_died:
            break
    assert 3 < step < MAX_STEPS - 1


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_has_its_mode_whatever_was_there(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "any"
    file.write_text("half")
    file.chmod(0o666)
    replace_file(file, "all", mode=mode)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("all", mode)


def test_writers_at_one_time_leave_the_file_of_one_of_them(tmp_path: Path) -> None:
    file = tmp_path / "any"
    texts = [str(number) * 1000 for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: replace_file(file, text), texts))
    assert file.read_text() in texts
    replace_file(file, "last")
    assert [path.name for path in tmp_path.iterdir()] == ["any"]


def test_what_only_looks_like_a_draft_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / ".any.link.draft").symlink_to(tmp_path / "theirs")
    (tmp_path / ".any.folder.draft").mkdir()
    (tmp_path / ".another.x.draft").write_text("kept")
    before = set(tmp_path.iterdir())
    replace_file(tmp_path / "any", "all")
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "any"}
    assert (tmp_path / "theirs").read_text() == "kept"
