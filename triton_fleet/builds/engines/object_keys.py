"""Where the artifact bucket keeps what engines are built from, and what comes of it."""

from __future__ import annotations

from triton_fleet.spec.values import hexadecimal

ENGINES = "engines/"
"""The prefix of all of it."""
ONNX = f"{ENGINES}onnx/"
"""The prefix of ONNX models, which only publishers and builds that start jobs read."""
PLANS = f"{ENGINES}plans/"
"""The prefix of what was built, and of the requests to builds."""
JOBS = f"{ENGINES}jobs/"
"""The prefix of the inputs and outputs of jobs that run, each below its own name."""
PLAN, MANIFEST, REQUEST, FAILURE = "model.plan", "manifest.json", "request.json", "failure.json"


def onnx_key(digest: str) -> str:
    """The ONNX model of a digest."""
    return f"{ONNX}{hexadecimal(digest)}.onnx"


def script_key(digest: str) -> str:
    """The build script of a digest: a zip file that Python runs."""
    return f"{ENGINES}scripts/{hexadecimal(digest)}.zip"


def built_key(key: str, name: str) -> str:
    """One of an engine's files: REQUEST, PLAN, then MANIFEST, which shows that it is whole; or FAILURE."""
    return f"{PLANS}{hexadecimal(key)}/{name}"


def lease_key(key: str) -> str:
    """Who builds an engine now."""
    return f"{ENGINES}leases/{hexadecimal(key)}.json"
