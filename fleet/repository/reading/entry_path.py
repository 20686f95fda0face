"""The paths that an entry of an untrusted archive may have: one rule for all that read or unpack one."""

from __future__ import annotations

from fleet.repository.layout import NO_TEXT
from fleet.repository.reading.stream import UnreadableError

MAX_PATH, MAX_NAME = 4096, 255
"""Bytes that Linux takes as a path and as a name in it."""


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
