"""Publishing builds the images that locks expect; what runs is the image that its build recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.codebuild_stand_in import StandInCodeBuild
from tests.support.promotion import ENDPOINT, Promotion
from tests.support.promotion_images import BASE, DOCKERFILE, LAYERS, PromotedImages
from tests.support.silent_progress import SilentProgress
from triton_fleet.aws.running_configuration import require_own_content
from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.check.run import checked_fleet
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import Project, open_project
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.record import endpoints_by_image
from triton_fleet.store.lock import write_locks
from triton_fleet.store.ownership import owner_key
from triton_fleet.store.prune.references import needed_by_locks
from triton_fleet.store.publish.publish import PublishResult, publish
from triton_fleet.store.releases import last_releases, record_release

PACE = Pace(look=0.01, longest_pause=0.01, lease=0)


@dataclass
class ImagePublication:
    """An endpoint in `staging` whose image is locked without AWS; a stand-in for CodeBuild pushes it."""

    images: PromotedImages
    codebuild: StandInCodeBuild

    def __post_init__(self) -> None:
        write_locks(self.project)

    @property
    def promotion(self) -> Promotion:
        return self.images.promotion

    @property
    def project(self) -> Project:
        return open_project(self.promotion.folder.root, "staging")

    @property
    def endpoint(self) -> ResolvedEndpoint:
        (endpoint,) = resolve_project(self.project).endpoints
        return endpoint

    @property
    def lock_file(self) -> Path:
        return self.project.lock_file(ENDPOINT)

    @property
    def lock(self) -> Lock:
        return load_lock(self.lock_file)

    def record(self) -> None:
        """`fleet lock` with credentials."""
        write_locks(self.project, lambda: self.promotion.s3("staging"))

    def push(self, id: str) -> None:
        self.images.build()
        self.codebuild.status[id] = "SUCCEEDED"

    def publish(self) -> PublishResult:
        s3, any_client = self.promotion.s3("staging"), self.codebuild
        stand_in: Any = any_client
        clients = BuildClients(s3=s3, ssm=stand_in, codebuild=any_client, logs=any_client)
        ecr = lambda: self.promotion.ecr("staging")  # noqa: E731
        endpoints = [self.endpoint]
        return publish(s3, self.project, endpoints, SilentProgress(), lambda: clients, PACE, ecr)

    def refusal(self) -> Finding:
        with pytest.raises(FindingsError) as error_info:
            self.publish()
        (finding,) = error_info.value.findings
        assert self.promotion.keys("staging", "endpoints/") == []
        return finding


@pytest.fixture
def publication(promotion: Promotion) -> ImagePublication:
    publication = ImagePublication(PromotedImages(promotion), StandInCodeBuild(promotion.s3("staging")))
    publication.codebuild.on_look = publication.push
    return publication


class TestPublish:
    def test_the_template_names_the_image_by_its_key_before_it_is_built(
        self, publication: ImagePublication
    ) -> None:
        uri = publication.endpoint.image.uri
        tag = hexadecimal(publication.images.key)
        assert uri == f"123456789012.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-staging:{tag}"

    def test_an_image_that_is_missing_is_built_and_recorded_as_the_endpoints(
        self, publication: ImagePublication
    ) -> None:
        result = publication.publish()
        (digest,) = publication.images.tags("staging")
        assert (result.images.new_count, result.images.digests) == (1, {ENDPOINT: digest})
        assert result.images.notes("staging") == [
            f"sentences: the image is {digest}; `fleet lock --env staging sentences` records it, for review"
        ]
        assert owner_key(ENDPOINT, digest) in publication.promotion.keys("staging", "owners/")
        assert result.uploads == 1

    def test_the_build_is_given_the_base_that_the_tag_names_then(self, publication: ImagePublication) -> None:
        publication.publish()
        (request,) = [key for key in publication.promotion.keys("staging", "images/") if "request" in key]
        bucket = publication.promotion.bucket("staging")
        body = publication.promotion.s3("staging").get_object(Bucket=bucket, Key=request)["Body"].read()
        assert "sagemaker-tritonserver:25.04-py3@sha256:" in json.loads(body)["base"]

    def test_an_image_that_exists_is_not_built_again(self, publication: ImagePublication) -> None:
        digest = publication.images.build()
        result = publication.publish()
        assert (result.images.new_count, result.images.digests) == (0, {ENDPOINT: digest})
        assert publication.codebuild.starts == []

    def test_a_folder_that_changed_since_its_lock_is_not_built(self, publication: ImagePublication) -> None:
        publication.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        finding = publication.refusal()
        assert (finding.code, publication.codebuild.starts) == ("FL969", [])
        assert "`fleet lock --env staging sentences`" in finding.hint

    def test_an_earlier_lock_needs_no_folder_if_the_endpoint_had_its_image(
        self, publication: ImagePublication
    ) -> None:
        digests = publication.publish().images.digests
        publication.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        result = publication.publish()
        assert (result.images.new_count, result.images.digests) == (0, digests)

    def test_a_build_that_fails_publishes_nothing(self, publication: ImagePublication) -> None:
        def fail(id: str) -> None:
            publication.codebuild.status[id] = "FAILED"

        publication.codebuild.on_look = fail
        assert publication.refusal().message.startswith("the image was not built: ")

    def test_a_tag_that_names_another_image_than_the_build_recorded_is_refused(
        self, publication: ImagePublication
    ) -> None:
        recorded_digest = publication.images.repositories["staging"].push(LAYERS[:1], tag="5" * 64)
        publication.images.record(recorded_digest)
        second_value = publication.images.repositories["staging"].push(
            LAYERS, tag=hexadecimal(publication.images.key)
        )
        finding = publication.refusal()
        assert finding.code == "FL687"
        assert f"names {second_value}, but its build recorded {recorded_digest}" in finding.message

    def test_an_image_with_another_release_than_expected_is_refused(
        self, publication: ImagePublication
    ) -> None:
        publication.images.build()
        bucket, key = publication.promotion.bucket("staging"), publication.images.record_key
        s3 = publication.promotion.s3("staging")
        record = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        s3.put_object(Bucket=bucket, Key=key, Body=record.replace(b"VERSION=25.04", b"VERSION=25.03"))
        finding = publication.refusal()
        assert finding.code == "FL688"
        assert finding.message == "the image was built with triton 25.03, but the lock expects 25.04"

    def test_a_lock_that_expects_less_than_follows_from_the_release_is_refused(
        self, publication: ImagePublication
    ) -> None:
        document = publication.lock.model_dump(mode="json", exclude_defaults=True)
        document["image"]["expected"] = {}
        publication.lock_file.write_text(json.dumps(document))
        finding = publication.refusal()
        assert (finding.code, publication.codebuild.starts) == ("FL969", [])

    def test_a_lock_with_the_digest_of_an_image_that_is_gone_is_not_built(
        self, publication: ImagePublication
    ) -> None:
        digest = publication.images.build()
        publication.record()
        publication.promotion.ecr("staging").batch_delete_image(
            repositoryName="triton-fleet-staging", imageIds=[{"imageDigest": digest}]
        )
        assert (publication.refusal().code, publication.codebuild.starts) == ("FL628", [])


class TestRecord:
    def test_the_lock_then_records_base_digest_and_facts_for_review(
        self, publication: ImagePublication
    ) -> None:
        publication.publish()
        expected_lock = publication.lock
        publication.record()
        image = publication.lock.image
        assert image is not None and image.facts is not None
        (digest,) = publication.images.tags("staging")
        assert (image.key, image.base, image.digest) == (publication.images.key, BASE, digest)
        assert (image.expected, image.facts.triton) == (None, "25.04")
        key = publication.images.key
        assert list(content_changes(expected_lock, publication.lock)) == [
            f"image: the build {key[:19]} → {digest[:19]}"
        ]
        assert publication.endpoint.image.uri.endswith(f"/triton-fleet-staging@{digest}")
        assert publication.publish().images.digests == {}

    def test_a_release_has_the_digest_that_its_lock_lacked(self, publication: ImagePublication) -> None:
        s3, bucket = publication.promotion.s3("staging"), publication.promotion.bucket("staging")
        digests = publication.publish().images.digests
        record_release(s3, publication.endpoint, digests[ENDPOINT])
        (release,) = last_releases(s3, bucket, ENDPOINT, 2)
        assert release.image == digests[ENDPOINT]
        publication.record()
        record_release(s3, publication.endpoint)
        assert last_releases(s3, bucket, ENDPOINT, 2) == [release]

    def test_a_prune_keeps_the_image_by_its_tag(self, publication: ImagePublication) -> None:
        tag, folder = hexadecimal(publication.images.key), publication.lock_file.parent
        assert tag in needed_by_locks(folder).images
        assert endpoints_by_image(folder) == {tag: (ENDPOINT,)}

    def test_another_clones_image_is_noticed_by_its_tag(self, publication: ImagePublication) -> None:
        publication.publish()
        publication.promotion.serve(publication.endpoint)
        require_own_content(publication.promotion.sagemaker, publication.endpoint)
        publication.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        write_locks(publication.project)
        with pytest.raises(CannotRunError, match="another deploy replaced this one"):
            require_own_content(publication.promotion.sagemaker, publication.endpoint)


class TestPromotion:
    def test_an_image_that_the_lock_does_not_record_is_not_promoted(
        self, publication: ImagePublication
    ) -> None:
        publication.publish()
        publication.promotion.serve(publication.endpoint)
        with pytest.raises(FindingsError) as error_info:
            publication.promotion.promote()
        (finding,) = error_info.value.findings
        assert (finding.code, finding.file) == ("FL686", publication.lock_file)
        assert "run `fleet lock --env staging sentences`" in finding.hint
        assert publication.promotion.keys("prod") == []

    def test_an_environment_that_is_promoted_to_refuses_a_lock_without_a_digest(
        self, publication: ImagePublication
    ) -> None:
        folder = publication.promotion.folder
        folder.write(
            "environments/staging.yaml",
            (folder.root / "environments/staging.yaml").read_text() + "promoted_from: qa\n",
        )
        spec = (folder.root / "model_specs/sentences.yaml").read_text()
        folder.write("locks/staging/sentences.spec.yaml", spec.replace("../", "../../"))
        with pytest.raises(FindingsError) as error_info:
            checked_fleet(publication.project, trusts_locks=False, today=None)
        findings = [finding for finding in error_info.value.findings if finding.code == "FL685"]
        assert [finding.message for finding in findings] == [
            "the lock names no digest of the image, so that the deploy would build one that nobody tested"
        ]
