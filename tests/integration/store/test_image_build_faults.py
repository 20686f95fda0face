"""A build of an image that was killed, or whose S3 or ECR fails: it waits, or the next one finishes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.codebuild_stand_in import StandInCodeBuild
from tests.support.faulty_s3 import FaultyS3, faulty_s3
from tests.support.kills import ends_before_step, sent_to
from tests.support.lasting_faults import FAULTS, first_requests, from_number, retry_without_pause
from tests.support.promotion import Promotion
from tests.support.promotion_images import PromotedImages
from tests.support.silent_progress import SilentProgress
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.project.project import open_project
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.run import Builds
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.builds import build_images
from triton_fleet.store.images.record import BuiltImage
from triton_fleet.store.images.source import image_sources, wanted_images

ACCOUNT = "123456789012"
PACE = Pace(look=0.01, longest_pause=0.01, lease=0)
"""A lease that nobody released has expired at once; tests of leases hold to their time."""


@dataclass
class ImageBuild:
    """`fleet images build` of one image; CodeBuild is a stand-in that pushes it and records it."""

    images: PromotedImages
    codebuild: StandInCodeBuild
    tags: list[str] = field(default_factory=list)

    def run(self, promotion: Promotion) -> Builds[BuiltImage]:
        """Build it with the S3 and the ECR of a promotion."""
        s3, ecr = promotion.another_s3("staging"), promotion.another_ecr("staging")
        project = open_project(promotion.folder.root, "staging")
        any_client: Any = self.codebuild
        clients = BuildClients(s3=s3, ssm=any_client, codebuild=self.codebuild, logs=self.codebuild)
        with aws_errors_as_findings():
            images = wanted_images(project, image_sources(project))
            builders = lambda: clients  # noqa: E731
            return build_images(s3, lambda: ecr, project, images, SilentProgress(), builders, PACE)

    def push(self, id: str) -> None:
        """The part of the build in CodeBuild; of a tag that exists only the record is written again."""
        self.tags.append(self.images.build() if not self.tags else self.tags[0])
        self.images.record(self.tags[0])
        self.codebuild.status[id] = "SUCCEEDED"

    def require_image(self) -> None:
        """The image is pushed and recorded, and no build runs."""
        digest = self.images.recorded_image("staging")["digest"]
        assert self.images.tags("staging") == {digest: [hexadecimal(self.images.key)]}
        assert "IN_PROGRESS" not in self.codebuild.status.values()


@pytest.fixture
def build(promotion: Promotion, monkeypatch: pytest.MonkeyPatch) -> ImageBuild:
    retry_without_pause(monkeypatch)
    build = ImageBuild(PromotedImages(promotion), StandInCodeBuild(promotion.s3("staging")))
    build.codebuild.on_look = build.push
    return build


@pytest.fixture
def proxy(promotion_urls: dict[str, str]) -> Iterator[FaultyS3]:
    with faulty_s3(promotion_urls[ACCOUNT]) as proxy:
        yield proxy


def behind(build: ImageBuild, proxy: FaultyS3) -> Promotion:
    promotion = build.images.promotion
    return Promotion(promotion.folder, {**promotion.urls, ACCOUNT: proxy.url})


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind == "reset" else pytest.mark.nightly)
        for kind in FAULTS
        if kind != "cut"
    ],
)
def test_one_failure_of_each_request_of_a_build_is_waited_for(
    build: ImageBuild, proxy: FaultyS3, kind: str
) -> None:
    fault = FAULTS[kind](proxy, first_requests())
    builds = build.run(behind(build, proxy))
    assert fault.hits > 8
    assert (builds.new_keys, builds.findings) == ([build.images.key], ())
    assert list(build.codebuild.status.values()) == ["SUCCEEDED"]
    build.require_image()


LASTING_FAULTS = [
    pytest.param(kind, number, marks=() if (number, kind) in SHORT else pytest.mark.nightly)
    for SHORT in [{(5, "failed"), (12, "throttled")}]
    for kind in FAULTS
    for number in range(20)
]


@pytest.mark.parametrize(("kind", "number"), LASTING_FAULTS)
def test_a_failure_that_lasts_ends_a_build_with_a_remedy_and_the_next_one_finishes_it(
    build: ImageBuild, proxy: FaultyS3, kind: str, number: int
) -> None:
    fault = FAULTS[kind](proxy, from_number(number))
    try:
        build.run(behind(build, proxy))
    except CannotRunError as error:
        assert fault.hits
        assert "run the command again" in error.remedy
    builds = build.run(build.images.promotion)
    assert list(builds.results) == [build.images.key]
    build.require_image()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=() if step == 14 else pytest.mark.nightly) for step in range(1, 20)],
)
def test_a_build_that_was_killed_at_any_request_is_finished_by_the_next(
    build: ImageBuild, proxy: FaultyS3, step: int
) -> None:
    promotion = behind(build, proxy)
    assert not ends_before_step(lambda: build.run(promotion), step, sent_to(proxy.url))
    builds = build.run(build.images.promotion)
    assert (list(builds.results), builds.findings) == ([build.images.key], ())
    build.require_image()
