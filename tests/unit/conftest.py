"""An embedded CloudWatch for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from embedded_cloudwatch import embedded_cloudwatch, forget

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient


@pytest.fixture(scope="module")
def running() -> Iterator[CloudWatchClient]:
    with embedded_cloudwatch() as cloudwatch:
        yield cloudwatch


@pytest.fixture
def cloudwatch(running: CloudWatchClient) -> CloudWatchClient:
    """It is empty."""
    forget()
    return running
