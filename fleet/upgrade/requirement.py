"""What pip is asked to install for the VERSION of an upgrade."""

from __future__ import annotations

import re
from pathlib import Path

_VERSION = re.compile(
    r"""v?(\d+!)?\d+(\.\d+)*                    # epoch and release
    ([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?
    (-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?
    ([-_.]?dev[-_.]?\d*)?
    (\+[a-z0-9]+([-_.][a-z0-9]+)*)?             # local version""",
    re.VERBOSE | re.IGNORECASE,
)


def requirement(version: str) -> str:
    """A requirement of triton-fleet, and never of another package of the index.

    Args:
        version: A version as PEP 440 defines it, a path that exists, or a URL.

    Raises:
        ValueError: it is none of these.
    """
    if _VERSION.fullmatch(version):
        return f"triton-fleet=={version.lower().removeprefix('v')}"
    if "://" in version:
        return f"triton-fleet @ {version}"
    if version and Path(version).exists():
        return f"triton-fleet @ {Path(version).resolve().as_uri()}"
    raise ValueError(
        f'"{version}" is not a version, a path that exists or a URL; write one such as 0.3.0, '
        "dist/triton_fleet-0.3.0-py3-none-any.whl or https://example.com/triton_fleet-0.3.0-py3-none-any.whl"
    )
