"""The catalog's images: which account keeps a release in a region, and what the release contains."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from triton_fleet.catalog.amis import families_with_driver
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import (
    Release,
    image,
    image_regions,
    partition_of,
    regions_of,
    release,
    releases,
    removed_backends,
)

DIGEST = f"sha256:{0:064}"
IMAGES = [release(name) for name in releases()]


def test_the_releases_are_those_of_the_sdk_and_of_awss_documentation_oldest_first() -> None:
    assert releases()[:3] == ["22.05", "22.07", "22.08"]
    assert {"25.09", "25.12", "26.03", "26.05"} < set(releases())
    assert releases() == sorted(releases())


def test_the_contents_of_every_release_are_written_down() -> None:
    assert sorted(data_file("releases.yaml")["releases"]) == releases()


@pytest.mark.parametrize(
    ("name", "region", "registry"),
    [
        ("25.04", "eu-west-1", "763104351884.dkr.ecr.eu-west-1.amazonaws.com"),
        ("25.04", "cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("23.12", "us-east-1", "763104351884.dkr.ecr.us-east-1.amazonaws.com"),
        ("23.10", "us-east-1", "785573368785.dkr.ecr.us-east-1.amazonaws.com"),
        ("22.05", "cn-northwest-1", "474822919863.dkr.ecr.cn-northwest-1.amazonaws.com.cn"),
        ("26.03", "ap-southeast-6", "633930458069.dkr.ecr.ap-southeast-6.amazonaws.com"),
    ],
)
def test_a_release_lies_in_the_account_that_keeps_it_in_that_region(
    name: str, region: str, registry: str
) -> None:
    assert image(name, region).uri == f"{registry}/sagemaker-tritonserver:{name}-py3"
    assert image(name, region).account == registry.partition(".")[0]


def test_the_cpu_image_has_a_tag_of_its_own() -> None:
    cpu, gpu = image("25.04", "eu-west-1", gpu=False), image("25.04", "eu-west-1")
    assert cpu.uri == f"{gpu.uri}-cpu"
    assert (cpu.gpu, gpu.gpu) == (False, True)


def test_the_sdks_own_tags_and_repositories_are_those_that_are_composed() -> None:
    for name, entry in data_file("images.json")["versions"].items():
        image_name = image(name, "us-east-1").uri.partition("/")[2]
        assert image_name == f"{entry['repository']}:{entry['tag_prefix']}"


@pytest.mark.parametrize(
    ("name", "region"), [("25.03", "eu-west-1"), ("25.09", "cn-north-1"), ("22.05", "eu-south-2")]
)
def test_a_release_that_a_region_does_not_have_is_not_found(name: str, region: str) -> None:
    with pytest.raises(KeyError):
        image(name, region)


def test_the_regions_of_what_the_sdk_leaves_out_are_inferred() -> None:
    names = {release.name for release in IMAGES if not release.certain}
    same_as = data_file("registries.yaml")["same_as"]
    assert {"25.12", "26.03"} <= names <= same_as.keys()
    assert [name for name in names if regions_of(name) != regions_of(same_as[name])] == []


def test_before_23_12_there_are_22_regions() -> None:
    assert {len(regions_of(name)) for name in releases() if name < "23.12"} == {22}
    assert {"us-east-1", "cn-north-1", "mx-central-1"} < set(image_regions())


def test_every_account_is_a_twelve_digit_number() -> None:
    accounts = {image(name, region).account for name in releases() for region in regions_of(name)}
    assert [account for account in accounts if len(account) != 12 or not account.isdigit()] == []


@pytest.mark.parametrize(
    ("name", "server", "cuda", "tensorrt", "python", "capability"),
    [
        ("22.12", "2.29.0", "11.8.0", "8.5.1.7", "3.8", "6.0"),
        ("23.05", "2.34.0", "12.1.1", "8.6.1.2", "3.8", "6.0"),
        ("24.09", "2.50.0", "12.6.1", "10.4.0.26", "3.10", "6.0"),
        ("25.04", "2.57.0", "12.9.0", "10.9.0.34", "3.12", "7.5"),
        ("26.05", "2.69.0", "13.2.1", None, "3.12", "7.5"),
    ],
)
def test_what_a_release_contains(
    name: str, server: str, cuda: str, tensorrt: str | None, python: str, capability: str
) -> None:
    actual_release = release(name)
    assert (actual_release.server, actual_release.cuda, actual_release.tensorrt) == (server, cuda, tensorrt)
    assert (actual_release.python, actual_release.min_compute_capability) == (python, capability)


def test_the_cuda_major_version_changes_with_23_01_and_with_25_09() -> None:
    first = {
        major: next(release.name for release in IMAGES if release.cuda_major == major)
        for major in (11, 12, 13)
    }
    assert first == {11: "22.05", 12: "23.01", 13: "25.09"}
    assert image("25.09", "eu-west-1").cuda == 13


def test_a_driver_is_known_for_every_release() -> None:
    assert [release.name for release in IMAGES if not families_with_driver(release.cuda_major)] == []


def test_an_unknown_version_of_tensorrt_is_never_certain() -> None:
    assert [release.name for release in IMAGES if release.tensorrt is None and release.tensorrt_certain] == []
    assert release("24.09").tensorrt_certain


def test_what_is_uncertain_is_a_field_of_the_release_or_its_regions() -> None:
    names = {field.name for field in fields(Release)} | {"regions"}
    assert {name for release in IMAGES for name in release.uncertain} <= names


@pytest.mark.parametrize(
    ("name", "gone_values"),
    [
        ("23.05", {}),
        ("24.09", {"fastertransformer": "23.06"}),
        ("25.04", {"fastertransformer": "23.06", "tensorflow": "25.03"}),
    ],
)
def test_the_backends_that_a_release_no_longer_has(name: str, gone_values: dict[str, str]) -> None:
    assert removed_backends(name) == gone_values


@pytest.mark.parametrize(
    ("region", "name", "dns"),
    [
        ("eu-west-1", "aws", "amazonaws.com"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
    ],
)
def test_the_partition_of_a_region(region: str, name: str, dns: str) -> None:
    partition = partition_of(region)
    assert (partition.name, partition.dns) == (name, dns)


def test_an_image_with_a_digest_is_pulled_by_it_and_called_by_tag_and_digest() -> None:
    pinned_image = replace(image("25.04", "us-east-1"), digest=DIGEST)
    assert pinned_image.uri == f"763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver@{DIGEST}"
    assert pinned_image.name == f"sagemaker-tritonserver:25.04-py3@{DIGEST}"
