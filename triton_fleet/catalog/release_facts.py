"""What differs between Triton's releases: fields of the model configuration, the Python backend's Python."""

from __future__ import annotations

from collections.abc import Mapping

from triton_fleet.catalog.data_file import data_file


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
