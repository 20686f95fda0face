"""SageMaker's Triton images: which account keeps which release in which region, and what is inside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file

TRITON_REPOSITORY = "sagemaker-tritonserver"
"""The repository of SageMaker's Triton images, in each account that keeps them."""
_RELEASE_TAG = re.compile(r"(\d\d\.\d\d)-py3(-cpu)?")


@dataclass(frozen=True, kw_only=True)
class Partition:
    """An AWS partition: its name in ARNs and the domain of its registries."""

    name: str
    dns: str


@dataclass(frozen=True, kw_only=True)
class Release:
    """One release's contents: versions as their makers write them, `python` the minor version of its stub.

    Attributes:
        tensorrt: None where no source states it; of three parts where the source states no more.
        min_tensorrt: The proved version of the nearest release before, where this one's is unknown.
        max_tensorrt: That of the nearest release after.
        min_compute_capability: The lowest of the GPUs that it supports, as NVIDIA writes it.
        uncertain: Which of these fields are inferred or remembered; "regions" where it is only inferred that
            the image is in every region of its list. Rules on these warn, and refuse nothing.
    """

    name: str
    server: str
    cuda: str
    tensorrt: str | None
    min_tensorrt: str | None = None
    max_tensorrt: str | None = None
    python: str
    min_compute_capability: str
    uncertain: tuple[str, ...]

    @property
    def cuda_major(self) -> int:
        """The major version of CUDA, such as 12, which decides the driver of the host."""
        return int(self.cuda.partition(".")[0])

    @property
    def cuda_major_certain(self) -> bool:
        """Whether CUDA's major version is known: of all but images that nobody could read."""
        return "cuda_major" not in self.uncertain

    @property
    def tensorrt_certain(self) -> bool:
        """Whether a source states the version of TensorRT."""
        return "tensorrt" not in self.uncertain

    @property
    def certain(self) -> bool:
        """Whether a source states that the image is in every region of its list."""
        return "regions" not in self.uncertain


@dataclass(frozen=True, kw_only=True)
class ColdStart:
    """How long a new instance took until it answered, measured with one release's image.

    Attributes:
        release: Whose image it was.
        minutes: From the call that started the instance.
        unpacked_gb: The image's size on disk, in 10^9 bytes.
    """

    release: str
    minutes: int
    unpacked_gb: float


@dataclass(frozen=True, kw_only=True)
class Image:
    """One release's image in one region, with the registry account that really keeps it.

    Attributes:
        digest: `sha256:...` of the one image that is meant, whatever the tag names later; None: that.
        is_own: Whether it is not the release's, but one that a spec names in its place.
        address: What is pulled, where an app has an image whose parts only the deploy knows.
    """

    release: str
    account: str
    repository: str
    region: str
    tag: str
    digest: str | None = None
    gpu: bool
    cuda: int
    details: Release
    is_own: bool = False
    address: str | None = None

    @property
    def uri(self) -> str:
        """The reference that is pulled: by digest if there is one, as SageMaker takes a tag or a digest."""
        if self.address is not None:
            return self.address
        reference = f":{self.tag}" if self.digest is None else f"@{self.digest}"
        return f"{self.registry}/{self.repository}{reference}"

    @property
    def registry(self) -> str:
        """The host of the registry."""
        return registry_host(self.account, self.region)

    @property
    def content(self) -> str:
        """The identity that engines depend on: the name of a release, the digest of any other image."""
        return f"image@{self.digest or self.tag}" if self.is_own else self.name

    @property
    def reference(self) -> str:
        """As Docker names it: with the tag, which names the release, and the digest if there is one."""
        return f"{self.registry}/{self.name}"

    @property
    def name(self) -> str:
        """Without the registry, which is another one in another region."""
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.repository}{tag}" + (f"@{self.digest}" if self.digest else "")


def registry_host(account: str, region: str) -> str:
    """The host of an account's registry in a region."""
    return f"{account}.dkr.ecr.{region}.{partition_of(region).dns}"


def releases() -> list[str]:
    """Triton releases that have an image, oldest first."""
    return sorted(_registries())


@cache
def release(name: str) -> Release:
    """The contents of a release.

    Raises:
        KeyError: SageMaker has no image of it.
    """
    data = data_file("releases.yaml")
    facts = {"uncertain": (), **data["releases"][name]}
    since = {key: data[key][_newest(data[key], name)] for key in ("python", "min_compute_capability")}
    return Release(name=name, **{**facts, "uncertain": tuple(facts["uncertain"])}, **since)


def regions_of(release: str) -> list[str]:
    """Regions in which a release has an image."""
    return sorted(_registries()[release])


def image_regions() -> list[str]:
    """Regions in which any release has an image."""
    return sorted({region for registries in _registries().values() for region in registries})


def registry_accounts(region: str) -> list[str]:
    """The accounts that keep the images of any release in a region."""
    return sorted({registries[region] for registries in _registries().values() if region in registries})


def partition_of(region: str) -> Partition:
    """The partition that a region belongs to."""
    partitions = data_file("partitions.yaml")["partitions"]
    name = max(
        (name for name in partitions if region.startswith(partitions[name]["prefix"])),
        key=lambda n: partitions[n]["prefix"],
    )
    return Partition(name=name, dns=partitions[name]["dns"])


def release_of_tag(tag: str) -> tuple[str, bool] | None:
    """The release that a tag names, and whether it is the image for GPUs; None where it names none."""
    match = _RELEASE_TAG.fullmatch(tag)
    return (match[1], not match[2]) if match else None


@cache
def image(name: str, region: str, *, gpu: bool = True) -> Image:
    """The GPU or CPU image of a release in a region.

    Raises:
        KeyError: there is no such release, or not in this region.
    """
    account, details = _registries()[name][region], release(name)
    tag = f"{name}-py3" if gpu else f"{name}-py3-cpu"
    return Image(
        release=name,
        account=account,
        repository=TRITON_REPOSITORY,
        region=region,
        tag=tag,
        gpu=gpu,
        cuda=details.cuda_major,
        details=details,
    )


def cold_start(release: str) -> ColdStart:
    """The measured cold start of the newest measured release up to this one, else of the oldest measured."""
    measurements: Mapping[str, Any] = data_file("releases.yaml")["cold_starts"]
    names = sorted(measurements)
    older = [name for name in names if name <= release]
    nearest = older[-1] if older else names[0]
    return ColdStart(release=nearest, **measurements[nearest])


def removed_backends(release: str) -> dict[str, str]:
    """Backends that a release no longer has, with the release since which each is gone."""
    backends: Mapping[str, str] = data_file("releases.yaml")["removed_backends"]
    return {backend: since for backend, since in backends.items() if since <= release}


def backends_elsewhere() -> Mapping[str, str]:
    """NVIDIA's backends that no release's image has, with the ending of the tags of images that do."""
    elsewhere: Mapping[str, str] = data_file("releases.yaml")["backends_elsewhere"]
    return elsewhere


def missing_backends(release: str) -> frozenset[str]:
    """The backends that a release's image is known to lack."""
    return frozenset((*removed_backends(release), *backends_elsewhere()))


def _newest(since: Mapping[str, str], release: str) -> str:
    return max(first for first in since if first <= release)


@cache
def _registries() -> dict[str, dict[str, str]]:
    """The account by release and region: the SDK's own list, and what it leaves out."""
    versions: Mapping[str, Any] = data_file("images.json")["versions"]
    registries = {name: dict(entry["registries"]) for name, entry in versions.items()}
    further = data_file("registries.yaml")
    registries |= {name: registries[like] for name, like in further["same_as"].items()}
    classic: dict[str, str] = further["classic"]["accounts"]
    return registries | dict.fromkeys(further["classic"]["releases"], classic)
