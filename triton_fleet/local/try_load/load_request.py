"""Triton's POST /models; its caller ends the server where it takes too long."""

from __future__ import annotations

import json
import re
from pathlib import Path

import urllib3

from triton_fleet.local.containers import TARGET_MODEL
from triton_fleet.local.triton.server import TritonServer

QUIET = {"SAGEMAKER_TRITON_LOG_VERBOSE": "false"}
NOT_READ = "failed to poll"
"""In the answer to a model whose configuration Triton does not take; only its log has the reason."""
TARGET, ANY_TARGET = re.compile(r"[A-Za-z0-9._-]{1,200}"), "model.tar.gz"
"""Names of archives that Triton's Python backend can put into a shell's command line; what others become."""


def target_of(archive: str) -> str:
    """The name of an archive for Triton."""
    return archive if TARGET.fullmatch(archive) else ANY_TARGET


def post(server: TritonServer, repository: Path, archive: str) -> str:
    """Load the main model of a repository by its archive's name; why it failed, empty if it did not."""
    target = target_of(archive)
    body = json.dumps({"model_name": repository.name, "url": str(repository)})
    try:
        answer = server.pool.request("POST", "/models", body=body, headers={TARGET_MODEL: target})
    except urllib3.exceptions.HTTPError:
        server.process.dead.wait()
        return f"it {server.end()}"
    return "" if answer.status == 200 else str(json.loads(answer.data)["error"])
