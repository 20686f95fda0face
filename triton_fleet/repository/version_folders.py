"""The version folders of a model that needs no file: git and S3 keep no empty folders, so they are made."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from triton_fleet.catalog.backends import backend_facts
from triton_fleet.repository.backends import named_backend
from triton_fleet.repository.model_config import model_config

FIRST = "1"
VERSION = re.compile(r"0|[1-9][0-9]*")
_POLICY = b"specific"


def is_version(folder: str) -> bool:
    """Whether Triton reads a model's folder of that name as a version."""
    return VERSION.fullmatch(folder) is not None


def empty_versions(config: bytes, filled: Collection[str]) -> list[str]:
    """The version folders without files that a model has when it is packed, sorted.

    These are the ones that its version policy names, else `1` where no version has a file.

    Args:
        config: The content of its config.pbtxt.
        filled: Its version folders with files.
    """
    if filled and _POLICY not in config:
        return []
    message = model_config(config)
    if message is None or not needs_no_file(message):
        return []
    policy = message.version_policy
    if policy.WhichOneof("policy_choice") == "specific":
        named = {str(version) for version in policy.specific.versions if version >= 0}
        return sorted(named.difference(filled))
    return [] if filled else [FIRST]


def needs_no_file(config: Any) -> bool:
    """Whether a model can be served from an empty version folder.

    An ensemble can. What a backend looks for that the catalog does not know, nobody knows here.
    """
    if config.platform == "ensemble" or config.HasField("ensemble_scheduling"):
        return True
    backend = named_backend(config)
    return bool(backend) and backend_facts(backend, platform=config.platform, runtime=config.runtime) is None
