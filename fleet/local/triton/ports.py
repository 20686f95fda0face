"""Free TCP ports for a server that opens them itself."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from random import SystemRandom

from fleet.local.hosting import HostingError


def free_ports(count: int, among: range | None = None) -> list[int]:
    """That many different ports on which nobody listens now; somebody may be faster to use them.

    Args:
        count: How many.
        among: Where they must lie; tried in a random order, so that two who look rarely find the same.

    Raises:
        HostingError: fewer than that are free there.
    """
    candidates = [0] * count if among is None else SystemRandom().sample(among, len(among))
    found: list[int] = []
    with ExitStack() as sockets:
        for port in candidates:
            if len(found) == count:
                break
            each = sockets.enter_context(socket.socket())
            with suppress(OSError):
                each.bind(("", port))
                found.append(int(each.getsockname()[1]))
    if len(found) < count:
        where = f"of {among[0]} to {among[-1]} " if among else ""
        raise HostingError(f"{len(found)} ports {where}are free on this machine, and {count} are needed")
    return found
