"""Where an endpoint's archives are in the bucket, from only the lock."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.samples import target_model
from triton_fleet.endpoint.bucket_keys import prefix_of
from triton_fleet.endpoint.resolved_endpoint import Artifact
from triton_fleet.spec.endpoint import ArchiveSet, Compression, EndpointSpec, Mode, PackedArchive
from triton_fleet.spec.lock import LockedArchive
from triton_fleet.spec.values import hexadecimal


def locate_archives(
    spec: EndpointSpec, lock_archives: Mapping[str, LockedArchive]
) -> tuple[str, tuple[Artifact, ...]]:
    """The key or prefix that the Model names, and each archive with its key.

    A single archive is named by its content. A locked set has stable names under a prefix that is named by
    the content of the whole set; a live set has one prefix for good, and a version in each name.
    """
    prefix, packed_archives = prefix_of(spec.endpoint), spec.packed_archives
    if spec.mode is not Mode.MULTI_MODEL:
        end = ".tar.gz" if spec.models[0].compression is Compression.GZIP else "/"
        lock_archive = lock_archives[packed_archives[0].name]
        key = f"{prefix}{hexadecimal(lock_archive.digest)}{end}"
        return key, (_artifact(spec, packed_archives[0], lock_archive, key),)
    live = spec.archive_set is ArchiveSet.LIVE
    digests = {
        packed_archive.name: lock_archives[packed_archive.name].digest for packed_archive in packed_archives
    }
    folder = f"{prefix}live/" if live else f"{prefix}{set_digest(digests)}/"
    return folder, tuple(
        _artifact(
            spec,
            packed_archive,
            lock_archives[packed_archive.name],
            f"{folder}{target_model(packed_archive.name, packed_archive.version)}",
        )
        for packed_archive in packed_archives
    )


def set_digest(digests: Mapping[str, str]) -> str:
    """The digest of a locked set, in hexadecimal: of its archives' names and digests."""
    lines = sorted(f"{name} {digest}\n" for name, digest in digests.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def counted_models(context: EndpointContext) -> tuple[str, ...]:
    """The models' names in Triton's metrics: their own, or the targets of a multi-model endpoint.

    None of a live set, whose targets come and go without a deploy.
    """
    spec = context.spec
    if spec.mode is not Mode.MULTI_MODEL:
        return tuple(sorted({loaded_model.name for loaded_model in context.loaded_models}))
    if spec.archive_set is ArchiveSet.LIVE:
        return ()
    return tuple(
        sorted(
            target_model(packed_archive.name, packed_archive.version)
            for packed_archive in spec.packed_archives
        )
    )


def _artifact(
    spec: EndpointSpec, packed_archive: PackedArchive, lock_archive: LockedArchive, key: str
) -> Artifact:
    return Artifact(
        source=packed_archive,
        digest=lock_archive.digest,
        size=lock_archive.size,
        repository=lock_archive.repository,
        key=key,
        named_by_content=packed_archive.version is None,
        compression=spec.models[packed_archive.index].compression,
    )
