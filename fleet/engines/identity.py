"""What an archive with engines is called before there are any: by what it will be made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def archive_digest(repository: str, keys: Mapping[str, str]) -> str:
    """`sha256:` and the digest of a repository's own tar stream and the keys of its engines, by model."""
    lines = [repository, *(f"{model} {key}" for model, key in sorted(keys.items())), ""]
    text = "\n".join(lines)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
