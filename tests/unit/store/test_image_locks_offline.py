"""`fleet lock` with neither credentials nor a network records by its inputs what an image will be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.image_bases import MOVED_BASE, ImageFleet
from tests.support.image_builds import DIGEST, START
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.spec.image import ImageFacts
from triton_fleet.store.images.source import wanted_images
from triton_fleet.store.lock import write_locks


def test_a_lock_of_an_image_that_is_not_built_has_its_key_and_what_is_expected_of_it(
    fleet: ImageFleet,
) -> None:
    locked_image = fleet.write_lock_offline()
    (source,) = fleet.sources()
    assert (locked_image.key, locked_image.base, locked_image.digest, locked_image.facts) == (
        source.key,
        None,
        None,
        None,
    )
    assert locked_image.expected == ImageFacts(
        architecture="linux/amd64",
        triton="25.04",
        server="2.57.0",
        cuda="12.9",
        python="3.12",
    )
    assert f"image:\n  key: {source.key}\n  expected:\n" in fleet.lock_file.read_text()
    assert stale_findings(open_project(fleet.folder.root, "dev"), "sentences") == []


def test_of_another_base_than_the_releases_only_the_release_is_expected(fleet: ImageFleet) -> None:
    image = f"nvcr.io/nvidia/tritonserver:25.04-vllm-python-py3@{DIGEST}"
    fleet.folder.write("images/detector/Dockerfile", f"FROM {image}\n")
    expected_facts = ImageFacts(architecture="linux/amd64", triton="25.04")
    assert fleet.write_lock_offline().expected == expected_facts


def test_a_digest_of_the_spec_is_the_base_before_the_build(fleet: ImageFleet) -> None:
    fleet.spec(f"image_digest: {MOVED_BASE}\n")
    assert fleet.write_lock_offline().base == MOVED_BASE


def test_what_a_build_recorded_is_kept(fleet: ImageFleet) -> None:
    fleet.build()
    before = fleet.write_lock()
    assert fleet.write_lock_offline() == before


def test_a_changed_folder_is_another_image_whose_base_nobody_has_pinned(fleet: ImageFleet) -> None:
    fleet.build()
    fleet.write_lock()
    fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
    locked_image = fleet.write_lock_offline()
    (source,) = fleet.sources()
    assert (locked_image.key, locked_image.base, locked_image.digest) == (source.key, None, None)


def test_credentials_of_another_account_are_none(fleet: ImageFleet) -> None:
    def foreign() -> Any:
        raise FindingsError([Finding(code="FL610", message="these are credentials of another account")])

    write_locks(open_project(fleet.folder.root, "dev"), foreign)
    assert fleet.lock().digest is None


def test_without_a_bucket_it_is_not_built_yet(fleet: ImageFleet) -> None:
    class NoBucket:
        def get_object(self, **_: Any) -> Any:
            raise ClientError({"Error": {"Code": "NoSuchBucket", "Message": "no"}}, "GetObject")

    s3: Any = NoBucket()
    write_locks(open_project(fleet.folder.root, "dev"), lambda: s3)
    assert fleet.lock().digest is None


@pytest.mark.parametrize(
    ("written_text", "edited_text"),
    [
        pytest.param("cuda: '12.9'", "cuda: '11.8'", id="other contents"),
        pytest.param("    server: 2.57.0\n", "", id="fewer contents"),
    ],
)
def test_contents_that_do_not_follow_from_the_release_are_expected_by_no_lock(
    fleet: ImageFleet, written_text: str, edited_text: str
) -> None:
    honest = fleet.write_lock_offline()
    text = fleet.lock_file.read_text()
    fleet.lock_file.write_text(text.replace(written_text, edited_text))
    assert fleet.lock() != honest
    (stale,) = stale_findings(open_project(fleet.folder.root, "dev"), "sentences")
    assert (stale.code, "what the lock expects" in stale.message) == ("FL969", True)
    assert fleet.write_lock_offline() == honest


def test_a_base_that_neither_the_spec_nor_a_build_names_is_not_built_on(fleet: ImageFleet) -> None:
    honest = fleet.write_lock_offline()
    (source,) = fleet.sources()
    key = replace(source, base=replace(source.base, digest=MOVED_BASE)).key
    text = fleet.lock_file.read_text()
    fleet.lock_file.write_text(
        text.replace(f"  key: {honest.key}\n", f"  key: {key}\n  base: {MOVED_BASE}\n")
    )
    assert fleet.lock().base == MOVED_BASE
    (stale,) = stale_findings(open_project(fleet.folder.root, "dev"), "sentences")
    assert stale.code == "FL969"
    (image,) = wanted_images(open_project(fleet.folder.root, "dev"), fleet.sources())
    assert (image.key, image.base.digest) == (honest.key, None)
    assert fleet.write_lock_offline() == honest
