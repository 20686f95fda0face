"""Which TensorRT built a plan, by the plan's first bytes.

Source: NVIDIA/TensorRT, samples/common/sampleEngines.cpp, printPlanVersion, in v10.0.0 to v11.1 alike: how
`trtexec --getPlanVersionOnly` shows it without loading the plan. First comes a tag of four bytes, then the
number of the format, 32 bits, little-endian; in format 0 bytes 24 to 27 are major, minor, patch and build.
"""

from __future__ import annotations

HEADER = 28
"""The bytes of a plan that contain its version."""
FORMAT_0 = b"ftrt" + bytes(4)
VERSION = slice(24, HEADER)


def plan_version(head: bytes) -> str:
    """The version as four numbers, `10.9.0.34`, by the first 28 bytes or more; "" if it is not known."""
    if len(head) < HEADER or not head.startswith(FORMAT_0):
        return ""
    return ".".join(map(str, head[VERSION]))
