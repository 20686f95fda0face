"""Ports for servers of a test."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing

import pytest


@pytest.fixture
def unused_ports() -> list[int]:
    """Two."""
    with ExitStack() as stack:
        servers = [stack.enter_context(closing(socket.socket())) for _ in range(2)]
        for server in servers:
            server.bind(("127.0.0.1", 0))
        return [server.getsockname()[1] for server in servers]
