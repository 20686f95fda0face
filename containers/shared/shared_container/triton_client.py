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
    port: int, models: Sequence[tuple[str, str]], stop_event: threading.Event, ready: Callable[[], None]
) -> None:
    """Call `ready` when every model and version was ready once; return earlier when `stop_event` is set."""
    models_to_ask = list(models)
    while not stop_event.is_set():
        models_to_ask = [model for model in models_to_ask if not is_ready(port, *model)]
        if not models_to_ask:
            ready()
            return
        stop_event.wait(SECONDS_BETWEEN_CALLS)
