"""Code of a Lambda function, in a bucket."""

from __future__ import annotations

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.functions import archive, upload


@pytest.fixture
def recorder(aws: EmbeddedAws) -> dict[str, str]:
    """Where the code of the recording function is."""
    return upload(aws, "recorder.zip", archive())
