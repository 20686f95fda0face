"""Commands of `fleet` that are killed at a random moment, with what they had started."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import psutil
import pytest

KILLS = int(os.environ.get("FLEET_KILLS", "0"))
"""How many kills a test makes."""
needs_kills = pytest.mark.skipif(not KILLS, reason="a command for each kill: FLEET_KILLS=30 runs it")
SEED = int(os.environ.get("FLEET_SEED", random.SystemRandom().randrange(1 << 32)))
GUARD = "guard"
"""The argument by which the process is known that ends the CDK CLI with its command."""


class Victims(StrEnum):
    """The processes that are killed."""

    WHOLE_GROUP = "the command and all that it started"
    COMMAND = "the command alone: its guard is left to end the CDK CLI"
    COMMAND_AND_GUARD = "the command and its guard: nobody is left to end the CDK CLI"


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset({"os.chmod", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "tempfile.mkstemp"})
"""Audit events of Python that precede a change of a file."""
Step: TypeAlias = Callable[[str, tuple[Any, ...]], bool]
"""Whether an audit event of Python, with its arguments, is a step of an action."""


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One kill, at a share of the time that the command takes."""

    share: float
    victims: Victims

    def __str__(self) -> str:
        """For the message of a test that fails."""
        return f"killed at {self.share:.3f} of its time (FLEET_SEED={SEED}): {self.victims}"


@dataclass
class Tally:
    """How the commands after the kills ended."""

    continuations: int = 0
    instructions: list[str] = field(default_factory=list)
    ended_before: int = 0

    def __str__(self) -> str:
        """For a report."""
        text = "".join(f"\n  {line}" for line in self.instructions)
        return (
            f"seed {SEED}: {self.continuations} continued at once, {len(self.instructions)} said what to do,"
            f" {self.ended_before} had ended before they were killed{text}"
        )


def kills(kinds: Sequence[Victims], count: int = KILLS) -> Iterator[Kill]:
    """So many kills, spread evenly over the command's time, in any order, each kind as often."""
    chance = random.Random(SEED)
    shares = [(index + chance.random()) / count for index in range(count)]
    chance.shuffle(shares)
    for index, share in enumerate(shares):
        yield Kill(share=share, victims=kinds[index % len(kinds)])


def kill_after(process: subprocess.Popen[str], seconds: float, victims: Victims) -> str:
    """Kill a command that was started `seconds` ago; what it said before."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    for item in _victims(process, victims):
        with suppress(psutil.NoSuchProcess):
            item.kill()
    text, _ = process.communicate(timeout=60)
    assert "Traceback" not in text, text
    return text


def has_died(process: subprocess.Popen[str]) -> bool:
    """Whether it had not ended by itself."""
    return process.returncode == -signal.SIGKILL


def is_change(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an audit event precedes a change of a file."""
    is_written = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
    return event in _CHANGES or bool(is_written)


def sent_to(url: str) -> Step:
    """The audit events that precede a part of an HTTP request to a server: its head, its body."""
    port = urlsplit(url).port
    return lambda event, arguments: event == "http.client.send" and arguments[0].port == port


def ends_before_step(action: Callable[[], object], step: int, is_step: Step = is_change) -> bool:
    """Whether an action in a process of its own ended before its n-th step; else it was killed there."""
    child = os.fork()
    if child == 0:
        countdown = step

        def kill(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal countdown
            if is_step(event, arguments):
                countdown -= 1
                if countdown == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), status
    return status == 0


def _victims(process: subprocess.Popen[str], victims: Victims) -> list[psutil.Process]:
    """The processes to kill; the command stands still meanwhile, so that nothing is started unseen."""
    if process.poll() is not None:
        return []
    command = psutil.Process(process.pid)
    command.suspend()
    if victims is Victims.COMMAND:
        return [command]
    children = command.children(recursive=True)
    if victims is Victims.WHOLE_GROUP:
        # The guard first: it would do the rest.
        return [*filter(_is_guard, children), command, *children]
    return [*filter(_is_guard, children), command]


def _is_guard(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return GUARD in process.cmdline()
    return False


def wait_for(file: Path, process: subprocess.Popen[bytes] | None) -> str:
    """The text of a file that a process writes."""
    pause = threading.Event()
    while not file.exists():
        assert process is None or process.poll() is None
        pause.wait(0.01)
    return file.read_text()
