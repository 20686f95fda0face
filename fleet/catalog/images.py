"""SageMaker's Triton images: which account keeps which release in which region."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class Partition:
    """An AWS partition: its name in ARNs and the domain of its registries."""

    name: str
    dns: str


@dataclass(frozen=True, kw_only=True)
class Image:
    """One release's GPU image in one region, with the registry account that really keeps it."""

    release: str
    account: str
    repository: str
    region: str
    uri: str
    cuda: int


def releases() -> list[str]:
    """Triton releases that have an image, oldest first."""
    return sorted(data_file("images.json")["versions"])


def regions_of(release: str) -> list[str]:
    """Regions in which a release has an image."""
    return sorted(data_file("images.json")["versions"][release]["registries"])


def image_regions() -> list[str]:
    """Regions in which any release has an image."""
    return sorted({region for release in releases() for region in regions_of(release)})


def partition_of(region: str) -> Partition:
    """The partition that a region belongs to."""
    known = data_file("partitions.yaml")["partitions"]
    name = max(
        (name for name in known if region.startswith(known[name]["prefix"])), key=lambda n: known[n]["prefix"]
    )
    return Partition(name=name, dns=known[name]["dns"])


def image(release: str, region: str) -> Image:
    """The GPU image of a release in a region.

    Raises:
        KeyError: there is no such release, or not in this region.
    """
    entry = data_file("images.json")["versions"][release]
    account, repository = entry["registries"][region], entry["repository"]
    registry = f"{account}.dkr.ecr.{region}.{partition_of(region).dns}"
    return Image(
        release=release,
        account=account,
        repository=repository,
        region=region,
        uri=f"{registry}/{repository}:{entry['tag_prefix']}",
        cuda=data_file("releases.yaml")["releases"][release]["cuda"],
    )
