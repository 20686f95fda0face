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
class Publishing:
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

    def refused(self) -> Finding:
        with pytest.raises(FindingsError) as raised:
            self.publish()
        (finding,) = raised.value.findings
        assert self.promotion.keys("staging", "endpoints/") == []
        return finding


@pytest.fixture
def publishing(promotion: Promotion) -> Publishing:
    publishing = Publishing(PromotedImages(promotion), StandInCodeBuild(promotion.s3("staging")))
    publishing.codebuild.looked = publishing.push
    return publishing


class TestPublish:
    def test_the_template_names_the_image_by_its_key_before_it_is_built(self, publishing: Publishing) -> None:
        uri = publishing.endpoint.image.uri
        tag = hexadecimal(publishing.images.key)
        assert uri == f"123456789012.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-staging:{tag}"

    def test_an_image_that_is_missing_is_built_and_recorded_as_the_endpoints(
        self, publishing: Publishing
    ) -> None:
        done = publishing.publish()
        (digest,) = publishing.images.tags("staging")
        assert (done.images.new_count, done.images.digests) == (1, {ENDPOINT: digest})
        assert done.images.notes("staging") == [
            f"sentences: the image is {digest}; `fleet lock --env staging sentences` records it, for review"
        ]
        assert owner_key(ENDPOINT, digest) in publishing.promotion.keys("staging", "owners/")
        assert done.uploads == 1

    def test_the_build_is_given_the_base_that_the_tag_names_then(self, publishing: Publishing) -> None:
        publishing.publish()
        (request,) = [key for key in publishing.promotion.keys("staging", "images/") if "request" in key]
        bucket = publishing.promotion.bucket("staging")
        body = publishing.promotion.s3("staging").get_object(Bucket=bucket, Key=request)["Body"].read()
        assert "sagemaker-tritonserver:25.04-py3@sha256:" in json.loads(body)["base"]

    def test_an_image_that_exists_is_not_built_again(self, publishing: Publishing) -> None:
        digest = publishing.images.build()
        done = publishing.publish()
        assert (done.images.new_count, done.images.digests) == (0, {ENDPOINT: digest})
        assert publishing.codebuild.started == []

    def test_a_folder_that_changed_since_its_lock_is_not_built(self, publishing: Publishing) -> None:
        publishing.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        finding = publishing.refused()
        assert (finding.code, publishing.codebuild.started) == ("FL969", [])
        assert "`fleet lock --env staging sentences`" in finding.hint

    def test_an_earlier_lock_needs_no_folder_if_the_endpoint_had_its_image(
        self, publishing: Publishing
    ) -> None:
        digests = publishing.publish().images.digests
        publishing.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        done = publishing.publish()
        assert (done.images.new_count, done.images.digests) == (0, digests)

    def test_a_build_that_fails_publishes_nothing(self, publishing: Publishing) -> None:
        def fail(id: str) -> None:
            publishing.codebuild.status[id] = "FAILED"

        publishing.codebuild.looked = fail
        assert publishing.refused().message.startswith("the image was not built: ")

    def test_a_tag_that_names_another_image_than_the_build_recorded_is_refused(
        self, publishing: Publishing
    ) -> None:
        recorded = publishing.images.repositories["staging"].push(LAYERS[:1], tag="5" * 64)
        publishing.images.record(recorded)
        other = publishing.images.repositories["staging"].push(LAYERS, tag=hexadecimal(publishing.images.key))
        finding = publishing.refused()
        assert finding.code == "FL687"
        assert f"names {other}, but its build recorded {recorded}" in finding.message

    def test_an_image_with_another_release_than_expected_is_refused(self, publishing: Publishing) -> None:
        publishing.images.build()
        bucket, key = publishing.promotion.bucket("staging"), publishing.images.record_key
        s3 = publishing.promotion.s3("staging")
        record = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        s3.put_object(Bucket=bucket, Key=key, Body=record.replace(b"VERSION=25.04", b"VERSION=25.03"))
        finding = publishing.refused()
        assert finding.code == "FL688"
        assert finding.message == "the image was built with triton 25.03, but the lock expects 25.04"

    def test_a_lock_that_expects_less_than_follows_from_the_release_is_refused(
        self, publishing: Publishing
    ) -> None:
        document = publishing.lock.model_dump(mode="json", exclude_defaults=True)
        document["image"]["expected"] = {}
        publishing.lock_file.write_text(json.dumps(document))
        finding = publishing.refused()
        assert (finding.code, publishing.codebuild.started) == ("FL969", [])

    def test_a_lock_with_the_digest_of_an_image_that_is_gone_is_not_built(
        self, publishing: Publishing
    ) -> None:
        digest = publishing.images.build()
        publishing.record()
        publishing.promotion.ecr("staging").batch_delete_image(
            repositoryName="triton-fleet-staging", imageIds=[{"imageDigest": digest}]
        )
        assert (publishing.refused().code, publishing.codebuild.started) == ("FL628", [])


class TestRecord:
    def test_the_lock_then_records_base_digest_and_facts_for_review(self, publishing: Publishing) -> None:
        publishing.publish()
        expected = publishing.lock
        publishing.record()
        image = publishing.lock.image
        assert image is not None and image.facts is not None
        (digest,) = publishing.images.tags("staging")
        assert (image.key, image.base, image.digest) == (publishing.images.key, BASE, digest)
        assert (image.expected, image.facts.triton) == (None, "25.04")
        key = publishing.images.key
        assert list(content_changes(expected, publishing.lock)) == [
            f"image: the build {key[:19]} → {digest[:19]}"
        ]
        assert publishing.endpoint.image.uri.endswith(f"/triton-fleet-staging@{digest}")
        assert publishing.publish().images.digests == {}

    def test_a_release_has_the_digest_that_its_lock_lacked(self, publishing: Publishing) -> None:
        s3, bucket = publishing.promotion.s3("staging"), publishing.promotion.bucket("staging")
        digests = publishing.publish().images.digests
        record_release(s3, publishing.endpoint, digests[ENDPOINT])
        (release,) = last_releases(s3, bucket, ENDPOINT, 2)
        assert release.image == digests[ENDPOINT]
        publishing.record()
        record_release(s3, publishing.endpoint)
        assert last_releases(s3, bucket, ENDPOINT, 2) == [release]

    def test_a_prune_keeps_the_image_by_its_tag(self, publishing: Publishing) -> None:
        tag, folder = hexadecimal(publishing.images.key), publishing.lock_file.parent
        assert tag in needed_by_locks(folder).images
        assert endpoints_by_image(folder) == {tag: (ENDPOINT,)}

    def test_another_clones_image_is_noticed_by_its_tag(self, publishing: Publishing) -> None:
        publishing.publish()
        publishing.promotion.serve(publishing.endpoint)
        require_own_content(publishing.promotion.sagemaker, publishing.endpoint)
        publishing.promotion.folder.write("images/detector/Dockerfile", f"{DOCKERFILE}ENV A=1\n")
        write_locks(publishing.project)
        with pytest.raises(CannotRunError, match="another deploy replaced this one"):
            require_own_content(publishing.promotion.sagemaker, publishing.endpoint)


class TestPromotion:
    def test_an_image_that_the_lock_does_not_record_is_not_promoted(self, publishing: Publishing) -> None:
        publishing.publish()
        publishing.promotion.serve(publishing.endpoint)
        with pytest.raises(FindingsError) as raised:
            publishing.promotion.promote()
        (finding,) = raised.value.findings
        assert (finding.code, finding.file) == ("FL686", publishing.lock_file)
        assert "run `fleet lock --env staging sentences`" in finding.hint
        assert publishing.promotion.keys("prod") == []

    def test_an_environment_that_is_promoted_to_refuses_a_lock_without_a_digest(
        self, publishing: Publishing
    ) -> None:
        folder = publishing.promotion.folder
        folder.write(
            "environments/staging.yaml",
            (folder.root / "environments/staging.yaml").read_text() + "promoted_from: qa\n",
        )
        spec = (folder.root / "model_specs/sentences.yaml").read_text()
        folder.write("locks/staging/sentences.spec.yaml", spec.replace("../", "../../"))
        with pytest.raises(FindingsError) as raised:
            checked_fleet(publishing.project, trusts_locks=False, today=None)
        found = [each for each in raised.value.findings if each.code == "FL685"]
        assert [each.message for each in found] == [
            "the lock names no digest of the image, so that the deploy would build one that nobody tested"
        ]
