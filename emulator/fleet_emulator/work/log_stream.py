"""The output of builds and jobs, in the embedded CloudWatch Logs."""

from __future__ import annotations

import time

from moto.logs.models import logs_backends

from fleet_emulator.state_lock import turn


class LogStream:
    """One stream, made with its group where there is none; each call takes a turn."""

    def __init__(self, account: str, region: str, *, group: str, stream: str) -> None:
        self.group, self.stream = group, stream
        self._backend = logs_backends[account][region]
        with turn():
            self._backend.ensure_log_group(group)
            self._backend.ensure_log_stream(group, stream)

    def write(self, line: str) -> None:
        """Add a line as an event of now; CloudWatch Logs takes no empty one."""
        event = {"timestamp": int(time.time() * 1000), "message": line or " "}
        with turn():
            self._backend.put_log_events(self.group, self.stream, [event])
