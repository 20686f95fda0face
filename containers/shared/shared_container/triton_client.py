"""Calls to Triton on loopback."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Sequence
from contextlib import closing

from .settings import LOOPBACK

SECONDS_BETWEEN_CALLS = 0.2
_SECONDS = 2.0
"""Short, as a stop waits for the last scrape."""


def get(port: int, path: str) -> tuple[int, bytes]:
    """Status and body of a GET.

    Raises:
        OSError: there is no answer; for what is not HTTP http.client.HTTPException.
    """
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=_SECONDS)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def is_ready(port: int, model: str, version: str) -> bool:
    """Whether a version of a model is loaded."""
    try:
        return get(port, f"/v2/models/{model}/versions/{version}/ready")[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def wait_ready(
    port: int, models: Sequence[tuple[str, str]], stopped: threading.Event, ready: Callable[[], None]
) -> None:
    """Call `ready` when every model and version was ready once; return earlier when `stopped` is set."""
    missing = list(models)
    while not stopped.is_set():
        missing = [each for each in missing if not is_ready(port, *each)]
        if not missing:
            ready()
            return
        stopped.wait(SECONDS_BETWEEN_CALLS)
