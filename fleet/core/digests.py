"""The digest of a document, however its keys are ordered."""

from __future__ import annotations

import hashlib
import json


def canonical_digest(document: object) -> str:
    """`sha256:` and the digest of a document as JSON: keys sorted, no white space, ASCII alone."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
