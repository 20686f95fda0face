"""Images of an endpoint that is promoted."""

from __future__ import annotations

import pytest

from tests.support.promotion import Promotion
from tests.support.promotion_images import PromotedImages


@pytest.fixture
def images(promotion: Promotion) -> PromotedImages:
    return PromotedImages(promotion)
