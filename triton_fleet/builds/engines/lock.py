"""What a lock holds of the engines that a spec asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from triton_fleet.repository.copies import copied_name
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.lock import LockedArchive, LockedEngine

Locked = Mapping[str, LockedArchive]
"""A lock's archives, by name."""


def locked_engines(
    spec: EndpointSpec, locked: Locked, index: int, model: str
) -> Iterator[tuple[str, LockedEngine | None]]:
    """The locked archives of one entry of `models`, each with its entry for a model's engine."""
    for each in spec.models[index].packed(index):
        if each.name in locked:
            yield each.name, locked[each.name].engines.get(packed_name(model, each.copy))


def locked_engine(spec: EndpointSpec, locked: Locked, index: int, model: str) -> LockedEngine | None:
    """The lock's entry for an engine: all copies of a repository share it."""
    return next((each for _, each in locked_engines(spec, locked, index, model) if each is not None), None)


def packed_name(model: str, copy: int | None) -> str:
    """What a model is called in an archive, which may be one of several copies."""
    return model if copy is None else copied_name(model, copy)


def archive_digest(repository: str, keys: Mapping[str, str]) -> str:
    """`sha256:` and the digest of a repository's own tar stream and the keys of its engines, by model."""
    lines = [repository, *(f"{model} {key}" for model, key in sorted(keys.items())), ""]
    text = "\n".join(lines)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
