"""The container hears a signal whatever its main thread is doing."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, queue, signal, sys, threading
from shared_container.supervisor import pass_signals_to

number = signal.Signals[sys.argv[1]]
events = queue.SimpleQueue()
pass_signals_to(events.put)
is_blocked = threading.Event()

def ask_to_end():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    is_blocked.wait()
    os.kill(os.getpid(), number)

threading.Thread(target=ask_to_end, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [number])  # as between its last instruction and the call that blocks
is_blocked.set()
print(events.get().name)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_the_main_thread_cannot_handle_now_is_an_event_at_once(name: str) -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT, name], capture_output=True, text=True, timeout=60)
    assert run.stdout == f"{name}\n", run.stderr
