"""A prune removes the images of the environment's repository that nothing names, with their records."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.artifact_bucket import ArtifactBucket, empty_bucket
from tests.support.container_images import ContainerRepository, layer
from tests.support.fleet_folder import FleetFolder
from tests.support.pruning import later, model, prune, work
from triton_fleet.findings import CannotRunError
from triton_fleet.store.prune import references as image_prune
from triton_fleet.store.releases import record_release

pytestmark = pytest.mark.nightly

REPOSITORY = "triton-fleet-dev"
URI = f"111122223333.dkr.ecr.us-east-1.amazonaws.com/{REPOSITORY}"
OLD, NEW = "a" * 64, "b" * 64
"""Keys of images in hexadecimal: their tags."""


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> ArtifactBucket:
    bucket = empty_bucket(aws_url, folder)
    with suppress(ClientError):
        bucket.ecr.delete_repository(repositoryName=REPOSITORY, force=True)
    return bucket


@pytest.fixture
def repository(bucket: ArtifactBucket) -> ContainerRepository:
    return ContainerRepository(bucket.ecr, REPOSITORY, imageTagMutability="IMMUTABLE")


def build_image(bucket: ArtifactBucket, repository: ContainerRepository, tag: str) -> str:
    """Push an image with its request and its record; its digest."""
    digest = repository.push([layer([f"opt/{tag}"])], tag=tag)
    bucket.put(f"images/built/{tag}/request.json")
    bucket.put(f"images/built/{tag}/manifest.json")
    return digest


def tags(bucket: ArtifactBucket) -> list[str]:
    image_details = bucket.ecr.describe_images(repositoryName=REPOSITORY)["imageDetails"]
    return sorted(tag for image_detail in image_details for tag in image_detail.get("imageTags", ["none"]))


def lock(bucket: ArtifactBucket, digest: str, key: str = "") -> None:
    named_text = f"key: sha256:{key}, " if key else ""
    text = f'endpoint: any\nimage: {{{named_text}digest: "{digest}"}}\narchives: {{}}\n'
    bucket.folder.write("locks/dev/any.lock.yaml", text)


def test_an_image_that_nothing_names_goes_with_its_record(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    digest = build_image(bucket, repository, OLD)
    plan = prune(bucket)
    (unit,) = plan.units
    assert (unit.name, [image.digest for image in plan.images]) == (f"{REPOSITORY}@{digest}", [digest])
    assert sorted(plan.objects) == [f"images/built/{OLD}/{name}.json" for name in ("manifest", "request")]
    assert (tags(bucket), bucket.object_keys("images/")) == ([], [])


@pytest.mark.parametrize("key", [NEW, ""], ids=["built", "existing"])
def test_the_image_of_a_lock_stays_with_its_record(
    bucket: ArtifactBucket, repository: ContainerRepository, key: str
) -> None:
    build_image(bucket, repository, OLD)
    lock(bucket, build_image(bucket, repository, NEW), key)
    prune(bucket)
    assert tags(bucket) == [NEW]
    assert bucket.object_keys("images/built/") == [
        f"images/built/{NEW}/{name}.json" for name in ("manifest", "request")
    ]


@pytest.mark.parametrize("name", ["@DIGEST", f":{NEW}"], ids=["by its digest", "by its tag"])
@pytest.mark.parametrize("several", [False, True])
def test_the_image_of_a_model_stays(
    bucket: ArtifactBucket, repository: ContainerRepository, name: str, several: bool
) -> None:
    build_image(bucket, repository, OLD)
    digest = build_image(bucket, repository, NEW)
    container = {"Image": f"{URI}{name.replace('DIGEST', digest)}"}
    model(bucket, **({"Containers": [container]} if several else {"PrimaryContainer": container}))
    assert [image.tags for image in prune(bucket).images] == [(OLD,)]
    assert tags(bucket) == [NEW]


def release_image(bucket: ArtifactBucket, digest: str) -> None:
    """Release an endpoint with an image; afterwards nothing else names it."""
    bucket.single()
    bucket.lock()
    endpoint = bucket.endpoints[0]
    image = replace(endpoint.image, repository=REPOSITORY, digest=digest, is_own=True)
    record_release(bucket.s3, replace(endpoint, image=image))
    for name in ("model_specs/sentences.yaml", "locks/dev/sentences.lock.yaml"):
        (bucket.folder.root / name).unlink()


@pytest.mark.parametrize(("keep", "remaining_lines"), [(0, []), (1, [NEW]), (2, [OLD, NEW])])
def test_the_images_of_the_last_releases_stay(
    bucket: ArtifactBucket, repository: ContainerRepository, keep: int, remaining_lines: list[str]
) -> None:
    for tag in (OLD, NEW):
        release_image(bucket, build_image(bucket, repository, tag))
    assert len(bucket.object_keys("releases/")) == 2
    prune(bucket, keep)
    assert tags(bucket) == remaining_lines


def test_a_release_of_the_release_s_image_names_none(bucket: ArtifactBucket) -> None:
    bucket.single()
    bucket.lock()
    record_release(bucket.s3, bucket.endpoints[0])
    (key,) = bucket.object_keys("releases/")
    assert "image" not in json.loads(bucket.body(key))


def test_images_younger_than_a_day_stay_and_are_counted(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    build_image(bucket, repository, OLD)
    plan = work(bucket, moment=later(hours=23)).plan()
    assert (plan.units, plan.too_young, plan.too_young_images) == ((), 2, 1)


def test_an_image_is_as_young_as_its_record(bucket: ArtifactBucket, repository: ContainerRepository) -> None:
    build_image(bucket, repository, OLD)

    def pushed_long_ago(parsed: dict[str, Any], **_: object) -> None:
        for image_detail in parsed["imageDetails"]:
            image_detail["imagePushedAt"] = later(hours=-1000)

    events = bucket.ecr.meta.events
    events.register("after-call.ecr.DescribeImages", pushed_long_ago, unique_id="age")
    try:
        assert work(bucket, moment=later(hours=23)).plan().too_young_images == 1
    finally:
        events.unregister("after-call.ecr.DescribeImages", unique_id="age")


def test_an_image_without_a_tag_is_left_to_the_rule_of_the_repository(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    repository.push([layer(["opt/a"])])
    assert prune(bucket).images == ()
    assert tags(bucket) == ["none"]


def test_a_record_without_its_image_goes_unless_a_lock_has_its_key(bucket: ArtifactBucket) -> None:
    for tag in (OLD, NEW):
        bucket.put(f"images/built/{tag}/manifest.json")
    lock(bucket, f"sha256:{'c' * 64}", NEW)
    (unit,) = prune(bucket).units
    assert unit.name == f"images/built/{OLD}/"
    assert bucket.object_keys("images/") == [f"images/built/{NEW}/manifest.json"]


def test_an_image_under_two_keys_is_one(bucket: ArtifactBucket, repository: ContainerRepository) -> None:
    for tag in (OLD, NEW):
        digest = (
            build_image(bucket, repository, tag)
            if tag == OLD
            else repository.push([layer([f"opt/{OLD}"])], tag=tag)
        )
    bucket.put(f"images/built/{NEW}/manifest.json")
    lock(bucket, digest, NEW)
    assert prune(bucket).units == ()
    (bucket.folder.root / "locks/dev/any.lock.yaml").unlink()
    assert len(prune(bucket).images) == 1
    assert (tags(bucket), bucket.object_keys("images/")) == ([], [])


def test_build_contexts_go_and_leases_stay(bucket: ArtifactBucket) -> None:
    context = bucket.put(f"images/contexts/{OLD}.tar")
    lease = bucket.put(f"images/leases/{OLD}.json")
    assert list(prune(bucket).objects) == [context]
    assert bucket.object_keys("images/") == [lease]


def test_more_images_than_one_request_takes_go_in_batches(
    bucket: ArtifactBucket, repository: ContainerRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_prune, "BATCH", 2)
    for number in range(3):
        repository.push([layer([f"opt/{number}"])], tag=f"{number:064}")
    requested_numbers: list[int] = []

    def note(params: dict[str, Any], **_: object) -> None:
        requested_numbers.append(len(params["imageIds"]))

    event = "before-parameter-build.ecr.BatchDeleteImage"
    bucket.ecr.meta.events.register(event, note, unique_id="batch")
    assert len(prune(bucket).images) == 3
    bucket.ecr.meta.events.unregister(event, unique_id="batch")
    assert (requested_numbers, tags(bucket)) == ([2, 1], [])


def test_an_image_that_is_needed_since_it_was_shown_stays(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    digest = build_image(bucket, repository, OLD)
    pruning = work(bucket)
    plan = pruning.plan()
    model(bucket, PrimaryContainer={"Image": f"{URI}@{digest}"})
    assert pruning.remove(plan).images == ()
    assert tags(bucket) == [OLD]


def test_what_the_registry_refuses_to_delete_is_named(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    child = repository.push([layer(["opt/a"])], tag=OLD)
    index = repository.index({"linux/amd64": child}, tag=NEW)
    lock(bucket, index)
    with pytest.raises(
        CannotRunError, match=f"1 images of {REPOSITORY} .*{child}: ImageReferencedByManifest"
    ):
        prune(bucket)
    assert tags(bucket) == [OLD, NEW]


def test_without_a_repository_nothing_is_asked_to_be_deleted(bucket: ArtifactBucket) -> None:
    plan = prune(bucket)
    assert (plan.units, plan.images, plan.too_young_images) == ((), (), 0)


def test_without_access_to_the_repository_nothing_is_removed(
    bucket: ArtifactBucket, repository: ContainerRepository
) -> None:
    def deny(**_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeImages")

    build_image(bucket, repository, OLD)
    bucket.ecr.meta.events.register("before-call.ecr.DescribeImages", deny, unique_id="deny")
    with pytest.raises(ClientError, match="AccessDenied"):
        prune(bucket)
    bucket.ecr.meta.events.unregister("before-call.ecr.DescribeImages", unique_id="deny")
    assert len(bucket.object_keys("images/")) == 2
