"""The Triton release of the image that this machine stands in for, as its stand-ins learn it."""

from __future__ import annotations

RELEASE = "TRITON_FLEET_RELEASE"
"""The variable of the server process; without it the release is that of this machine's own Triton."""
