"""Manifests of images, whoever wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.container_images import INDEX, OCI, digest_of
from triton_fleet.awsapi.images.manifest import Blob, Index, Manifest, parse_manifest
from triton_fleet.repository.stream import UnreadableError

BLOB = {"digest": digest_of(b""), "size": 1}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(digest_of(b"")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["digest", "size", "platform", "os"]), inner)
    ),
)
ANY_DOCUMENT = st.dictionaries(st.sampled_from(["config", "layers", "manifests", "mediaType"]), JSON_VALUES)


def parse_manifest_of(manifest: Mapping[str, Any]) -> Manifest | Index:
    text = json.dumps(manifest)
    return parse_manifest(text, digest_of(text.encode()))


def test_a_manifest_names_the_configuration_and_the_layers() -> None:
    manifest = parse_manifest_of({"mediaType": OCI, "config": BLOB, "layers": [BLOB, BLOB]})
    assert isinstance(manifest, Manifest)
    blob = Blob(digest_of(b""), 1)
    assert (manifest.media_type, manifest.config, manifest.layers) == (OCI, blob, (blob, blob))


def test_an_oci_manifest_may_leave_its_type_out() -> None:
    manifest = parse_manifest_of({"config": BLOB, "layers": []})
    assert isinstance(manifest, Manifest)
    assert manifest.media_type == OCI


def test_of_two_images_of_one_platform_the_first_counts() -> None:
    entries = [
        {"digest": digest_of(name), "platform": {"os": "linux", "architecture": "amd64"}}
        for name in (b"1", b"2")
    ]
    index = parse_manifest_of({"mediaType": INDEX, "manifests": entries})
    assert isinstance(index, Index)
    assert index.ours == digest_of(b"1")


@given(ANY_DOCUMENT)
def test_any_document_is_a_manifest_or_refused(document: Mapping[str, Any]) -> None:
    try:
        assert isinstance(parse_manifest_of(document), Manifest | Index)
    except UnreadableError as error:
        assert str(error)


@pytest.mark.parametrize(
    "change",
    [
        {"layers": None},
        {"layers": [None]},
        {"layers": [{"digest": "sha256:0", "size": 1}]},
        {"layers": [{"digest": digest_of(b""), "size": -1}]},
        {"layers": [{"digest": digest_of(b""), "size": True}]},
        {"layers": [{"digest": digest_of(b""), "size": 1 << 50}]},
        {"layers": [{"digest": digest_of(b""), "size": 40 << 30}] * 2},
        {"layers": [{"digest": digest_of(b""), "size": 1}] * 300},
        {"config": None},
        {"config": {"digest": digest_of(b""), "size": "1"}},
        {"mediaType": "text/plain"},
        {"manifests": "many"},
    ],
)
def test_a_manifest_that_no_image_has_is_refused(change: Mapping[str, Any]) -> None:
    blob = {"digest": digest_of(b""), "size": 1}
    manifest = json.dumps({"mediaType": OCI, "config": blob, "layers": [blob], **change})
    if "manifests" in change:
        manifest = json.dumps({"mediaType": INDEX, **change})
    with pytest.raises(UnreadableError):
        parse_manifest(manifest, digest_of(manifest.encode()))


def test_a_manifest_with_another_digest_is_refused() -> None:
    manifest = json.dumps({"mediaType": INDEX, "manifests": []})
    with pytest.raises(UnreadableError, match="does not have the digest"):
        parse_manifest(manifest, digest_of(b"other"))


def test_a_manifest_of_more_than_4_mib_is_refused() -> None:
    with pytest.raises(UnreadableError, match="more than 4 MiB"):
        parse_manifest(" " * (5 << 20), digest_of(b""))
