"""The embedded AWS's quotas, which are those that were put in, and its registries of SageMaker's images."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from triton_fleet.catalog.images import image

TRITON = image("25.04", "us-east-1")


def manifest_of(ecr: Any, tag: str, *, account: str = TRITON.account) -> dict[str, Any]:
    answer: dict[str, Any] = ecr.batch_get_image(
        registryId=account, repositoryName=TRITON.repository, imageIds=[{"imageTag": tag}]
    )
    return answer


def test_a_quota_is_what_was_put_in_and_there_is_no_other(aws: EmbeddedAws) -> None:
    quotas = client(aws, "service-quotas")
    assert quotas.list_service_quotas(ServiceCode="sagemaker")["Quotas"] == []
    backend = cast("EmbeddedServiceQuotas", servicequotas_backends["123456789012"]["us-east-1"])
    backend.put("sagemaker", "L-1", "one", 4)
    backend.put("sagemaker", "L-2", "two", 5)
    backend.put("sagemaker", "L-1", "one", 6)
    first = quotas.list_service_quotas(ServiceCode="sagemaker", MaxResults=1)
    rest = quotas.list_service_quotas(ServiceCode="sagemaker", NextToken=first["NextToken"])
    actual_quotas = [*first["Quotas"], *rest["Quotas"]]
    assert [(actual_quota["QuotaCode"], actual_quota["Value"]) for actual_quota in actual_quotas] == [
        ("L-1", 6),
        ("L-2", 5),
    ]
    assert quotas.list_service_quotas(ServiceCode="lambda")["Quotas"] == []


def test_an_image_of_the_catalog_has_a_manifest_that_says_it_is_a_stand_in(ecr: Any) -> None:
    (image,) = manifest_of(ecr, TRITON.tag)["images"]
    assert "a stand-in" in json.loads(image["imageManifest"])["annotations"]["note"]
    assert (image["registryId"], image["imageId"]["imageTag"]) == (TRITON.account, "25.04-py3")


def test_an_image_is_found_by_its_digest_as_by_its_tag(ecr: Any) -> None:
    (image,) = manifest_of(ecr, TRITON.tag)["images"]
    expected_values = {"imageDigest": image["imageId"]["imageDigest"]}
    answer = ecr.batch_get_image(
        registryId=TRITON.account, repositoryName=TRITON.repository, imageIds=[expected_values]
    )
    assert [image["imageId"] for image in answer["images"]] == [expected_values]


def test_a_tag_that_the_catalog_lacks_is_a_failure(ecr: Any) -> None:
    answer = manifest_of(ecr, "1.0-py3")
    assert (answer["images"], answer["failures"][0]["failureCode"]) == ([], "ImageNotFound")


def test_a_registry_of_somebody_else_has_no_such_repository(ecr: Any) -> None:
    with pytest.raises(ClientError, match="RepositoryNotFoundException"):
        manifest_of(ecr, TRITON.tag, account="999900001111")


def test_the_accounts_own_registry_is_asked_for_its_own_images(ecr: Any) -> None:
    ecr.create_repository(repositoryName=TRITON.repository)
    answer = manifest_of(ecr, TRITON.tag, account="123456789012")
    assert answer["failures"][0]["failureCode"] == "ImageNotFound"
