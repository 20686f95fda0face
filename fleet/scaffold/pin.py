"""How a fleet names the version of triton-fleet that writes its files."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from typing import Any, Protocol

PACKAGE = "triton-fleet"


class Installed(Protocol):
    """What is asked of an installed distribution."""

    @property
    def version(self) -> str:
        """Its version."""

    def read_text(self, filename: str, /) -> str | None:
        """A file of its metadata; None where there is none."""


def own_requirement(extras: str = "", installed: Installed | None = None) -> str:
    """The line of requirements.txt that brings this version again.

    A version of an index is named by its number, one of git by its commit, a file of a server by its
    address. Source: PyPA specification "Recording the Direct URL Origin of installed distributions".

    Args:
        extras: Such as "[local]".
        installed: The distribution; that of this Python environment where none is given.
    """
    found = installed or distribution(PACKAGE)
    origin: Any = json.loads(found.read_text("direct_url.json") or "{}")
    if commit := origin.get("vcs_info", {}).get("commit_id"):
        return f"{PACKAGE}{extras} @ {origin['vcs_info']['vcs']}+{origin['url']}@{commit}"
    if "archive_info" in origin and origin["url"].startswith("https://"):
        return f"{PACKAGE}{extras} @ {origin['url']}"
    return f"{PACKAGE}{extras}=={found.version}"
