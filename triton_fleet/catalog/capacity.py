"""How a variant gets its instances: regions with instance pools, and ranges on which sources disagree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from triton_fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class WiderRange:
    """The values of a property that one source accepts beyond CloudFormation's schema; `by` names it."""

    least: int
    most: int
    by: str


def pool_regions() -> tuple[str, ...]:
    """Regions in which AWS lists instance pools."""
    return tuple(data_file("capacity.yaml")["pool_regions"])


@cache
def wider_range(name: str) -> WiderRange | None:
    """The range of another source for a property of a variant; None where the sources agree."""
    facts = data_file("capacity.yaml")["wider_ranges"].get(name)
    return None if facts is None else WiderRange(**facts)
