"""The embedded S3 alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.embedded_s3 import embedded_s3


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with embedded_s3() as s3:
        yield s3
