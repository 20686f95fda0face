"""The lock that follows from an endpoint's model repositories as they are."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import PurePosixPath

from isal import isal_zlib

from triton_fleet.builds.engines.endpoint_engines import spec_engines
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, all_of, collect_findings
from triton_fleet.spec.endpoint import EndpointSpec, Mode, PackedArchive, in_s3
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.lock import NO_DIGEST, Lock, LockedArchive, LockedModel, LockedRepository
from triton_fleet.store.archive import crc_text
from triton_fleet.store.engines.lock import measured_engines, require_models, require_place, with_engines
from triton_fleet.store.engines.onnx import OnnxFile, onnx_of
from triton_fleet.store.sources.source import ArchiveMeasurement, measure
from triton_fleet.store.sources.spec_sources import Connect, SpecRepositories, folder_source, no_s3, source_of

NO_CAPABILITY = ""
"""On which GPU a plan is to run decides its name, and not whether it has a place."""
WORTH_THREADS = 32 << 20
"""Bytes below which threads cost more time than they save."""
MANY = 50
"""How many files of one folder are recorded one by one."""


def measured_lock(
    repositories: SpecRepositories,
    environment: Environment,
    s3: Connect = no_s3,
    earlier_lock: Lock | None = None,
    *,
    image: LockedImage | None = None,
    offline: bool = False,
) -> Lock:
    """A new lock of the endpoint, from its current repositories and ONNX models.

    For repositories in S3, `earlier_lock` is used if its digest is the one in the spec and it has facts of
    the models; with `offline` it is always used, and what it lacks is ignored. `image` is the endpoint's own
    one, by default that of `earlier_lock`.

    Raises:
        FindingsError: a repository or a model is missing or cannot be packed.
        CannotRunError: S3 is needed and cannot be read.
    """
    require_models(repositories)
    spec = repositories.loaded_spec.spec
    reusable = _reusable_archives(spec, earlier_lock, offline=offline)
    archives_to_lock = [
        archive_entry
        for archive_entry in spec.packed_archives
        if archive_entry.name in reusable or not (offline and _is_in_s3(spec, archive_entry))
    ]
    to_read = [archive_entry for archive_entry in archives_to_lock if archive_entry.name not in reusable]
    is_small = (
        earlier_lock is not None
        and sum(archive.size for archive in earlier_lock.archives.values()) < WORTH_THREADS
    )
    in_turn = all_of if is_small else all_in_parallel
    read = in_turn(to_read, lambda archive_entry: measure(source_of(repositories, archive_entry, s3)))
    new_archives = {archive_entry.name: archive for archive_entry, archive in zip(to_read, read, strict=True)}
    own = image or (earlier_lock.image if earlier_lock else None)
    engines = measured_engines(repositories, environment, s3, earlier_lock, image=own, offline=offline)
    repositories_by_name = {} if earlier_lock is None else dict(earlier_lock.repositories)
    repositories_by_name |= {
        spec.models[archive_entry.index].archive: _lock_repository(new_archives[archive_entry.name])
        for archive_entry in to_read
        if archive_entry.copy in (None, 0)
    }
    archive_names = {spec.models[archive_entry.index].archive: None for archive_entry in archives_to_lock}
    return Lock(
        endpoint=spec.endpoint,
        image=own,
        archives={
            archive_entry.name: reusable.get(archive_entry.name)
            or with_engines(
                _lock_archive(new_archives[archive_entry.name], spec.mode), archive_entry, engines
            )
            for archive_entry in archives_to_lock
        },
        repositories={
            name: repositories_by_name[name] for name in archive_names if name in repositories_by_name
        },
    )


def draft_lock(repositories: SpecRepositories) -> tuple[Lock, list[Finding]]:
    """The models of the spec's folders with sizes but without digests, so that no weights are read.

    What is in S3 is left out. Also returned is which folders and ONNX models are missing or cannot be packed.
    """
    loaded_spec, archives, refusals = repositories.loaded_spec, dict[str, LockedArchive](), list[Finding]()
    with collect_findings(refusals):
        require_models(repositories)
    for path, index, engine in spec_engines(loaded_spec.spec):
        if not in_s3(loaded_spec.spec.models[index]):
            with collect_findings(refusals):
                onnx = onnx_of(loaded_spec, path, engine, no_s3)
                if isinstance(onnx, OnnxFile):
                    onnx.require_fit()
                require_place(repositories, index, engine.model, NO_CAPABILITY)
    for archive in loaded_spec.spec.packed_archives:
        if not in_s3(loaded_spec.spec.models[archive.index]) and archive.copy in (None, 0):
            with collect_findings(refusals):
                entries = repositories.contents(archive.index).packed_entries
                archives[archive.name] = LockedArchive(
                    digest=NO_DIGEST,
                    size=sum((size or 0) + tarfile.BLOCKSIZE for _, size in entries),
                    models=folder_source(repositories, archive).models(),
                )
    return Lock(endpoint=loaded_spec.spec.endpoint, archives=archives), refusals


def _reusable_archives(
    spec: EndpointSpec, earlier_lock: Lock | None, *, offline: bool
) -> dict[str, LockedArchive]:
    """The locked archives that need not be read."""
    archives = {} if earlier_lock is None else earlier_lock.archives
    return {
        archive.name: archives[archive.name]
        for archive in spec.packed_archives
        if _is_in_s3(spec, archive)
        and archive.name in archives
        and (offline or _suffices(archives[archive.name], spec.models[archive.index].digest, spec.mode))
    }


def _suffices(archive: LockedArchive, digest: str | None, mode: Mode) -> bool:
    """A lock without facts of any model is from a version that did not record them, or of another mode."""
    models = archive.models.values()
    if mode is Mode.SHARED_CONTAINER and any(model.versions is None for model in models):
        return False
    return archive.digest == digest and any(model != LockedModel() for model in models)


def _is_in_s3(spec: EndpointSpec, archive: PackedArchive) -> bool:
    """Copies need a folder: opening their source checks it."""
    return archive.copy is None and in_s3(spec.models[archive.index])


def _lock_archive(archive: ArchiveMeasurement, mode: Mode) -> LockedArchive:
    models = archive.models
    if mode is not Mode.SHARED_CONTAINER:  # callers name no versions there
        models = {name: facts.model_copy(update={"versions": None}) for name, facts in models.items()}
    return LockedArchive(digest=archive.digest, size=archive.size, models=models)


def _lock_repository(archive: ArchiveMeasurement) -> LockedRepository:
    return LockedRepository(onnx=archive.checksums.onnx, files=fold_checksums(archive.checksums.files))


def fold_checksums(files: dict[str, str]) -> dict[str, str]:
    """The checksums by path; a folder of many files has one for all, under `FOLDER/*`."""
    if len(files) <= MANY:
        return files
    counts = Counter(str(PurePosixPath(path).parent) for path in files)
    checksums_by_path: dict[str, str] = {}
    for path, checksum in files.items():
        folder = str(PurePosixPath(path).parent)
        if counts[folder] <= MANY:
            checksums_by_path[path] = checksum
            continue
        before = checksums_by_path.get(f"{folder}/*", "crc32:0").removeprefix("crc32:")
        crc = isal_zlib.crc32(f"{path} {checksum}\n".encode(), int(before, 16))
        checksums_by_path[f"{folder}/*"] = crc_text(crc)
    return checksums_by_path
