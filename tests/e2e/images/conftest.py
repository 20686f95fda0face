"""A repository of container images in an embedded AWS."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from container_images import ContainerRepository
from fleet_emulator.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client

NUMBERS = count()


@pytest.fixture
def ecr(aws: EmbeddedAws) -> Any:
    return client(aws, "ecr")


@pytest.fixture
def repository(ecr: Any) -> ContainerRepository:
    return ContainerRepository(ecr, f"team/triton{next(NUMBERS)}")
