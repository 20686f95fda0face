"""The names and paths that entries of a repository may have, versions too: one rule for all readers."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from triton_fleet.catalog.backends import backend_facts
from triton_fleet.repository.backends import named_backend
from triton_fleet.repository.model_config import model_config
from triton_fleet.repository.stream import UnreadableError

NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and what Python makes of bytes that are not UTF-8."""
MODEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
LEFT_OUT = {"__pycache__"}
MAX_PATH, MAX_NAME = 4096, 255
"""Bytes that Linux takes as a path and as a name in it."""


def belongs(name: str) -> bool:
    """Whether an entry of that name is part of a repository; hidden ones and what Python made are not."""
    return not name.startswith(".") and name not in LEFT_OUT


def packing_key(path: str, *, is_folder: bool) -> tuple[tuple[bool, str], ...]:
    """The sort key of packed paths: a folder, its files, then the folders in it."""
    *above, name = path.split("/")
    return (*((True, part) for part in above), (is_folder, name))


def path_problem(path: str) -> str:
    """The problem of a path, to be put behind it; "" if it is one on Linux and stays below its root."""
    parts = path.split("/")
    if NO_TEXT.search(path):
        return "contains control characters or is not UTF-8"
    if path.startswith("/"):
        return "is an absolute path"
    if ".." in parts:
        return "leads out of its folder"
    if "\\" in path:
        return "contains a backslash, which does not separate folders on Linux"
    if len(path.encode()) > MAX_PATH or any(len(part.encode()) > MAX_NAME for part in parts):
        return f"is longer than Linux allows: {MAX_NAME} bytes a name, {MAX_PATH} a path"
    return ""


def plain_path(path: str) -> str:
    """A path without what adds nothing to it, such as `./` in front; "" for the root itself."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def require_plain(path: str) -> None:
    """Refuse a path that is not one on Linux, leaves its root, or has another spelling.

    Raises:
        UnreadableError: it is refused.
    """
    is_plain = path and path == plain_path(path)
    if problem := path_problem(path) or ("" if is_plain else "has an empty name in its path"):
        raise UnreadableError(f"{path!r} {problem}")


FIRST = "1"
VERSION = re.compile(r"0|[1-9][0-9]*")
_POLICY = b"specific"


def is_version(folder: str) -> bool:
    """Whether Triton reads a model's folder of that name as a version."""
    return VERSION.fullmatch(folder) is not None


def empty_versions(config: bytes, folders: Collection[str]) -> list[str]:
    """The version folders without files that a model has when it is packed, sorted.

    These are the ones that its version policy names, else `1` where no version has a file.

    Args:
        config: The content of its config.pbtxt.
        folders: Its version folders with files.
    """
    if folders and _POLICY not in config:
        return []
    message = model_config(config)
    if message is None or not needs_no_file(message):
        return []
    policy = message.version_policy
    if policy.WhichOneof("policy_choice") == "specific":
        policy_names = {str(version) for version in policy.specific.versions if version >= 0}
        return sorted(policy_names.difference(folders))
    return [] if folders else [FIRST]


def needs_no_file(config: Any) -> bool:
    """Whether a model can be served from an empty version folder.

    An ensemble can. What a backend looks for that the catalog does not know, nobody knows here.
    """
    if config.platform == "ensemble" or config.HasField("ensemble_scheduling"):
        return True
    backend = named_backend(config)
    return bool(backend) and backend_facts(backend, platform=config.platform, runtime=config.runtime) is None
