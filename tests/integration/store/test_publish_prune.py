"""How a prune removes what it has shown: nothing young, nothing that changed, and not without being told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.artifact_bucket import BUCKET, ArtifactBucket
from tests.support.pruning import DIGEST, HEX, date_answers, later, model, prune, work
from triton_fleet.findings import CannotRunError
from triton_fleet.store.content_store import files_marker, files_prefix, store_key
from triton_fleet.store.prune.prune import BATCH


def test_nothing_younger_than_a_day_goes_and_it_says_so(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put(store_key(DIGEST))
    plan = work(artifact_bucket, moment=later(hours=23)).plan()
    assert (plan.units, plan.too_young) == ((), 1)
    old = work(artifact_bucket).plan()
    work(artifact_bucket, moment=later(hours=23)).remove(old)
    assert artifact_bucket.object_keys() == [key]


def test_what_belongs_together_is_as_young_as_its_last_object(artifact_bucket: ArtifactBucket) -> None:
    old = artifact_bucket.put(f"{files_prefix(DIGEST)}config.pbtxt")
    stamp = artifact_bucket.s3.head_object(Bucket=BUCKET, Key=old)["LastModified"]
    while (
        artifact_bucket.s3.head_object(Bucket=BUCKET, Key=artifact_bucket.put(files_marker(DIGEST)))[
            "LastModified"
        ]
        == stamp
    ):
        pass  # until the next second, which S3 counts in
    between = stamp + timedelta(hours=24, seconds=1)
    plan = work(artifact_bucket, moment=between).plan()
    assert (plan.units, plan.too_young) == ((), 2)


@pytest.mark.parametrize("hours", [-25, -0.1, 0.1, 25])
def test_with_a_clock_that_is_wrong_nothing_goes_and_both_clocks_are_told(
    artifact_bucket: ArtifactBucket, hours: float
) -> None:
    key = artifact_bucket.put(store_key(DIGEST))
    current_time = datetime(2026, 11, 22, 12, tzinfo=UTC)
    pruning = work(artifact_bucket, moment=current_time, clock=current_time + timedelta(hours=hours))
    with pytest.raises(
        CannotRunError, match="clock shows .* UTC, and AWS's 2026-11-22 12:00:00 UTC: nothing"
    ):
        pruning.plan()
    assert artifact_bucket.object_keys() == [key]


def test_a_clock_that_becomes_wrong_before_the_answer_stops_it(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put(store_key(DIGEST))
    plan = work(artifact_bucket).plan()
    with pytest.raises(CannotRunError, match="this machine's clock"):
        work(artifact_bucket, clock=later(hours=50)).remove(plan)
    assert artifact_bucket.object_keys() == [key]


def test_age_goes_by_the_clock_that_dates_objects(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put(store_key(DIGEST))
    edge = datetime.now(UTC) + timedelta(hours=24)
    early_edge, late = edge - timedelta(minutes=2), edge + timedelta(minutes=2)
    assert work(artifact_bucket, moment=early_edge, clock=late).plan().units == ()
    assert len(work(artifact_bucket, moment=late, clock=early_edge).plan().units) == 1


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_an_answer_of_s3_without_a_date_stops_it(artifact_bucket: ArtifactBucket, date: str) -> None:
    pruning = work(artifact_bucket)
    date_answers(artifact_bucket, date)
    with pytest.raises(CannotRunError, match="S3's answer has no date"):
        pruning.plan()


def test_what_changed_since_it_was_shown_stays(artifact_bucket: ArtifactBucket) -> None:
    changed_text, same = (
        artifact_bucket.put("endpoints/a/x.tar.gz"),
        artifact_bucket.put("endpoints/a/y.tar.gz"),
    )
    pruning = work(artifact_bucket)
    plan = pruning.plan()
    artifact_bucket.put(changed_text, b"another")
    assert list(pruning.remove(plan).objects) == [same]
    assert artifact_bucket.object_keys() == [changed_text]


def test_what_is_needed_since_it_was_shown_stays(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put(f"endpoints/a/{HEX}.tar.gz")
    pruning = work(artifact_bucket)
    plan = pruning.plan()
    model(artifact_bucket, PrimaryContainer={"Image": "i", "ModelDataUrl": f"s3://{BUCKET}/{key}"})
    assert pruning.remove(plan).objects == {}
    assert artifact_bucket.object_keys() == [key]


def test_uploads_that_nobody_completed_are_aborted(artifact_bucket: ArtifactBucket) -> None:
    for key in ("archives/a.tar.gz", "endpoints/a/b.tar.gz", "engines/c.plan"):
        artifact_bucket.s3.create_multipart_upload(Bucket=BUCKET, Key=key)
    start_time = datetime.now(UTC)

    def set_date(parsed: dict[str, Any], **_: object) -> None:
        """The embedded S3 says of each upload that it was begun in 2010."""
        for upload in parsed.get("Uploads", []):
            upload["Initiated"] = start_time

    artifact_bucket.s3.meta.events.register("after-call.s3.ListMultipartUploads", set_date)
    assert work(artifact_bucket, moment=later(hours=23)).plan().uploads == ()
    prune(artifact_bucket)
    remaining_uploads = artifact_bucket.s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    assert [upload["Key"] for upload in remaining_uploads] == ["engines/c.plan"]
    artifact_bucket.s3.abort_multipart_upload(
        Bucket=BUCKET, Key="engines/c.plan", UploadId=remaining_uploads[0]["UploadId"]
    )


@pytest.mark.nightly
def test_more_than_one_request_takes_are_deleted_in_batches(artifact_bucket: ArtifactBucket) -> None:
    for number in range(BATCH + 1):
        artifact_bucket.put(f"endpoints/gone/set/{number:04}.tar.gz")
    artifact_bucket.requests.clear()
    plan = prune(artifact_bucket)
    assert [unit.name for unit in plan.units] == ["endpoints/gone/set/"]
    assert artifact_bucket.requests.count("DeleteObjects") == 2
    assert artifact_bucket.object_keys() == []


def refuse(artifact_bucket: ArtifactBucket, key: str) -> None:
    """Have S3's answer to DeleteObjects refuse one key, as it does without s3:DeleteObject on it."""

    def drop(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        objects = params["Delete"]["Objects"]
        context["refused"] = [entry for entry in objects if entry["Key"] == key]
        params["Delete"]["Objects"] = [entry for entry in objects if entry["Key"] != key] or [{"Key": "none"}]

    def answer(parsed: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        for entry in context["refused"]:
            error = {"Key": entry["Key"], "Code": "AccessDenied", "Message": "Access Denied"}
            parsed.setdefault("Errors", []).append(error)

    artifact_bucket.s3.meta.events.register("before-parameter-build.s3.DeleteObjects", drop)
    artifact_bucket.s3.meta.events.register("after-call.s3.DeleteObjects", answer)


def test_what_s3_refuses_to_delete_is_told_and_the_rest_goes(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put("endpoints/a/x.tar.gz")
    artifact_bucket.put("endpoints/a/y.tar.gz")
    refuse(artifact_bucket, key)
    with pytest.raises(CannotRunError, match="1 objects .* not removed: endpoints/a/x.tar.gz: AccessDenied"):
        prune(artifact_bucket)
    assert artifact_bucket.object_keys() == [key]


def test_the_files_of_an_archive_stay_while_its_marker_does(artifact_bucket: ArtifactBucket) -> None:
    marker, file = (
        artifact_bucket.put(files_marker(DIGEST)),
        artifact_bucket.put(f"{files_prefix(DIGEST)}config.pbtxt"),
    )
    refuse(artifact_bucket, marker)
    with pytest.raises(CannotRunError):
        prune(artifact_bucket)
    assert sorted(artifact_bucket.object_keys()) == sorted([marker, file])


@pytest.mark.parametrize("operation", ["ListModels", "DescribeModel"])
def test_without_access_to_the_models_nothing_is_removed(
    artifact_bucket: ArtifactBucket, operation: str
) -> None:
    def deny(**_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, operation)

    key = artifact_bucket.put(f"endpoints/a/{HEX}.tar.gz")
    model(artifact_bucket, PrimaryContainer={"Image": "i", "ModelDataUrl": f"s3://{BUCKET}/{key}"})
    pruning = work(artifact_bucket)
    artifact_bucket.put(store_key(DIGEST))
    plan = pruning.plan()
    artifact_bucket.sagemaker.meta.events.register(f"before-call.sagemaker.{operation}", deny)
    with pytest.raises(ClientError, match="AccessDenied"):
        pruning.remove(plan)
    assert len(artifact_bucket.object_keys()) == 2
    artifact_bucket.sagemaker.meta.events.unregister(f"before-call.sagemaker.{operation}", deny)
