"""What a prune would remove: units of objects that are only useful together, and incomplete uploads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fleet.artifacts.store import STORE, ObjectListing
from fleet.engines.object_keys import MANIFEST, PLANS


@dataclass(frozen=True)
class Unit:
    """Objects that are only useful together: an archive, the files of one, a set, a release, an engine."""

    name: str
    objects: Mapping[str, ObjectListing]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(found.size for found in self.objects.values())

    @property
    def modified(self) -> datetime:
        """When the last of its objects was written."""
        return max(found.modified for found in self.objects.values())


@dataclass(frozen=True)
class Upload:
    """A multipart upload that was never completed."""

    key: str
    upload_id: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What would be removed; `too_young` is the number of unused objects that are too young."""

    units: tuple[Unit, ...]
    uploads: tuple[Upload, ...]
    too_young: int

    @property
    def objects(self) -> dict[str, ObjectListing]:
        """All that would be removed, by key."""
        return {key: found for unit in self.units for key, found in unit.objects.items()}

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(unit.size for unit in self.units)


def units_of(objects: Mapping[str, ObjectListing]) -> list[Unit]:
    """These objects, grouped into units."""
    units: dict[str, dict[str, ObjectListing]] = defaultdict(dict)
    for key, found in objects.items():
        units[_unit(key)][key] = found
    return [Unit(name, held) for name, held in units.items()]


def _unit(key: str) -> str:
    """The key's unit: `archives/HEX` as a prefix, a folder of endpoints or engines, or the object."""
    top, *rest = key.split("/")
    if f"{top}/" == STORE:
        return f"{STORE}{rest[0].partition('.')[0]}"
    return f"{top}/{rest[0]}/{rest[1]}/" if len(rest) > 2 else key


def is_marker(key: str) -> bool:
    """Whether the object is the marker that all files of an archive, or of an engine, exist."""
    if key.startswith(PLANS):
        return key.endswith(f"/{MANIFEST}")
    return key.startswith(STORE) and key.endswith(".files") and key.count("/") == 1
