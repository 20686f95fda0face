"""URIs of images in Amazon ECR."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.findings import FindingsError

REGISTRY = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("rest", "tag", "digest"),
    [
        ("team/triton:25.04", "25.04", None),
        ("team/triton", "latest", None),
        (f"team/triton@{DIGEST}", None, DIGEST),
        (f"team/triton:25.04@{DIGEST}", "25.04", DIGEST),
    ],
)
def test_an_image_is_named_by_tag_and_digest(rest: str, tag: str | None, digest: str | None) -> None:
    reference = image_reference(f"{REGISTRY}/{rest}")
    assert reference == ImageReference(
        registry=REGISTRY,
        account="123456789012",
        region="us-east-1",
        repository="team/triton",
        tag=tag,
        digest=digest,
    )


def test_a_repository_in_china_has_the_domain_and_the_partition_of_china() -> None:
    registry = "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn"
    reference = image_reference(f"{registry}/triton")
    assert reference.uri == f"{registry}/triton:latest"
    assert reference.repository_arn == "arn:aws-cn:ecr:cn-north-1:123456789012:repository/triton"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "triton:25.04",
        "nvcr.io/nvidia/tritonserver:25.04-py3",
        "public.ecr.aws/team/triton:25.04",
        f"https://{REGISTRY}/triton:25.04",
        f"{REGISTRY}/",
        f"{REGISTRY}/Triton",
        f"{REGISTRY}/../triton",
        f"{REGISTRY}/triton:25.04@sha256:0",
        f"{REGISTRY}/triton:25.04\n",
        f"{REGISTRY}.evil.example/triton",
        "123456789012.dkr.ecr.cn-north-1.amazonaws.com/triton",
        f"{REGISTRY}/{'a' * 600}",
    ],
)
def test_what_is_not_an_image_of_ecr_is_a_finding(uri: str) -> None:
    with pytest.raises(
        FindingsError, match="FL636.*is not the URI of an image in a private registry of Amazon ECR"
    ):
        image_reference(uri)


@given(st.text())
def test_any_text_is_an_image_or_a_finding(text: str) -> None:
    try:
        image_reference(f"{REGISTRY}/{text}")
    except FindingsError as error:
        assert [finding.code for finding in error.findings] == ["FL636"]
