"""A stand-in for a backend that this machine does not have: it takes every model that Triton's core takes.

Triton loads it as a Python-based backend in the place of one that needs a GPU or is the user's own. The core
has read, completed and validated the configuration by then; the weights are not looked at, and a request gets
an error.
"""

from __future__ import annotations

import json
from typing import Any

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """One instance of one model whose weights are not read."""

    def initialize(self, args: dict[str, str]) -> None:
        """Log that this is a stand-in."""
        config = json.loads(args["model_config"])
        backend, model = config["backend"], config["name"]
        self.message = f"stand-in for the backend {backend!r}: the weights of {model!r} are not loaded"
        pb_utils.Logger.log_info(self.message)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Refuse each request."""
        return [pb_utils.InferenceResponse(error=pb_utils.TritonError(self.message)) for _ in requests]
