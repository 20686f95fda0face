"""The Python packages of Triton's images, which models import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file

_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:\[[^\]]*\])?==([0-9][A-Za-z0-9.!+_]{0,63})")


def normal_name(package: str) -> str:
    """A package's name as PyPI compares it: `Zope.Interface` is `zope-interface`; source: PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


def pinned_version(requirement: str) -> tuple[str, str] | None:
    """The name and the version of a requirement that pins it, `einops==0.8.0`; None for any other."""
    found = _PINNED.fullmatch(requirement)
    return (found[1], found[2]) if found else None


def release_packages(release: str) -> dict[str, str]:
    """The packages of a release's image and their versions; "" where nothing pins one.

    Args:
        release: Such as "25.04".
    """
    return {name: _latest(facts.get("versions", {}), release) for name, facts in sorted(_installed(release))}


@cache
def release_modules(release: str) -> frozenset[str]:
    """The modules that these packages bring, as a model imports them."""
    return frozenset(
        module
        for name, facts in _installed(release)
        for module in facts.get("modules", [name.replace("-", "_")])
    )


def _installed(release: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tables = data_file("python_packages.yaml")
    for name, facts in (tables["packages"] | tables["requirements"]).items():
        if facts.get("since", "") <= release and not (facts.get("until") or "99.99") <= release:
            yield name, facts


def _latest(versions: Mapping[str, str], release: str) -> str:
    first = max((version for version in versions if version <= release), default="")
    return versions.get(first, "")
