"""An embedded AWS that runs, over a host that only remembers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


@contextmanager
def running_aws(
    host: RecordingHost | None = None,
    headers: Mapping[str, str] | None = None,
    gateway: WSGIApplication | None = None,
) -> Iterator[EmbeddedAws]:
    """It forgets everything at its end; without a host it has one of its own."""
    aws = EmbeddedAws(host or RecordingHost(), gateway, keys=KEYS, headers=headers)
    aws.start()
    try:
        yield aws
    finally:
        aws.stop()
