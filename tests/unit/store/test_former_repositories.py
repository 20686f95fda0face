"""Another `kms_key` is another repository: what is left in the former one is named, and stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.image_bases import ImageFleet
from triton_fleet.cli.images.builds import former_lines
from triton_fleet.project.project import open_project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.store.images.record import former_repositories

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"


@pytest.fixture
def fleet(fleet: ImageFleet) -> ImageFleet:
    fleet.build()
    return fleet


def former(fleet: ImageFleet, **changes: Any) -> dict[str, int]:
    s3: Any = fleet.records
    deployment: Deployment = open_project(fleet.folder.root, "dev").deployment
    return dict(former_repositories(s3, replace(deployment, **changes)))


def test_the_environments_own_repository_is_none(fleet: ImageFleet) -> None:
    assert former(fleet) == {}


def test_records_are_counted_by_their_repository(fleet: ImageFleet) -> None:
    assert former(fleet, kms_key=KEY) == {"triton-fleet-dev": 1}


def test_a_record_that_cannot_be_read_is_left_out(fleet: ImageFleet) -> None:
    fleet.records.objects[f"images/built/{'b' * 64}/manifest.json"] = b"{"
    assert former(fleet, kms_key=KEY) == {"triton-fleet-dev": 1}


def test_the_line_says_what_becomes_of_them() -> None:
    (line,) = former_lines({"triton-fleet-dev": 1})
    assert line == (
        "1 record names an image of the former repository triton-fleet-dev, which is not pruned:"
        " delete it once no Model uses it"
    )
    assert former_lines({"a": 2})[0].startswith("2 records name images of the former repository a, ")
