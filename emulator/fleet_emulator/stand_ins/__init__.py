"""Stand-ins for programs that this machine lacks: docker, trtexec, nvidia-smi, and backends of Triton."""

from __future__ import annotations

from pathlib import Path

DOCKER = Path(__file__).parent / "docker" / "bin"
"""The folder with the command docker."""
ENGINE_TOOLS = Path(__file__).parent / "engines" / "bin"
"""The folder with the commands nvidia-smi and trtexec."""
