"""The key `image`: each mistake at its line with what to write in its place."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.own_images import DIGEST, REGISTRY, lock_image

URI = f"{REGISTRY}/team/detector"
ONE_OF_TWO = "write `{build: FOLDER}`, or `{uri: REPOSITORY, digest: sha256:...}`"
LEAVE_OUT = "leave it out"


@pytest.mark.parametrize(
    ("keys", "expected_text"),
    [
        ("image: {}", f"6 FL112 `image`: neither `build` nor `uri` is given | {ONE_OF_TWO}"),
        (
            f"image: {{build: ../a, uri: {URI}, digest: '{DIGEST}'}}",
            f"6 FL112 `image`: both `build` and `uri` are given | {ONE_OF_TWO}",
        ),
        (
            f"image: {{uri: {URI}}}",
            "6 FL112 `image`: `digest` is missing | `fleet images inspect URI:TAG` shows the digest of a tag",
        ),
        (
            f"image: {{build: ../a, digest: '{DIGEST}'}}",
            "6 FL112 `image`: `digest` belongs to `uri` | leave it out: the lock records the digest of a build",
        ),
        (
            "image:\n  build: ../a\n  args: {TRITON_IMAGE: mine}\n",
            "8 FL112 `image.args`: every build sets TRITON_IMAGE itself | leave it out: `triton` selects the"
            " release",
        ),
        (
            f"image:\n  uri: {URI}\n  digest: '{DIGEST}'\n  args: {{A: b}}\n",
            "9 FL112 `image.args`: `args` belongs to `build` | leave it out",
        ),
        ("image: {build: ../a, args: {1A: b}}", "6 FL112 `image.args.1A`"),
        ("image: {build: ../a, args: {A: 1}}", "6 FL112 `image.args.A` is 1: it must be text"),
        ("image: {bild: ../a}", "6 FL110 unknown key `image.bild` | did you mean `build`?"),
    ],
)
def test_a_mistake_is_reported_at_its_line_with_its_remedy(
    folder: FleetFolder, keys: str, expected_text: str
) -> None:
    folder.spec(keys)
    (line,) = folder.finding_lines()
    assert f"sentences.yaml:{expected_text}" in line


@pytest.mark.parametrize(
    "uri",
    [
        f"{URI}:25.04",
        f"{URI}@{DIGEST}",
        "docker.io/team/detector",
        "detector",
        "1112222.dkr.ecr.us-east-1.amazonaws.com/detector",
        f"{REGISTRY}/Detector",
        f"{REGISTRY}/team//detector",
        f"https://{URI}",
        f"{REGISTRY}.example.com/detector",
    ],
)
def test_only_a_repository_of_ecr_without_a_tag_is_one(folder: FleetFolder, uri: str) -> None:
    folder.spec(f'image: {{uri: "{uri}", digest: "{DIGEST}"}}\n')
    (line,) = folder.finding_lines()
    assert line.startswith(f'sentences.yaml:6 FL112 `image.uri` is "{uri[:60]}')


def test_the_digest_of_the_releases_image_does_not_go_with_another_image(folder: FleetFolder) -> None:
    folder.spec(f"image_digest: '{DIGEST}'\nimage:\n  uri: {URI}\n  digest: '{DIGEST}'\n")
    (line,) = folder.finding_lines()
    expected_text = "sentences.yaml:8 FL112 `image.uri`"
    assert line.startswith(expected_text)
    assert line.endswith("`image_digest` is of the release's image | leave one of the two out")


def test_it_goes_with_an_image_that_is_built_on_the_release(folder: FleetFolder) -> None:
    folder.spec(f"image_digest: '{DIGEST}'\nimage: {{build: ../images/detector}}\n")
    lock_image(folder, key=DIGEST)
    assert folder.findings() == []


@pytest.mark.parametrize("mode", ["single", "multi-model"])
def test_every_mode_takes_an_image(folder: FleetFolder, mode: str) -> None:
    folder.spec("image: {build: ../images/detector}\n", base=f"{SPEC}mode: {mode}\n")
    lock_image(folder, key=DIGEST)
    assert folder.findings() == []
