"""Starts a command whose process group never outlives this process, however this process ends."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, cast

# The command begins once its guard watches: if this process ends before, the pipe breaks and nothing begins.
_START = 'read -r _ && exec "$@" </dev/null'
# The pipe breaks when this process ends, even by SIGKILL. Linux's own "signal on the parent's death" will not
# do: it treats the thread that started the child as the parent.
_GUARD = (
    'read -r _; [ "$3" = 0 ] || { kill -s TERM -- "-$1"; sleep "$3"; }; kill -s KILL -- "-$1";'
    ' [ -z "$2" ] || rm -f -- "$2"*'
)


def start_with_guard(
    command: Sequence[str], *, leaves: str = "", grace: int = 0, **options: Any
) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """Start a command in a session of its own, without input; the second process returned is its guard.

    Once the group is gone its guard has to be killed: the group's number may be given to other processes.

    Args:
        command: what is run; a missing program ends with status 127, as in a shell.
        leaves: how the paths of the files begin that the guard removes after the group; none if empty.
        grace: how many seconds the guard gives the group to end by itself.
        options: further arguments of `subprocess.Popen`.
    """
    process = subprocess.Popen(
        ["/bin/sh", "-c", _START, "start", *command],
        stdin=subprocess.PIPE,
        start_new_session=True,
        **options,
    )
    guard = subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "guard", str(process.pid), leaves, str(grace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as stdin:
        stdin.write(b"\n")
    return process, guard
