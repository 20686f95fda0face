"""The Python packages of Triton's images, which models import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fleet.catalog.data_file import data_file


def normal_name(package: str) -> str:
    """A package's name as PyPI compares it: `Zope.Interface` is `zope-interface`; source: PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


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
    first = max((each for each in versions if each <= release), default="")
    return versions.get(first, "")
