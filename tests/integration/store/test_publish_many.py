"""More archives than one page of a listing has, which are asked for by listing and not one by one."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.artifact_bucket import empty_bucket
from tests.support.fleet_folder import FleetFolder
from triton_fleet.store.publish.publish import PublishResult

ARCHIVES, PAGE = 21, 20


def test_more_archives_than_a_page_are_published_once_and_then_only_listed(
    aws_url: str, folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", str(PAGE))
    bucket = empty_bucket(aws_url, folder)
    bucket.set_of({f"a{number:02}": f"x = {number}\n" for number in range(ARCHIVES)})
    bucket.lock()
    bucket.requests.clear()
    result = bucket.publish()
    assert (result.uploads, result.copies, result.present) == (ARCHIVES, ARCHIVES, 0)
    count = Counter(bucket.requests)
    owners = bucket.object_keys("owners/")
    assert (count["PutObject"] - len(owners), count["CopyObject"]) == (ARCHIVES, ARCHIVES)
    assert (len(owners), count["HeadObject"]) == (ARCHIVES, 0)
    bucket.requests.clear()
    assert bucket.publish() == PublishResult(present=ARCHIVES)
    assert bucket.requests == ["ListObjectsV2"] * 2  # pages
    assert len(bucket.object_keys("endpoints/")) == ARCHIVES
