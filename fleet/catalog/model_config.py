"""Since which release Triton's model configuration has a field."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.catalog.data_file import data_file


def fields_since() -> Mapping[str, Mapping[str, str]]:
    """By the full name of a message and the name of a field; what is missing is older than every image."""
    since: Mapping[str, Mapping[str, str]] = data_file("model_config.yaml")["since"]
    return since


def platform_since(platform: str) -> str:
    """The release that first knew a platform; "" where every image does."""
    return str(data_file("model_config.yaml")["platforms"].get(platform, ""))
