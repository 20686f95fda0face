"""The names and paths that entries of a repository may have: one rule to read, pack and unpack."""

from __future__ import annotations

import re

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
    """What is wrong with a path, to be put behind it; "" if it is one on Linux and stays below its root."""
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
