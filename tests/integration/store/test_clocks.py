"""A clock that jumps by an hour or a year decides nothing: order and age go by AWS."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket
from tests.support.embedded_keys import KEYS
from tests.support.engine_bucket import empty_engine_bucket
from tests.support.fleet_folder import FleetFolder
from tests.support.jumped_clock import JUMPS, client_clock, jump
from triton_fleet.awsapi import errors
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.awsapi.errors import SET_CLOCK, aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.store import releases as releases_module
from triton_fleet.store.builds.lease import Lease, Terms
from triton_fleet.store.releases import TIME, last_releases, record_release, releases_prefix

YEAR = timedelta(days=365)


def deploy(artifact_bucket: ArtifactBucket, code: str) -> str:
    """The record of a deploy; its model data."""
    artifact_bucket.single(code=code)
    artifact_bucket.lock()
    (endpoint,) = artifact_bucket.endpoints
    record_release(artifact_bucket.s3, endpoint)
    return endpoint.model_data


@pytest.mark.parametrize("by", JUMPS)
def test_releases_are_in_the_order_of_their_deploys_and_dated_by_s3(
    artifact_bucket: ArtifactBucket, monkeypatch: pytest.MonkeyPatch, by: timedelta
) -> None:
    first = deploy(artifact_bucket, "x = 1\n")
    jump(monkeypatch, releases_module, by)
    second = deploy(artifact_bucket, "x = 2\n")
    monkeypatch.undo()
    third = deploy(artifact_bucket, "x = 3\n")
    releases = last_releases(artifact_bucket.s3, BUCKET, "sentences", 10)
    assert [release.model_data for release in releases] == [third, second, first]
    assert all(abs(release.time - datetime.now(UTC)) < timedelta(minutes=10) for release in releases)


def test_a_release_follows_one_that_a_clock_a_year_ahead_has_dated(artifact_bucket: ArtifactBucket) -> None:
    first = deploy(artifact_bucket, "x = 1\n")
    (key,) = artifact_bucket.object_keys("releases/")
    ahead = f"{releases_prefix('sentences')}{(datetime.now(UTC) + YEAR).strftime(TIME)}.json"
    artifact_bucket.s3.copy_object(Bucket=BUCKET, Key=ahead, CopySource={"Bucket": BUCKET, "Key": key})
    second = deploy(artifact_bucket, "x = 2\n")
    assert [release.model_data for release in last_releases(artifact_bucket.s3, BUCKET, "sentences", 2)] == [
        second,
        first,
    ]


@pytest.mark.parametrize(
    ("later", "is_expired"),
    [
        (timedelta(), False),
        (timedelta(seconds=299), False),
        (timedelta(seconds=-2), False),  # of two servers of S3
        (timedelta(seconds=301), True),
        (YEAR, True),
        (-YEAR, True),
    ],
    ids=str,
)
def test_a_lease_expires_by_the_clock_that_dates_it_even_when_that_is_set_back(
    aws_url: str, folder: FleetFolder, later: timedelta, is_expired: bool
) -> None:
    s3 = empty_engine_bucket(aws_url, folder).artifacts.s3
    lease = Lease(s3, BUCKET, "sha256:" + 64 * "0", Terms(holder="somebody", token="t", seconds=300))
    assert lease.take()

    def answer_at_skew(parsed: dict[str, Any], **_: object) -> None:
        moment = parsed["LastModified"] + later
        parsed["ResponseMetadata"]["HTTPHeaders"]["date"] = format_datetime(
            moment.astimezone(UTC), usegmt=True
        )

    s3.meta.events.register("after-call.s3.GetObject", answer_at_skew)
    seen_lease = lease.current()
    assert seen_lease is not None
    assert seen_lease.is_expired is is_expired


@pytest.mark.parametrize("by", JUMPS)
@pytest.mark.parametrize("operation", ["sts get_caller_identity", "s3 list_buckets", "s3 head_bucket"])
def test_a_request_that_a_wrong_clock_has_signed_names_the_times_of_both_clocks(
    aws_url: str, monkeypatch: pytest.MonkeyPatch, by: timedelta, operation: str
) -> None:
    service, name = operation.split()
    client: Any = local_session("us-east-1", KEYS).client(service, endpoint_url=aws_url)  # type: ignore[call-overload]
    client_clock(monkeypatch, by)
    jump(monkeypatch, errors, by)
    with pytest.raises(CannotRunError) as caught, aws_errors_as_findings():
        getattr(client, name)(**({"Bucket": BUCKET} if name == "head_bucket" else {}))
    match = re.fullmatch(
        f"{SET_CLOCK}; this machine's clock shows (.*) UTC, and AWS's (.*) UTC", caught.value.remedy
    )
    assert match is not None
    ours, theirs = map(datetime.fromisoformat, match.groups())
    assert abs(ours - theirs - by) < timedelta(minutes=1)
