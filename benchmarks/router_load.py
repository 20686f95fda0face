"""Load by wrk, and the memory of processes under it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

SECONDS_BETWEEN_SAMPLES = 0.01
_SCRIPT = """\
wrk.method = "POST"
local file = io.open(BODY, "rb")
wrk.body = file:read("*a")
file:close()
HEADERS
done = function(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\n{"requests": %d, "microseconds": %d, "median": %d, "failed": %d}\\n',
    summary.requests, summary.duration, latency:percentile(50), failed))
end
"""


@dataclass(frozen=True)
class Request:
    """What wrk sends, again and again."""

    url: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Load:
    """What one run of wrk found."""

    requests_per_second: float
    median_ms: float


def missing_wrk() -> str | None:
    """What to install where there is no wrk."""
    return None if shutil.which("wrk") else "wrk is not installed (Debian, Ubuntu: apt install wrk)"


def run_wrk(request: Request, *, connections: int, seconds: float) -> Load:
    """Send a request on some connections, one after the other on each.

    Raises:
        AssertionError: a request failed, or none was answered.
    """
    with tempfile.TemporaryDirectory() as folder:
        body, script = Path(folder) / "body", Path(folder) / "script.lua"
        body.write_bytes(request.body)
        headers = (
            f"wrk.headers[{json.dumps(key)}] = {json.dumps(text)}" for key, text in request.headers.items()
        )
        script.write_text(
            _SCRIPT.replace("BODY", json.dumps(str(body))).replace("HEADERS", "\n".join(headers))
        )
        command = ["wrk", "--threads=1", f"--connections={connections}", f"--duration={seconds}s"]
        command += ["--timeout=60s", f"--script={script}", request.url]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["failed"] or not found["requests"]:
        raise AssertionError(f"{request.url}: {done.stdout}")
    return Load(1e6 * found["requests"] / found["microseconds"], found["median"] / 1000)


class SampledMemory:
    """The most resident memory that processes had together inside of a `with`, in bytes."""

    def __init__(self, processes: Sequence[psutil.Process]) -> None:
        self._processes = processes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.base = self.most = self._resident()

    def __enter__(self) -> SampledMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_SAMPLES):
            self.most = max(self.most, self._resident())

    def _resident(self) -> int:
        return sum(process.memory_info().rss for process in self._processes)
