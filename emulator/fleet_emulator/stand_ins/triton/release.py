"""The name of the variable by which stand-ins of backends learn the release of the image.

The server process and the process of a stand-in share it, and the latter imports as little as it can.
"""

from __future__ import annotations

RELEASE_VARIABLE = "TRITON_FLEET_RELEASE"
