"""An embedded AWS in front of a gateway that answers every invocation, and requests that are made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS


def _answer(_environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [])
    return [b"{}"]


@contextmanager
def running_gateway() -> Iterator[EmbeddedAws]:
    """It forgets everything at its end."""
    aws = EmbeddedAws(RecordingHost(), _answer, keys=KEYS)
    aws.start()
    try:
        yield aws
    finally:
        aws.stop()


def ask(
    aws: EmbeddedAws, method: str, path: str, headers: dict[str, str], body: str | Iterator[bytes] = ""
) -> tuple[int, str]:
    """The status and the text of the answer to these headers and no others; an iterator is sent in chunks."""
    place = urlsplit(aws.url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=10)
    try:
        connection.request(method, path, body, headers, encode_chunked=not isinstance(body, str))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
