"""What several modules ask for: an embedded CloudWatch, and two accounts with an endpoint to promote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from embedded_cloudwatch import embedded_cloudwatch, forget
from fleet.local.aws.server import EmbeddedAws
from fleet_folder import FleetFolder
from promotion import Promotion
from second_aws import ACCOUNT, second_aws
from tests.e2e.embedded_app.host import RecordingHost

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


@pytest.fixture(scope="module")
def promotion_host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture(scope="module")
def promotion_urls(promotion_host: RecordingHost) -> Iterator[dict[str, str]]:
    aws = EmbeddedAws(promotion_host)
    with second_aws() as second:
        aws.start()
        try:
            yield {"123456789012": aws.url, ACCOUNT: second}
        finally:
            aws.stop()


@pytest.fixture
def promotion(
    folder: FleetFolder, promotion_urls: dict[str, str], promotion_host: RecordingHost
) -> Iterator[Promotion]:
    """An endpoint with a model that can be tested."""
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "x = 1\n")
    folder.write("repository/embed/1/empty.py", "")
    promotion = Promotion(folder, promotion_urls)
    promotion.prepare()
    yield promotion
    promotion_host.failure = ""
