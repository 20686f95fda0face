"""A promotion's content belongs to the endpoint that was tested, in the environment that it was brought to."""

from __future__ import annotations

import json

import pytest

from tests.support.promotion import ENDPOINT, Promotion
from tests.support.promotion_images import LAYERS, PromotedImages
from tests.support.silent_progress import SilentProgress
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_lock
from triton_fleet.store.ownership import owner_key
from triton_fleet.store.publish.publish import PublishResult, publish
from triton_fleet.store.releases import record_release


def publish_in(promotion: Promotion, environment: str) -> PublishResult:
    project = open_project(promotion.folder.root, environment)
    s3, endpoints = promotion.s3(environment), resolve_project(project).endpoints
    return publish(s3, project, endpoints, SilentProgress(), ecr=lambda: promotion.ecr(environment))


def refusal_message(promotion: Promotion, environment: str, code: str) -> str:
    with pytest.raises(FindingsError) as error_info:
        publish_in(promotion, environment)
    (finding,) = error_info.value.findings
    assert finding.code == code
    assert promotion.keys(environment, "endpoints/") == promotion.keys(environment, "owners/") == []
    return f"{finding.message} | {finding.hint}"


def without_records(promotion: Promotion, environment: str) -> None:
    for key in promotion.keys(environment, "owners/"):
        promotion.s3(environment).delete_object(Bucket=promotion.bucket(environment), Key=key)


@pytest.mark.parametrize("to", ["prod", pytest.param("qa", marks=pytest.mark.nightly)])
def test_what_was_promoted_is_published_without_its_repository(promotion: Promotion, to: str) -> None:
    (archive,) = promotion.test().archives
    promotion.promote(to)
    key = owner_key(ENDPOINT, archive.digest)
    body = promotion.s3(to).get_object(Bucket=promotion.bucket(to), Key=key)["Body"].read()
    assert json.loads(body)["proof"] == "promotion from staging"
    assert publish_in(promotion, to) == PublishResult(copies=1)


def test_what_the_target_had_already_is_recorded_too(promotion: Promotion) -> None:
    promotion.test()
    promotion.promote()
    without_records(promotion, "prod")
    refusal_message(promotion, "prod", "FL848")
    assert promotion.promote().copies == 0
    assert publish_in(promotion, "prod") == PublishResult(copies=1)


def test_a_lock_that_was_copied_by_hand_gets_nothing_of_what_the_target_has(promotion: Promotion) -> None:
    promotion.test()
    promotion.promote()
    without_records(promotion, "prod")
    text = refusal_message(promotion, "prod", "FL848")
    assert "run `fleet promote --from staging --to prod sentences`" in text


def test_more_than_the_endpoint_runs_is_not_recorded_whatever_its_lock_names(promotion: Promotion) -> None:
    promotion.test()
    lock = promotion.lock("staging")
    stolen = lock.archives[ENDPOINT].model_copy(update={"digest": f"sha256:{'5' * 64}"})
    forged_lock = lock.model_copy(update={"archives": {**lock.archives, "more": stolen}})
    write_lock(
        promotion.folder.root / f"locks/staging/{ENDPOINT}.lock.yaml", forged_lock, promotion.folder.root
    )
    promotion.promote()
    assert promotion.keys("prod", "owners/") == [owner_key(ENDPOINT, lock.archives[ENDPOINT].digest)]


def test_what_was_deployed_without_a_publish_is_not_promoted(promotion: Promotion) -> None:
    """As by `cdk deploy` alone, which proves nothing."""
    (archive,) = promotion.test().archives
    without_records(promotion, "staging")
    with pytest.raises(FindingsError) as error_info:
        promotion.promote()
    (finding,) = error_info.value.findings
    assert finding.code == "FL332"
    assert f"no publish in staging has proved that {archive.digest} is its own" in finding.message
    assert finding.hint == "run `fleet deploy --env staging sentences`, test it, then promote"
    assert promotion.keys("prod") == promotion.keys("staging", "owners/") == []


def test_a_release_from_before_there_were_records_is_promoted_and_nothing_written_in_its_environment(
    promotion: Promotion,
) -> None:
    endpoint = promotion.test()
    record_release(promotion.s3("staging"), endpoint)
    without_records(promotion, "staging")
    promotion.promote()
    assert promotion.keys("prod", "owners/") == [owner_key(ENDPOINT, endpoint.archives[0].digest)]
    assert promotion.keys("staging", "owners/") == []


class TestImages:
    @pytest.fixture
    def images(self, promotion: Promotion) -> PromotedImages:
        return PromotedImages(promotion)

    def forge(self, images: PromotedImages, environment: str = "staging") -> str:
        """An image of another endpoint in the lock, under the key of its own folder; its digest."""
        images.build()
        images.promotion.publish()
        second_value = images.repositories[environment].push(LAYERS[:1], tag="5" * 64)
        lock = images.promotion.lock(environment)
        assert lock.image is not None
        forged_lock = lock.image.model_copy(update={"digest": second_value})
        file = images.promotion.folder.root / f"locks/{environment}/{ENDPOINT}.lock.yaml"
        write_lock(file, lock.model_copy(update={"image": forged_lock}), images.promotion.folder.root)
        return second_value

    def test_the_build_of_the_endpoints_own_folder_is_recorded(self, images: PromotedImages) -> None:
        digest = images.build()
        images.promotion.publish()
        assert owner_key(ENDPOINT, digest) in images.promotion.keys("staging", "owners/")

    def test_the_digest_of_another_endpoints_image_in_a_lock_is_refused(self, images: PromotedImages) -> None:
        digest = self.forge(images)
        for key in images.promotion.keys("staging", "endpoints/"):
            images.promotion.s3("staging").delete_object(Bucket=images.promotion.bucket("staging"), Key=key)
        with pytest.raises(FindingsError) as error_info:
            publish_in(images.promotion, "staging")
        (finding,) = error_info.value.findings
        assert (finding.code, finding.line) == ("FL849", 6)
        assert (
            f"no build of 'sentences' in 'staging' made the image triton-fleet-staging:{images.key[7:]}@{digest}"
            in (finding.message)
        )
        assert "run `fleet images build --env staging sentences`" in finding.hint
        assert images.promotion.keys("staging", "endpoints/") == []

    def test_nor_does_another_key_help_the_lock(self, images: PromotedImages) -> None:
        """The folder is here, and its key is another one."""
        self.forge(images)
        lock = images.promotion.lock("staging")
        assert lock.image is not None
        forged_lock = lock.image.model_copy(update={"key": f"sha256:{'5' * 64}"})
        file = images.promotion.folder.root / f"locks/staging/{ENDPOINT}.lock.yaml"
        write_lock(file, lock.model_copy(update={"image": forged_lock}), images.promotion.folder.root)
        with pytest.raises(FindingsError, match="FL849"):
            publish_in(images.promotion, "staging")

    def test_an_image_that_the_endpoint_had_needs_no_folder(self, images: PromotedImages) -> None:
        images.build()
        images.promotion.publish()
        images.promotion.folder.write("images/detector/Dockerfile", "FROM nowhere\n")
        assert publish_in(images.promotion, "staging").present == 1

    def test_an_image_that_was_deployed_without_a_publish_is_not_promoted(
        self, images: PromotedImages
    ) -> None:
        digest = images.build()
        images.promotion.test()
        key = owner_key(ENDPOINT, digest)
        images.promotion.s3("staging").delete_object(Bucket=images.promotion.bucket("staging"), Key=key)
        with pytest.raises(FindingsError, match=f"FL332: .* has proved that {digest} is its own"):
            images.promotion.promote()
        assert images.promotion.keys("prod") == []

    def test_a_promoted_image_is_the_endpoints_in_the_target(self, images: PromotedImages) -> None:
        digest = images.build()
        images.promotion.test()
        images.promotion.promote()
        assert owner_key(ENDPOINT, digest) in images.promotion.keys("prod", "owners/")
        assert publish_in(images.promotion, "prod").copies == 1
        without_records(images.promotion, "prod")
        with pytest.raises(
            FindingsError, match="FL849: no promotion from 'staging' brought 'sentences'"
        ) as error_info:
            publish_in(images.promotion, "prod")
        assert "run `fleet promote --from staging --to prod sentences`" in error_info.value.findings[0].hint
