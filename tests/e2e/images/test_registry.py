"""Images of Amazon ECR are found by tag and digest, and read without Docker."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from botocore.stub import Stubber

from tests.support.container_images import (
    FILES,
    HOST,
    OCI,
    TRITON,
    ContainerRepository,
    facts_of,
    layer,
    reference_of,
    refusal,
)
from tests.support.hostile_tar import END
from triton_fleet.awsapi.images import registry
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.catalog.images import image
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.spec.image import ImageFacts

ARM = {**TRITON, "architecture": "arm64"}


def test_the_configuration_tells_versions_labels_and_the_platform(repository: ContainerRepository) -> None:
    digest = repository.push([layer(FILES)], tag="one")
    image = registry.read_image(repository.ecr, reference_of(repository), layers=False)
    assert image.image == reference_of(repository).at(digest)
    assert image.facts == ImageFacts(
        architecture="linux/amd64",
        media_type="application/vnd.docker.distribution.manifest.v2+json",
        triton="25.04",
        server="2.57.0",
        cuda="12.9",
        tensorrt="10.9.0.34",
        multi_model=True,
        binds_to_port=True,
    )
    assert (image.size, image.index, registry.manifest_findings(image)) == (len(layer(FILES)), "", [])


def test_the_layers_tell_backends_packages_and_the_start_script(repository: ContainerRepository) -> None:
    removed_text = "opt/tritonserver/backends/vllm/model.py"
    lower, upper = (
        layer([*FILES, removed_text]),
        layer([removed_text.replace("model", ".wh.model")], is_packed=False),
    )
    repository.push([lower, upper], tag="one")
    facts = facts_of(repository)
    assert (facts.python, facts.backends, facts.packages, facts.serve) == (
        "3.12",
        ("python",),
        {"numpy": "1.26.4"},
        True,
    )


def test_an_empty_layer_tells_nothing(repository: ContainerRepository) -> None:
    repository.push([gzip.compress(END, mtime=0)], tag="one")
    assert facts_of(repository).backends is None


def test_an_image_is_read_by_its_digest(repository: ContainerRepository) -> None:
    digest = repository.push([layer(FILES)], tag="one")
    repository.push([], tag="one")
    reference = image_reference(f"{HOST}/{repository.name}@{digest}")
    assert registry.read_image(repository.ecr, reference, layers=True).facts.backends == ("python",)


def test_of_an_index_the_image_for_our_instances_is_read(repository: ContainerRepository) -> None:
    ours, other_text = (
        repository.push([layer(FILES)], media_type=OCI),
        repository.push([], ARM, media_type=OCI),
    )
    attestation = repository.push([], {}, media_type=OCI)
    children = {"linux/arm64": other_text, "linux/amd64": ours, "unknown/unknown": attestation}
    index = repository.index(children, tag="one")
    image = registry.read_image(repository.ecr, reference_of(repository), layers=False)
    assert (image.image.digest, image.index) == (ours, index)


def test_a_manifest_that_sagemaker_refuses_is_a_warning(repository: ContainerRepository) -> None:
    repository.push([], media_type=OCI, tag="one")
    image = registry.read_image(repository.ecr, reference_of(repository), layers=False)
    (finding,) = registry.manifest_findings(image)
    assert (finding.code, finding.severity) == ("FL635", "warning")
    assert "application/vnd.oci.image.manifest.v1+json, which SageMaker refuses" in finding.message


def test_an_index_without_an_image_for_our_instances_is_refused(repository: ContainerRepository) -> None:
    repository.index({"linux/arm64": repository.push([], ARM)}, tag="one")
    assert "is for linux/arm64, and not for linux/amd64" in refusal(repository)


def test_an_image_for_other_processors_is_refused(repository: ContainerRepository) -> None:
    repository.push([], ARM, tag="one")
    assert refusal(repository).startswith("FL633 ")


def test_an_index_that_lies_about_the_platform_is_refused(repository: ContainerRepository) -> None:
    repository.index({"linux/amd64": repository.push([], ARM)}, tag="one")
    assert refusal(repository).startswith("FL633 ")


def test_an_index_of_indexes_is_refused(repository: ContainerRepository) -> None:
    inner = repository.index({"linux/amd64": repository.push([])})
    repository.index({"linux/amd64": inner}, tag="one")
    assert "its index names another index" in refusal(repository)


def test_a_repository_and_a_tag_that_do_not_exist_are_refused(repository: ContainerRepository) -> None:
    assert "FL628 the registry does not have" in refusal(repository)
    nowhere = image_reference(f"{HOST}/nowhere:one")
    with pytest.raises(FindingsError, match="The repository with name 'nowhere' does not exist"):
        registry.read_image(repository.ecr, nowhere, layers=False)


def test_a_digest_that_the_registry_has_no_longer_is_refused(repository: ContainerRepository) -> None:
    digest = repository.push([], tag="one")
    repository.ecr.batch_delete_image(repositoryName=repository.name, imageIds=[{"imageDigest": digest}])
    with pytest.raises(
        FindingsError, match="the registry does not have, or no longer has, the digest"
    ) as error_info:
        registry.read_image(repository.ecr, reference_of(repository).at(digest), layers=False)
    assert f"fleet images inspect {HOST}/{repository.name}:one" in error_info.value.findings[0].hint


def test_a_stand_in_of_an_image_has_no_facts(ecr: Any) -> None:
    reference = image_reference(image("25.04", "us-east-1").uri)
    with pytest.raises(FindingsError, match="it is not a container image"):
        registry.read_image(ecr, reference, layers=False)


def test_a_missing_permission_is_named(ecr: Any) -> None:
    with Stubber(ecr) as stub:
        stub.add_client_error("batch_get_image", "AccessDeniedException", "not authorized")
        with pytest.raises(CannotRunError, match="may not be read: not authorized") as error_info:
            registry.read_image(ecr, image_reference(f"{HOST}/team/triton:one"), layers=False)
    assert "ecr:BatchGetImage and ecr:GetDownloadUrlForLayer" in error_info.value.remedy
    assert "arn:aws:ecr:us-east-1:123456789012:repository/team/triton" in error_info.value.remedy
