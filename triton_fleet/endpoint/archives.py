"""Where an endpoint's archives are in the bucket, from only the lock."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.samples import target_model
from triton_fleet.endpoint.object_keys import prefix_of
from triton_fleet.endpoint.resolved_endpoint import Artifact
from triton_fleet.spec.endpoint import ArchiveSet, Compression, EndpointSpec, Mode, PackedArchive
from triton_fleet.spec.lock import LockedArchive
from triton_fleet.spec.values import hexadecimal


def place_archives(
    spec: EndpointSpec, locked: Mapping[str, LockedArchive]
) -> tuple[str, tuple[Artifact, ...]]:
    """The key or prefix that the Model names, and each archive with its key.

    A single archive is named by its content. A locked set has stable names under a prefix that is named by
    the content of the whole set; a live set has one prefix for good, and a version in each name.
    """
    prefix, packed = prefix_of(spec.endpoint), spec.packed
    if spec.mode is not Mode.MULTI_MODEL:
        end = ".tar.gz" if spec.models[0].compression is Compression.GZIP else "/"
        only = locked[packed[0].name]
        key = f"{prefix}{hexadecimal(only.digest)}{end}"
        return key, (_artifact(spec, packed[0], only, key),)
    live = spec.archive_set is ArchiveSet.LIVE
    digests = {each.name: locked[each.name].digest for each in packed}
    folder = f"{prefix}live/" if live else f"{prefix}{set_digest(digests)}/"
    return folder, tuple(
        _artifact(spec, each, locked[each.name], f"{folder}{target_model(each.name, each.version)}")
        for each in packed
    )


def set_digest(digests: Mapping[str, str]) -> str:
    """The digest of a locked set, in hexadecimal: of its archives' names and digests."""
    lines = sorted(f"{name} {digest}\n" for name, digest in digests.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def counted_models(decided: EndpointContext) -> tuple[str, ...]:
    """What Triton's metrics call the models: their names, or the targets of a multi-model endpoint.

    None of a live set, whose targets come and go without a deploy.
    """
    spec = decided.spec
    if spec.mode is not Mode.MULTI_MODEL:
        return tuple(sorted({loaded_model.name for loaded_model in decided.loaded_models}))
    if spec.archive_set is ArchiveSet.LIVE:
        return ()
    return tuple(sorted(target_model(each.name, each.version) for each in spec.packed))


def _artifact(spec: EndpointSpec, packed: PackedArchive, locked: LockedArchive, key: str) -> Artifact:
    return Artifact(
        source=packed,
        digest=locked.digest,
        size=locked.size,
        repository=locked.repository,
        key=key,
        named_by_content=packed.version is None,
        compression=spec.models[packed.index].compression,
    )
