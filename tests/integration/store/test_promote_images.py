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


def locked_image(promotion: Promotion, environment: str = "prod") -> LockedImage | None:
    return promotion.lock(environment).image


def findings_of(images: PromotedImages) -> list[str]:
    """The reason why a promotion is refused; nothing was copied, no lock written."""
    with pytest.raises(FindingsError) as refusal:
        images.promotion.promote()
    assert images.promotion.keys("prod") == []
    assert not (images.promotion.folder.root / "locks/prod").exists()
    return [f"{finding.code} {finding.message} | {finding.hint}" for finding in refusal.value.findings]


def override(promotion: Promotion, **keys: Any) -> None:
    """Have other keys in `prod` than in `staging`."""
    file = promotion.folder.root / "environments/prod.yaml"
    file.write_text(file.read_text() + yaml.safe_dump({"overrides": {ENDPOINT: keys}}))


@pytest.mark.parametrize("to", ["prod", pytest.param("qa", marks=pytest.mark.nightly)])
def test_the_image_arrives_by_its_digest_with_its_tag_and_its_record(images: PromotedImages, to: str) -> None:
    digest = images.build()
    images.promotion.test()
    result = images.promotion.promote(to)
    assert images.tags(to) == {digest: [hexadecimal(images.key)]}
    image = images.promotion.ecr(to).batch_get_image(
        repositoryName=f"triton-fleet-{to}", imageIds=[{"imageDigest": digest}]
    )["images"][0]
    assert f"sha256:{hashlib.sha256(image['imageManifest'].encode()).hexdigest()}" == digest
    assert image["imageManifestMediaType"] == DOCKER
    assert images.recorded_image(to) == {
        **images.recorded_image("staging"),
        "repository": f"triton-fleet-{to}",
    } | {
        "media_type": None,
        "size": None,
        "ended": "2026-07-06T08:00:00Z",
    }
    assert locked_image(images.promotion, to) == locked_image(images.promotion, "staging")
    assert (result.images, result.images_present) == (1, 0)
    assert result.image_bytes > sum(map(len, LAYERS))
    assert images.promotion.folder.findings(to) == []


def test_the_target_knows_the_image_without_a_build(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.promotion.promote()
    root, s3 = images.promotion.folder.root, images.promotion.s3("prod")
    project = open_project(root, "prod")
    (image,) = held_images(s3, images.promotion.ecr("prod"), project.deployment, root / "locks/prod")
    assert (image.digest, image.exists, image.needed_by) == (digest, True, (ENDPOINT,))
    tested_image = locked_image(images.promotion)
    (root / f"locks/prod/{ENDPOINT}.lock.yaml").unlink()
    images.promotion.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    images.promotion.folder.write("repository/embed/1/model.py", "x = 1\n")
    write_locks(open_project(root, "prod"), lambda: s3, lambda: images.promotion.ecr("prod"))
    assert locked_image(images.promotion) == tested_image


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
    assert [copy.endpoint for copy in copies] == [ENDPOINT]


def test_another_image_under_the_key_is_a_conflict(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    other_text = images.build(LAYERS[:1], "prod")
    images.promotion.s3("prod").delete_object(Bucket=images.promotion.bucket("prod"), Key=images.record_key)
    (finding,) = findings_of(images)
    tag = f"210987654321.dkr.ecr.us-west-2.amazonaws.com/triton-fleet-prod:{hexadecimal(images.key)}"
    assert finding.startswith(f"FL980 {tag} is another image than the one that was tested, {digest} |")
    assert list(images.tags()) == [other_text]


def test_an_image_that_the_source_has_lost_is_to_be_built_again(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.promotion.ecr("staging").batch_delete_image(
        repositoryName="triton-fleet-staging", imageIds=[{"imageDigest": digest}]
    )
    (finding,) = findings_of(images)
    assert finding.startswith(
        f"FL628 the registry does not have, or no longer has, the digest {digest} of 1234"
    )
    assert "| build it again: `fleet images build --env staging sentences`" in finding


@pytest.mark.parametrize("other_text", [None, DIGEST], ids=["gone", "of another image"])
def test_an_image_without_its_record_is_not_promoted(images: PromotedImages, other_text: str | None) -> None:
    images.build()
    images.promotion.test()
    if other_text is None:
        bucket = images.promotion.bucket("staging")
        images.promotion.s3("staging").delete_object(Bucket=bucket, Key=images.record_key)
    else:
        images.record(other_text)
    (finding,) = findings_of(images)
    assert finding.startswith("FL337 the record of the image of sentences, s3://triton-fleet-staging-")
    assert "`fleet images build --env staging sentences`" in finding


def test_a_stale_record_in_the_target_is_replaced(images: PromotedImages) -> None:
    digest = images.build()
    images.promotion.test()
    images.record(DIGEST, "prod")
    images.promotion.promote()
    assert images.recorded_image()["digest"] == digest


def test_an_endpoint_that_runs_another_image_was_not_tested(images: PromotedImages) -> None:
    digest = images.build()
    endpoint = images.promotion.publish()
    images.promotion.serve(endpoint)
    file = images.promotion.folder.root / f"locks/staging/{ENDPOINT}.lock.yaml"
    file.write_text(file.read_text().replace(digest, DIGEST))
    (finding,) = findings_of(images)
    repository = "123456789012.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-staging"
    assert f"it runs {repository}@{digest}, but its files require {repository}@{DIGEST}" in finding


def test_a_target_without_its_repository_is_told_what_to_do_first(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    images.promotion.ecr("prod").delete_repository(repositoryName="triton-fleet-prod", force=True)
    with pytest.raises(CannotRunError, match="triton-fleet-prod does not exist") as error_info:
        images.promotion.promote()
    assert error_info.value.remedy == "run `fleet deploy --env prod --foundation` to create it"


@pytest.mark.parametrize(
    ("keys", "before", "current_text"),
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
    images: PromotedImages, keys: dict[str, Any], before: str, current_text: str
) -> None:
    images.build()
    images.promotion.test()
    override(images.promotion, **keys)
    (finding,) = findings_of(images)
    assert finding.startswith(
        f"FL336 sentences was tested in staging with {before}, but prod has {current_text}"
    )


def test_a_target_that_names_the_digest_of_the_tested_base_takes_the_image(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    image = locked_image(images.promotion, "staging")
    assert image is not None
    override(images.promotion, image_digest=image.base)
    images.promotion.promote()
    assert locked_image(images.promotion) == image


def test_a_target_that_names_another_base_is_told_at_its_line(images: PromotedImages) -> None:
    images.build()
    images.promotion.test()
    override(images.promotion, image_digest=DIGEST)
    with pytest.raises(FindingsError) as refusal:
        images.promotion.promote()
    (finding,) = refusal.value.findings
    image = locked_image(images.promotion, "staging")
    assert image is not None
    name = "sagemaker-tritonserver:25.04-py3"
    assert f"with an image on {name}@{image.base}, but prod has {name}@{DIGEST}" in finding.message
    assert (finding.file and finding.file.name, finding.line) == ("prod.yaml", 6)


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
        assert locked_image(promotion) == LockedImage(digest=DIGEST)
        assert images.tags() == {}
    else:
        (finding,) = findings_of(images)
        assert f"tested in staging with the image {DIGEST}, but prod has the image {digest}" in finding


def test_an_image_that_was_not_built_in_the_source_is_not_copied(images: PromotedImages) -> None:
    images.promotion.folder.spec(base=SPEC)
    images.promotion.test()
    result = images.promotion.promote()
    assert (result.images, result.images_present, locked_image(images.promotion)) == (0, 0, None)
