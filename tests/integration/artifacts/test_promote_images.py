"""An image that was built and tested in one environment is the one that another environment runs."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import yaml

from tests.support.container_images import DOCKER
from tests.support.fleet_folder import SPEC
from tests.support.image_bases import ReleaseRegistry
from tests.support.promotion import ENDPOINT, Promotion
from tests.support.promotion_images import LAYERS, PromotedImages
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.images.record import held_images
from triton_fleet.store.lock import write_locks
from triton_fleet.store.promote.images import ImageCopies, Store

DIGEST = f"sha256:{'d' * 64}"


def locked(promotion: Promotion, environment: str = "prod") -> LockedImage | None:
    return promotion.lock(environment).image


def findings_of(images: PromotedImages) -> list[str]:
    """What a promotion is refused for; nothing was copied, no lock written."""
    with pytest.raises(FindingsError) as refused:
        images.promotion.promote()
    assert images.promotion.keys("prod") == []
    assert not (images.promotion.folder.root / "locks/prod").exists()
    return [f"{each.code} {each.message} | {each.hint}" for each in refused.value.findings]


def override(promotion: Promotion, **keys: Any) -> None:
    """Have other keys in `prod` than in `staging`."""
    file = promotion.folder.root / "environments/prod.yaml"
    file.write_text(file.read_text() + yaml.safe_dump({"overrides": {ENDPOINT: keys}}))


@pytest.mark.parametrize("to", ["prod", pytest.param("qa", marks=pytest.mark.nightly)])
def test_the_image_arrives_by_its_digest_with_its_tag_and_its_record(images: PromotedImages, to: str) -> None:
    digest = images.build()
    images.promotion.test()
    done = images.promotion.promote(to)
    assert images.tags(to) == {digest: [hexadecimal(images.key)]}
    found = images.promotion.ecr(to).batch_get_image(
        repositoryName=f"triton-fleet-{to}", imageIds=[{"imageDigest": digest}]
    )["images"][0]
    assert f"sha256:{hashlib.sha256(found['imageManifest'].encode()).hexdigest()}" == digest
    assert found["imageManifestMediaType"] == DOCKER
    assert images.recorded(to) == {**images.recorded("staging"), "repository": f"triton-fleet-{to}"} | {
        "media_type": None,
        "size": None,
        "ended": "2026-07-06T08:00:00Z",
    }
    assert locked(images.promotion, to) == locked(images.promotion, "staging")
    assert (done.images, done.images_present) == (1, 0)
    assert done.image_bytes > sum(map(len, LAYERS))
    assert images.promotion.folder.findings(to) == []


def test_the_target_knows_the_image_without_a_build(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.promotion.promote()
    root, s3 = images.promotion.folder.root, images.promotion.s3("prod")
    project = open_project(root, "prod")
    (held,) = held_images(s3, images.promotion.ecr("prod"), project.deployment, root / "locks/prod")
    assert (held.digest, held.exists, held.needed_by) == (digest, True, (ENDPOINT,))
    tested = locked(images.promotion)
    (root / f"locks/prod/{ENDPOINT}.lock.yaml").unlink()
    images.promotion.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    images.promotion.folder.write("repository/embed/1/model.py", "x = 1\n")
    write_locks(open_project(root, "prod"), lambda: s3, lambda: images.promotion.ecr("prod"))
    assert locked(images.promotion) == tested


def test_endpoints_with_one_image_share_its_copy(images: PromotedImages) -> None:
    images.build()
    promotion = images.promotion
    promotion.test()
    lock = promotion.lock("staging")
    source, target = (
        Store(
            s3=promotion.s3(name),
            ecr=promotion.ecr(name),
            deployment=open_project(promotion.folder.root, name).deployment,
        )
        for name in ("staging", "prod")
    )
    copies = ImageCopies(source, target).plan([lock, lock.model_copy(update={"endpoint": "other"})])
    assert [each.endpoint for each in copies] == [ENDPOINT]


def test_another_image_under_the_key_is_a_conflict(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    other = images.build(LAYERS[:1], "prod")
    images.promotion.s3("prod").delete_object(Bucket=images.promotion.bucket("prod"), Key=images.record_key)
    (said,) = findings_of(images)
    tag = f"210987654321.dkr.ecr.us-west-2.amazonaws.com/triton-fleet-prod:{hexadecimal(images.key)}"
    assert said.startswith(f"FL980 {tag} is another image than the one that was tested, {digest} |")
    assert list(images.tags()) == [other]


def test_an_image_that_the_source_has_lost_is_to_be_built_again(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.promotion.ecr("staging").batch_delete_image(
        repositoryName="triton-fleet-staging", imageIds=[{"imageDigest": digest}]
    )
    (said,) = findings_of(images)
    assert said.startswith(f"FL628 the registry does not have, or no longer has, the digest {digest} of 1234")
    assert "| build it again: `fleet images build --env staging sentences`" in said


@pytest.mark.parametrize("other", [None, DIGEST], ids=["gone", "of another image"])
def test_an_image_without_its_record_is_not_promoted(images: PromotedImages, other: str | None) -> None:
    images.build()
    images.promotion.test()
    if other is None:
        bucket = images.promotion.bucket("staging")
        images.promotion.s3("staging").delete_object(Bucket=bucket, Key=images.record_key)
    else:
        images.record(other)
    (said,) = findings_of(images)
    assert said.startswith("FL337 the record of the image of sentences, s3://triton-fleet-staging-")
    assert "`fleet images build --env staging sentences`" in said


def test_a_stale_record_in_the_target_is_replaced(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.record(DIGEST, "prod")
    images.promotion.promote()
    assert images.recorded()["digest"] == digest


def test_an_endpoint_that_runs_another_image_was_not_tested(images: PromotedImages) -> None:
    digest = images.build()
    endpoint = images.promotion.publish()
    images.promotion.serve(endpoint)
    file = images.promotion.folder.root / f"locks/staging/{ENDPOINT}.lock.yaml"
    file.write_text(file.read_text().replace(digest, DIGEST))
    (said,) = findings_of(images)
    repository = "123456789012.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-staging"
    assert f"it runs {repository}@{digest}, but its files require {repository}@{DIGEST}" in said


def test_a_target_without_its_repository_is_told_what_to_do_first(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    images.promotion.ecr("prod").delete_repository(repositoryName="triton-fleet-prod", force=True)
    with pytest.raises(CannotRunError, match="triton-fleet-prod does not exist") as raised:
        images.promotion.promote()
    assert raised.value.remedy == "run `fleet deploy --env prod --foundation` to create it"


@pytest.mark.parametrize(
    ("keys", "before", "now"),
    [
        (
            {"image": {"build": "../images/detector", "args": {"A": "1"}}},
            "the image of ../images/detector",
            "the image of ../images/detector with A=1",
        ),
        ({"triton": "24.09"}, "an image on sagemaker-tritonserver:25.04-py3", "sagemaker-tritonserver:24.09"),
    ],
)
def test_where_the_target_needs_another_image_nothing_is_copied(
    images: PromotedImages, keys: dict[str, Any], before: str, now: str
) -> None:
    images.build()
    images.promotion.test()
    override(images.promotion, **keys)
    (said,) = findings_of(images)
    assert said.startswith(f"FL336 sentences was tested in staging with {before}, but prod has {now}")


def test_a_target_that_names_the_digest_of_the_tested_base_takes_the_image(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    tested = locked(images.promotion, "staging")
    assert tested is not None
    override(images.promotion, image_digest=tested.base)
    images.promotion.promote()
    assert locked(images.promotion) == tested


def test_a_target_that_names_another_base_is_told_at_its_line(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    override(images.promotion, image_digest=DIGEST)
    with pytest.raises(FindingsError) as refused:
        images.promotion.promote()
    (found,) = refused.value.findings
    tested = locked(images.promotion, "staging")
    assert tested is not None
    name = "sagemaker-tritonserver:25.04-py3"
    assert f"with an image on {name}@{tested.base}, but prod has {name}@{DIGEST}" in found.message
    assert (found.file and found.file.name, found.line) == ("prod.yaml", 6)


def registry_image(digest: str, place: str = "763104351884.dkr.ecr.us-east-1") -> dict[str, str]:
    return {"uri": f"{place}.amazonaws.com/sagemaker-tritonserver", "digest": digest}


@pytest.mark.parametrize("digest", [DIGEST, f"sha256:{'e' * 64}"])
def test_an_image_that_exists_is_taken_over_if_the_target_names_its_digest(
    images: PromotedImages, digest: str
) -> None:
    promotion = images.promotion
    promotion.folder.spec(yaml.safe_dump({"image": registry_image(DIGEST)}), base=SPEC)
    promotion.test(ReleaseRegistry(digest=None))
    override(promotion, image=registry_image(digest, "763104351884.dkr.ecr.us-west-2"))
    if digest == DIGEST:
        assert promotion.promote().images == 0
        assert locked(promotion) == LockedImage(digest=DIGEST)
        assert images.tags() == {}
    else:
        (said,) = findings_of(images)
        assert f"tested in staging with the image {DIGEST}, but prod has the image {digest}" in said


def test_an_image_that_was_not_built_in_the_source_is_not_copied(images: PromotedImages) -> None:
    images.promotion.folder.spec(base=SPEC)
    images.promotion.test()
    done = images.promotion.promote()
    assert (done.images, done.images_present, locked(images.promotion)) == (0, 0, None)
