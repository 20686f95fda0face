"""Buckets of a fleet's artifacts, and images of an endpoint that is promoted."""

from __future__ import annotations

import pytest

from tests.support.artifact_bucket import ArtifactBucket, empty_bucket
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket
from tests.support.fleet_folder import FleetFolder
from tests.support.promotion import Promotion
from tests.support.promotion_images import PromotedImages


@pytest.fixture
def artifact_bucket(aws_url: str, folder: FleetFolder) -> ArtifactBucket:
    """Nothing is published yet."""
    return empty_bucket(aws_url, folder)


@pytest.fixture
def engine_bucket(aws_url: str, folder: FleetFolder) -> EngineBucket:
    """No engine is built yet."""
    return empty_engine_bucket(aws_url, folder)


@pytest.fixture
def images(promotion: Promotion) -> PromotedImages:
    return PromotedImages(promotion)


@pytest.fixture
def tested_images(images: PromotedImages) -> PromotedImages:
    """They are built and run in the environment that is promoted from."""
    images.build()
    images.promotion.test()
    return images
