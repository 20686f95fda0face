"""State of the local fleet that is damaged, or names somebody else's process: said as such, and never signalled."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from triton_fleet.awsapi.emulator import Keys
from triton_fleet.findings import CannotRunError
from triton_fleet.local.session import stop_supervisor
from triton_fleet.local.state import LocalState, Supervisor

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
WHOLE = '{"pid": 7, "url": "http://localhost:9", "account": "123456789012", "region": "us-east-1"}'


@pytest.fixture
def state(tmp_path: Path) -> LocalState:
    return LocalState(tmp_path)


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing, with further arguments on its command line."""
    with subprocess.Popen([*SLEEP, *arguments]) as running_process:
        try:
            yield running_process
        finally:
            running_process.kill()


def supervisor(pid: int) -> Supervisor:
    location = {"url": "http://localhost:9", "account": "123456789012", "region": "us-east-1"}
    return Supervisor(pid=pid, keys=Keys.random(), **location)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        WHOLE[:40].encode(),
        WHOLE.replace('"pid": 7, ', "").encode(),
        WHOLE.replace("7", '"seven"').encode(),
        WHOLE.replace("7", "-7").encode(),
        WHOLE.replace('"http://localhost:9"', "9").encode(),
        b"null",
        b"[]",
        b"\xff",
    ],
)
def test_a_damaged_file_is_told_with_what_ends_the_process(state: LocalState, content: bytes) -> None:
    with (
        state.hold_lock(threading.Event()),
        process("-m", "triton_fleet.local", str(state.root)) as supervisor_process,
    ):
        (state.folder / "supervisor.json").write_bytes(content)
        for look in (state.supervisor, lambda: stop_supervisor(state)):
            with pytest.raises(CannotRunError) as refusal:
                look()
            assert refusal.value.problem.startswith(f"{state.folder}/supervisor.json is damaged (")
            assert (
                refusal.value.remedy == f"`kill {supervisor_process.pid}` ends it; then run `fleet local up`"
            )
        assert supervisor_process.poll() is None


def test_the_process_of_somebody_else_is_not_signalled(state: LocalState) -> None:
    with state.hold_lock(threading.Event()), process() as stranger:
        state.announce(supervisor(stranger.pid))
        with pytest.raises(
            CannotRunError, match=f"it names process {stranger.pid}, which is not the local fl"
        ):
            stop_supervisor(state)
        assert stranger.poll() is None


def test_the_process_of_another_clone_is_not_signalled(state: LocalState, tmp_path: Path) -> None:
    with (
        state.hold_lock(threading.Event()),
        process("-m", "triton_fleet.local", str(tmp_path / "other")) as theirs,
    ):
        state.announce(supervisor(theirs.pid))
        with pytest.raises(CannotRunError, match="which is not the local fleet's"):
            stop_supervisor(state)
        assert theirs.poll() is None


def test_a_number_that_nobody_has_any_more_is_told(state: LocalState) -> None:
    with process() as first_process:
        first_process.kill()
    with state.hold_lock(threading.Event()):
        state.announce(supervisor(first_process.pid))
        with pytest.raises(CannotRunError, match=f"it names process {first_process.pid}, which is not"):
            stop_supervisor(state)


def test_what_a_killed_process_left_is_not_taken_for_its_successors(state: LocalState) -> None:
    """Whoever has the number now is not signalled."""
    with process() as second_process:
        state.folder.mkdir(parents=True)
        state.announce(supervisor(second_process.pid))
        assert stop_supervisor(state) is False
        with state.hold_lock(threading.Event()):
            assert state.supervisor() is None
        assert second_process.poll() is None


def test_a_file_that_is_gone_is_told_by_down(state: LocalState) -> None:
    with (
        state.hold_lock(threading.Event()),
        process("-m", "triton_fleet.local", str(state.root)) as supervisor_process,
    ):
        with pytest.raises(CannotRunError, match=r"supervisor.json does not exist") as refusal:
            stop_supervisor(state)
        assert f"`kill {supervisor_process.pid}`" in refusal.value.remedy
        assert supervisor_process.poll() is None


def test_its_own_process_is_ended(state: LocalState) -> None:
    with (
        state.hold_lock(threading.Event()),
        process("-m", "triton_fleet.local", str(state.root), "5") as own,
    ):
        state.announce(supervisor(own.pid))
        assert stop_supervisor(state) is True
        assert own.poll() is not None


def left_by_a_killed_process(state: LocalState) -> list[Path]:
    """The unpacked archive of an endpoint, temporary files, and who ran."""
    work = state.work / "sentences" / "config-1" / "model.bin"
    temporary = state.temporary / "fleet-function-1" / "handler.py"
    for file in (work, temporary):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"left")
    state.announce(supervisor(1))
    return [work, temporary, state.supervisor_file, state.keys_file]


def test_what_a_killed_process_left_goes_with_down(state: LocalState) -> None:
    remaining_paths = left_by_a_killed_process(state)
    assert stop_supervisor(state) is False
    state.clean()
    assert not any(file.exists() for file in remaining_paths)
    assert not state.work.exists()


def test_what_a_killed_process_left_goes_with_the_next_up(state: LocalState) -> None:
    remaining_paths = left_by_a_killed_process(state)
    with state.hold_lock(threading.Event()):
        assert not any(file.exists() for file in remaining_paths)
        assert list(state.temporary.iterdir()) == []


def test_what_a_running_process_has_stays_until_it_ends(state: LocalState, tmp_path: Path) -> None:
    other_state = LocalState(tmp_path / "other")
    other_state.root.mkdir()
    with state.hold_lock(threading.Event()):
        with other_state.hold_lock(threading.Event()):
            for item in (state, other_state):
                (item.work / "sentences").mkdir(parents=True)
            state.clean()
            assert state.work.exists()
            assert state.temporary.exists()
        assert not other_state.work.exists()
        assert state.work.exists()
    assert not state.work.exists()


def test_down_makes_no_folder_where_nothing_ever_ran(state: LocalState) -> None:
    state.clean()
    assert list(state.root.iterdir()) == []


def test_nobody_else_reads_the_logs_and_the_folders_of_a_fleet(state: LocalState) -> None:
    old = state.root / ".fleet" / "local" / "logs" / "aws.log"
    old.parent.mkdir(parents=True, mode=0o755)
    old.write_text("of an earlier version\n")
    logs = [state.log("aws"), state.deploy_log("sentences"), state.endpoint_log("sentences")]
    assert logs[0] == old
    assert old.read_text()
    for path in (state.root / ".fleet").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert (state.root / ".fleet").stat().st_mode & 0o777 == 0o700
