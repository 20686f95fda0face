"""Where the stand-ins are: folders of commands for PATH, and the modules that Triton loads as backends."""

from __future__ import annotations

from pathlib import Path

_STAND_INS = Path(__file__).parent
DOCKER = _STAND_INS / "docker" / "bin"
"""The command docker."""
ENGINE_TOOLS = _STAND_INS / "engines" / "bin"
"""The commands nvidia-smi and trtexec."""
BACKENDS = _STAND_INS / "triton" / "backends"
"""A folder for each backend by its name, with a model.py."""
ANY_BACKEND = _STAND_INS / "triton" / "any_backend" / "model.py"
"""The backend that takes every model and answers no request."""
