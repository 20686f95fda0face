"""The stand-in of Docker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.docker_calls import DockerCalls


@pytest.fixture
def docker(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> DockerCalls:
    """The folder of what is built is empty."""
    calls = DockerCalls(tmp_path, capsysbinary)
    calls.context.mkdir()
    return calls
