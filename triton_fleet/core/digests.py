"""The digest of a document, however its keys are ordered, and a commit's in short."""

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
