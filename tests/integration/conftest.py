"""Fixtures of several modules: embedded AWS services, and two accounts with an endpoint to promote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_cloudwatch import embedded_cloudwatch, forget
from tests.support.embedded_s3 import embedded_s3
from tests.support.fleet_folder import FleetFolder
from tests.support.promotion import Promotion
from tests.support.running_aws import running_aws
from tests.support.s3_repositories import Repositories, repositories_client
from tests.support.second_aws import ACCOUNT, second_aws
from tests.support.uploading import UploadBucket, upload_bucket

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_s3.client import S3Client


@pytest.fixture(scope="module")
def running_cloudwatch() -> Iterator[CloudWatchClient]:
    with embedded_cloudwatch() as cloudwatch:
        yield cloudwatch


@pytest.fixture
def cloudwatch(running_cloudwatch: CloudWatchClient) -> CloudWatchClient:
    """It is empty."""
    forget()
    return running_cloudwatch


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    with running_aws() as aws:
        yield aws


@pytest.fixture(scope="module")
def aws_url(aws: EmbeddedAws) -> str:
    return aws.url


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """The embedded S3 alone."""
    with embedded_s3() as s3:
        yield s3


@pytest.fixture(scope="module")
def repositories_s3(aws_url: str) -> S3Client:
    return repositories_client(aws_url)


@pytest.fixture
def empty_repositories(repositories_s3: S3Client, folder: FleetFolder) -> Iterator[Repositories]:
    """No repository is there."""
    with Repositories(repositories_s3, folder) as repositories:
        yield repositories


@pytest.fixture
def bucket(aws_url: str) -> Iterator[UploadBucket]:
    """It is empty."""
    with upload_bucket(aws_url) as bucket:
        yield bucket


@pytest.fixture(scope="module")
def promotion_host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture(scope="session")
def second_url() -> Iterator[str]:
    """A process that takes seconds to start; each test empties what it uses of it."""
    with second_aws() as second:
        yield second


@pytest.fixture(scope="module")
def promotion_urls(promotion_host: RecordingHost, second_url: str) -> Iterator[dict[str, str]]:
    with running_aws(promotion_host) as aws:
        yield {"123456789012": aws.url, ACCOUNT: second_url}


@pytest.fixture
def promotion(
    folder: FleetFolder, promotion_urls: dict[str, str], promotion_host: RecordingHost
) -> Iterator[Promotion]:
    """An endpoint with a model that can be tested."""
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
    folder.write("repository/embed/1/empty.py", "")
    promotion = Promotion(folder, promotion_urls)
    promotion.prepare()
    yield promotion
    promotion_host.failure = ""
