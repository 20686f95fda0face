"""Digests, commits, sizes, counts and lines of logs as text."""

from __future__ import annotations

import hashlib
import json


def canonical_digest(document: object) -> str:
    """`sha256:` and the digest of a document as JSON: keys sorted, no white space, ASCII alone."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def short_commit(commit: str) -> str:
    """The beginning of a commit's id: twelve characters, as Git abbreviates in large repositories."""
    return commit[:12]


def commit_words(commit: str, *, uncommitted: bool) -> str:
    """A commit in short, and whether files differed from it."""
    return f"{short_commit(commit)}{' with uncommitted changes' if uncommitted else ''}"


UNITS = ("B", "KiB", "MiB", "GiB")
STEP = 1024


def format_size(size: float) -> str:
    """The size in the largest unit of which there is one, such as `92.7 MiB`; the units of local.yaml."""
    unit = 0
    while size >= STEP and unit < len(UNITS) - 1:
        size, unit = size / STEP, unit + 1
    return f"{size:.1f} {UNITS[unit]}" if unit else f"{size:g} {UNITS[unit]}"


def count_of(number: int, noun: str) -> str:
    """A number of things whose plural ends with s: `1 archive`, `0 archives`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def plain_line(text: str) -> str:
    """The message of a line; of Triton's with its head, and of any other text the text itself."""
    if not text.startswith("{"):
        return text
    try:
        line = json.loads(text)
        level, message = line["level"], line["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    if "where" not in line:
        return f"error: {message}" if level == "error" else str(message)
    message_text = str(message).replace("\n", "\\n")
    return f'{str(level)[:1].upper()}0000 00:00:00.000000 0 {line["where"]}] "{message_text}"'
