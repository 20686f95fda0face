"""How a Triton or a process of one of its models ended, in words.

The kernel's OOM killer sends SIGKILL and writes to the kernel's log alone: the process that started Triton
gets no notice. So a SIGKILL that the local fleet did not send is explained as the OOM killer's.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import psutil

OUT_OF_MEMORY = (
    "give this machine more memory, end other programs, or deploy fewer or smaller models; `dmesg` names what"
    " the kernel has ended"
)
"""The remedy."""
_EXIT_CODE = 49
"""Of the fields after the name in /proc/PID/stat; source: proc_pid_stat(5), field 52."""


def described_end(code: int) -> str:
    """A process's end as the end of a sentence that begins with its name.

    Args:
        code: Its exit code; that of a signal is negative, as subprocess has it.
    """
    if code >= 0:
        return f"ended with exit code {code}"
    if -code == signal.SIGKILL:
        return f"was ended by SIGKILL, probably by the kernel, which was out of memory ({OUT_OF_MEMORY})"
    known = {Signal.value for Signal in signal.Signals}
    return f"was ended by {signal.Signals(-code).name if -code in known else f'signal {-code}'}"


def ended_models(server: int) -> Mapping[int, str]:
    """How processes of models ended that a tritonserver has not taken notice of, by their pids."""
    models: dict[int, str] = {}
    try:
        children = psutil.Process(server).children()
    except psutil.Error:
        return models
    for child in children:
        try:
            if child.status() == psutil.STATUS_ZOMBIE:
                models[child.pid] = described_end(_exit_code(child.pid))
        except (psutil.Error, OSError):
            continue  # Triton has taken notice meanwhile
    return models


def _exit_code(zombie: int) -> int:
    status = int(Path(f"/proc/{zombie}/stat").read_text().rpartition(") ")[2].split()[_EXIT_CODE])
    return -(status & 0x7F) if status & 0x7F else status >> 8
