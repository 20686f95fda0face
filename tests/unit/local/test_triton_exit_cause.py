"""The end of a process is said in words; a kill that nobody here sent is taken for the OOM killer's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from triton_fleet.local.triton.failure import OUT_OF_MEMORY, described_end, ended_models

KILL_MESSAGE = f"was ended by SIGKILL, probably by the kernel, which was out of memory ({OUT_OF_MEMORY})"
PARENT = """
import subprocess, sys, threading
child = subprocess.Popen(["/bin/sh", "-c", sys.argv[1]])
print(child.pid, flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-signal.SIGKILL, KILL_MESSAGE),
        (-signal.SIGSEGV, "was ended by SIGSEGV"),
        (-250, "was ended by signal 250"),
        (0, "ended with exit code 0"),
        (3, "ended with exit code 3"),
    ],
)
def test_an_exit_code_is_said_in_words(code: int, words: str) -> None:
    assert described_end(code) == words


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("command", "words"), [("kill -KILL $$", KILL_MESSAGE), ("exit 3", "ended with exit code 3")]
)
def test_a_child_that_nobody_has_waited_for_is_found_with_its_end(command: str, words: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, command], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child, pause = int(parent.stdout.readline()), threading.Event()
        assert any(ended_models(parent.pid) or pause.wait(0.02) for _ in range(500))
        assert ended_models(parent.pid) == {child: words}
        parent.kill()


def test_a_server_that_is_gone_has_no_models() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert ended_models(process.pid) == {}
    assert ended_models(os.getpid()) == {}
