"""Triton's releases: versions, fields of the model configuration, Python and its packages, ONNX Runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file

DIGITS = 9
"""No part of a version has more; what has comes from a lock that was not written by us."""


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version such as "10.9.0.34"; parts that are none are left out."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal() and len(part) <= DIGITS)


def versions_differ(first: str, second: str) -> bool:
    """Whether two versions differ in a part that both have: `10.9.0` may be `10.9.0.34`."""
    return any(a != b for a, b in zip(numbers(first), numbers(second), strict=False))


def fields_since() -> Mapping[str, Mapping[str, str]]:
    """By the full name of a message and the name of a field; what is missing is older than every image."""
    since: Mapping[str, Mapping[str, str]] = data_file("model_config.yaml")["since"]
    return since


def platform_since(platform: str) -> str:
    """The release that first knew a platform; "" where every image does."""
    return str(data_file("model_config.yaml")["platforms"].get(platform, ""))


def stub_python(release: str) -> tuple[str, bool]:
    """The minor version, such as "3.12", and whether sources agree on it."""
    since = stub_pythons()
    first = max((first for first in since if first <= release), default=min(since))
    facts = data_file("releases.yaml")["releases"].get(release, {})
    return since[first], "python" not in facts.get("uncertain", ())


def stub_pythons() -> Mapping[str, str]:
    """The minor versions that there are, by the first release of each, oldest first."""
    since: Mapping[str, str] = data_file("releases.yaml")["python"]
    return dict(sorted(since.items()))


@dataclass(frozen=True, kw_only=True)
class OnnxRuntime:
    """The ONNX Runtime of a Triton release, and the newest models that it reads.

    Attributes:
        version: Such as "1.19.2".
        ir_version: The highest version of ONNX's file format.
        opsets: The highest version of each operator set, by its domain, such as "ai.onnx".
    """

    version: str
    ir_version: int
    opsets: Mapping[str, int]


@cache
def onnx_runtime(release: str) -> OnnxRuntime | None:
    """The ONNX Runtime of a Triton release, such as "24.09"; None where it is not known."""
    facts = data_file("onnxruntime.yaml")
    version: str | None = facts["releases"].get(release)
    if version is None:
        return None
    limits: Mapping[str, Any] = facts["reads"][version.rpartition(".")[0]]
    return OnnxRuntime(version=version, ir_version=limits["ir"], opsets=limits["opsets"])


_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:\[[^\]]*\])?==([0-9][A-Za-z0-9.!+_]{0,63})")


def normal_name(package: str) -> str:
    """A package's name as PyPI compares it: `Zope.Interface` is `zope-interface`; source: PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


def pinned_version(requirement: str) -> tuple[str, str] | None:
    """The name and the version of a requirement that pins it, `einops==0.8.0`; None for any other."""
    match = _PIN.fullmatch(requirement)
    return (match[1], match[2]) if match else None


def release_packages(release: str) -> dict[str, str]:
    """The packages of a release's image and their versions; "" where nothing pins one.

    Args:
        release: Such as "25.04".
    """
    return {
        name: _latest(facts.get("versions", {}), release) for name, facts in sorted(_packages_in(release))
    }


@cache
def release_modules(release: str) -> frozenset[str]:
    """The modules that these packages bring, as a model imports them."""
    return frozenset(
        module
        for name, facts in _packages_in(release)
        for module in facts.get("modules", [name.replace("-", "_")])
    )


def _packages_in(release: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tables = data_file("python_packages.yaml")
    for name, facts in (tables["packages"] | tables["requirements"]).items():
        if facts.get("since", "") <= release and not (facts.get("until") or "99.99") <= release:
            yield name, facts


def _latest(versions: Mapping[str, str], release: str) -> str:
    first = max((version for version in versions if version <= release), default="")
    return versions.get(first, "")
