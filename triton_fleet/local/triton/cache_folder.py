"""Folders of the cache that are named by their content, made in one step, and reused when they exist."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def cache_folder(cache: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """The folder of that name below `cache`; one that is absent is made beside it, then renamed.

    Args:
        cache: Where to keep it; made when missing.
        name: Which the content alone decides.
        fill: Writes the content into an empty folder.
    """
    folder = cache.absolute() / name
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"draft-{name}-", dir=cache))
    try:
        fill(draft)
        with suppress(OSError):  # another process was faster; its content is the same
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder
