"""A folder as this product packs it: without hidden entries and what Python made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from fleet.repository.contents import Contents
from fleet.repository.layout import belongs

T = TypeVar("T")


def as_packed(contents: Contents) -> Contents:
    """What the archive of the folder would hold."""
    return replace(
        contents,
        entries=_kept(contents.entries),
        texts=_kept(contents.texts),
        headers=_kept(contents.headers),
        environments=_kept(contents.environments),
    )


def _kept(by_path: Mapping[str, T]) -> dict[str, T]:
    return {path: each for path, each in by_path.items() if all(map(belongs, path.split("/")))}
