"""The plan of a prune: units of objects that are only useful together, images, incomplete uploads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from triton_fleet.builds.engines.artifacts import MANIFEST, PLANS
from triton_fleet.builds.images.artifacts import BUILDS
from triton_fleet.endpoint.bucket_keys import ARCHIVES, OWNERS
from triton_fleet.store.content_store import ObjectListing


@dataclass(frozen=True, kw_only=True)
class StoredImage:
    """An image of the environment's repository.

    Attributes:
        repository: Its name.
        digest: The manifest's.
        tags: All of them, sorted.
        size: Bytes of its layers, also of those that other images share.
        push_time: When it was pushed.
    """

    repository: str
    digest: str
    tags: tuple[str, ...]
    size: int
    push_time: datetime

    @property
    def name(self) -> str:
        """As a Model names it, without the registry."""
        return f"{self.repository}@{self.digest}"


@dataclass(frozen=True)
class Unit:
    """Objects only useful together: an archive, the files of one, a set, a release, an engine, an image.

    `objects` of an image are the records of its builds.
    """

    name: str
    objects: Mapping[str, ObjectListing]
    image: StoredImage | None = None

    @property
    def size(self) -> int:
        """Bytes of the objects."""
        return sum(entry.size for entry in self.objects.values())

    @property
    def mtime(self) -> datetime:
        """When the last of its objects was written, or its image pushed."""
        push_times = [self.image.push_time] if self.image is not None else []
        return max([*push_times, *(entry.mtime for entry in self.objects.values())])


@dataclass(frozen=True)
class Upload:
    """A multipart upload that was never completed."""

    key: str
    upload_id: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The units to remove, and the number of unused objects and images that are too young."""

    units: tuple[Unit, ...]
    uploads: tuple[Upload, ...]
    too_young: int
    too_young_images: int

    @property
    def objects(self) -> dict[str, ObjectListing]:
        """All that would be removed, by key."""
        return {key: entry for unit in self.units for key, entry in unit.objects.items()}

    @property
    def images(self) -> tuple[StoredImage, ...]:
        """All images that would be removed."""
        return tuple(unit.image for unit in self.units if unit.image is not None)

    @property
    def size(self) -> int:
        """Bytes of the objects."""
        return sum(unit.size for unit in self.units)


def units_of(objects: Mapping[str, ObjectListing], images: Iterable[StoredImage] = ()) -> list[Unit]:
    """These objects and images, grouped into units."""
    units: dict[str, dict[str, ObjectListing]] = defaultdict(dict)
    for key, entry in objects.items():
        units[_unit(key)][key] = entry
    new_units = []
    for image in images:
        records = [units.pop(name, {}) for name in map(record_prefix, image.tags)]
        new_units.append(
            Unit(
                image.name,
                {key: entry_of_record for record in records for key, entry_of_record in record.items()},
                image,
            )
        )
    return [*(Unit(name, record) for name, record in units.items()), *new_units]


def record_prefix(tag: str) -> str:
    """The unit of the records of a build, by the tag of its image: the key in hexadecimal."""
    return f"{BUILDS}{tag}/"


def _unit(key: str) -> str:
    """The key's unit: `archives/HEX` as a prefix, a folder of the other prefixes, or the object."""
    top, *rest = key.split("/")
    if f"{top}/" == ARCHIVES:
        return f"{ARCHIVES}{rest[0].partition('.')[0]}"
    if f"{top}/" == OWNERS:
        return f"{OWNERS}{rest[0]}/"
    return f"{top}/{rest[0]}/{rest[1]}/" if len(rest) > 2 else key


def is_marker(key: str) -> bool:
    """Whether the object is the marker that all files of an archive, of an engine or of an image, exist."""
    if key.startswith((PLANS, BUILDS)):
        return key.endswith(f"/{MANIFEST}")
    return key.startswith(ARCHIVES) and key.endswith(".files") and key.count("/") == 1
