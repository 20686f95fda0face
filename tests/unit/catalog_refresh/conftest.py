"""A catalog and the packages that it is refreshed from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalog_samples import CatalogSamples


@pytest.fixture
def catalog(tmp_path: Path) -> CatalogSamples:
    """A catalog that has been refreshed from its packages."""
    samples = CatalogSamples(tmp_path)
    assert samples.refresh().code == 0
    return samples
