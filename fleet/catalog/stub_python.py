"""Which Python the Python backend's stub is built with, in every release."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.catalog.data_file import data_file


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
