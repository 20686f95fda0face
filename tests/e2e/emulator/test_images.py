"""Repositories of the account: layers, images by digest and tag, and the URLs that layers are downloaded from."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
import urllib3
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.container_images import DOCKER, INDEX, ContainerRepository, digest_of, layer
from tests.support.embedded_app.clients import client

NUMBERS = count()
CONTENT = layer(["etc/release"])


@pytest.fixture
def repository(ecr: Any) -> ContainerRepository:
    return ContainerRepository(ecr, f"team/images{next(NUMBERS)}")


def manifest_of(repository: ContainerRepository, **expected_text: str) -> dict[str, Any]:
    answer: dict[str, Any] = repository.ecr.batch_get_image(
        repositoryName=repository.name, imageIds=[expected_text]
    )
    return answer


def url_of(repository: ContainerRepository, digest: str) -> str:
    answer = repository.ecr.get_download_url_for_layer(repositoryName=repository.name, layerDigest=digest)
    assert answer["layerDigest"] == digest
    return str(answer["downloadUrl"])


def test_an_image_has_the_digest_of_its_manifest(repository: ContainerRepository) -> None:
    digest = repository.push([CONTENT], tag="one")
    (image,) = manifest_of(repository, imageTag="one")["images"]
    assert image["imageId"] == {"imageTag": "one", "imageDigest": digest}
    assert digest_of(image["imageManifest"].encode()) == digest
    assert image["imageManifestMediaType"] == DOCKER


def test_a_layer_is_downloaded_from_a_url_without_further_credentials(
    repository: ContainerRepository,
) -> None:
    repository.push([CONTENT])
    answer = urllib3.request("GET", url_of(repository, digest_of(CONTENT)))
    assert (answer.status, answer.data) == (200, CONTENT)


def test_the_url_of_a_layer_reads_that_layer_alone(repository: ContainerRepository) -> None:
    other_layer = layer(["etc/other"])
    repository.push([CONTENT, other_layer])
    url = url_of(repository, digest_of(CONTENT))
    name, text = (digest_of(item).removeprefix("sha256:") for item in (CONTENT, other_layer))
    assert urllib3.request("GET", url.replace(name, text)).status == 403


def test_the_bucket_of_layers_is_not_one_of_the_account(
    aws: EmbeddedAws, repository: ContainerRepository
) -> None:
    repository.push([CONTENT])
    buckets = [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]
    assert [name for name in buckets if "layer" in name] == []


def test_a_large_layer_is_uploaded_in_parts(repository: ContainerRepository) -> None:
    content = bytes(range(256)) * (6 << 12)
    repository.push([content])
    assert urllib3.request("GET", url_of(repository, digest_of(content))).data == content


def test_small_parts_other_than_the_last_are_refused(repository: ContainerRepository) -> None:
    with pytest.raises(ClientError, match="LayerPartTooSmallException"):
        repository.upload(bytes(3000), part=1000)


def test_a_layer_with_another_digest_is_refused(repository: ContainerRepository) -> None:
    with pytest.raises(ClientError, match="InvalidLayerException"):
        repository.upload(CONTENT, digest=digest_of(b"other"))


def test_a_layer_that_exists_and_one_without_parts_are_refused(repository: ContainerRepository) -> None:
    repository.upload(CONTENT)
    with pytest.raises(ClientError, match="LayerAlreadyExistsException"):
        repository.upload(CONTENT)
    with pytest.raises(ClientError, match="EmptyUploadException"):
        repository.upload(b"")


def test_an_image_of_layers_that_do_not_exist_is_refused(repository: ContainerRepository) -> None:
    missing_values = {"layers": [{"mediaType": "x", "digest": digest_of(b"missing"), "size": 7}]}
    with pytest.raises(ClientError, match="LayersNotFoundException"):
        repository.push(changes=missing_values)


def test_an_index_of_images_that_do_not_exist_is_refused(repository: ContainerRepository) -> None:
    with pytest.raises(ClientError, match="ReferencedImagesNotFoundException"):
        repository.index({"linux/amd64": digest_of(b"missing")})


def test_a_digest_that_is_not_that_of_the_manifest_is_refused(repository: ContainerRepository) -> None:
    manifest = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": []})
    with pytest.raises(ClientError, match="ImageDigestDoesNotMatchException"):
        repository.ecr.put_image(
            repositoryName=repository.name, imageManifest=manifest, imageDigest=digest_of(b"other")
        )


def test_a_layer_that_no_image_has_cannot_be_downloaded(repository: ContainerRepository) -> None:
    digest = repository.upload(CONTENT)
    with pytest.raises(ClientError, match="LayerInaccessibleException"):
        url_of(repository, digest)
    with pytest.raises(ClientError, match="LayersNotFoundException"):
        url_of(repository, digest_of(b"missing"))


def test_an_immutable_tag_stays_with_its_image(ecr: Any) -> None:
    repository = ContainerRepository(ecr, f"team/images{next(NUMBERS)}", imageTagMutability="IMMUTABLE")
    repository.push([CONTENT], tag="one")
    with pytest.raises(
        ClientError, match="ImageTagAlreadyExistsException.*because the repository is immutable"
    ):
        repository.push([], tag="one")
    with pytest.raises(ClientError, match="ImageAlreadyExistsException"):
        repository.push([CONTENT], tag="one")


def test_tags_that_a_filter_excludes_move(ecr: Any) -> None:
    repository = ContainerRepository(
        ecr,
        f"team/images{next(NUMBERS)}",
        imageTagMutability="IMMUTABLE_WITH_EXCLUSION",
        imageTagMutabilityExclusionFilters=[{"filter": "latest*", "filterType": "WILDCARD"}],
    )
    repository.push([CONTENT], tag="latest-1")
    moved_text = repository.push([], tag="latest-1")
    assert manifest_of(repository, imageTag="latest-1")["images"][0]["imageId"]["imageDigest"] == moved_text


def test_an_image_whose_tag_moves_is_found_by_its_digest(repository: ContainerRepository) -> None:
    first = repository.push([CONTENT], tag="one")
    second = repository.push([], tag="one")
    assert manifest_of(repository, imageDigest=first)["images"]
    details = repository.ecr.describe_images(repositoryName=repository.name)["imageDetails"]
    assert {detail["imageDigest"]: detail.get("imageTags", []) for detail in details} == {
        first: [],
        second: ["one"],
    }
    assert {detail["imageSizeInBytes"] for detail in details} == {len(CONTENT), 0}


def test_a_deleted_image_is_gone_by_digest_and_tag(repository: ContainerRepository) -> None:
    digest = repository.push([CONTENT], tag="one")
    expected_values = {"imageDigest": digest}
    answer = repository.ecr.batch_delete_image(repositoryName=repository.name, imageIds=[expected_values])
    assert answer["imageIds"] == [{"imageDigest": digest, "imageTag": "one"}]
    assert manifest_of(repository, **expected_values)["failures"] == [
        {
            "imageId": expected_values,
            "failureCode": "ImageNotFound",
            "failureReason": "Requested image not found",
        }
    ]


def test_an_image_goes_with_its_last_tag(repository: ContainerRepository) -> None:
    digest = repository.push([CONTENT], tag="one")
    repository.push([CONTENT], tag="two")
    for tag, survivors in (("one", 1), ("two", 0)):
        repository.ecr.batch_delete_image(repositoryName=repository.name, imageIds=[{"imageTag": tag}])
        assert len(manifest_of(repository, imageDigest=digest)["images"]) == survivors


def test_an_image_of_an_index_cannot_be_deleted_before_it(repository: ContainerRepository) -> None:
    child = repository.push([CONTENT])
    repository.index({"linux/amd64": child}, tag="all")
    expected_values = [{"imageDigest": child}]
    answer = repository.ecr.batch_delete_image(repositoryName=repository.name, imageIds=expected_values)
    assert answer["failures"][0]["failureCode"] == "ImageReferencedByManifestList"


def test_a_token_counts_for_twelve_hours(ecr: Any) -> None:
    (token,) = ecr.get_authorization_token()["authorizationData"]
    assert token["proxyEndpoint"] == "https://123456789012.dkr.ecr.us-east-1.amazonaws.com"
    assert token["expiresAt"] > datetime.now(UTC) + timedelta(hours=11)
