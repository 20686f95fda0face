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
    held: Lock | None = None,
    *,
    image: LockedImage | None = None,
    offline: bool = False,
) -> Lock:
    """A new lock of the endpoint, from its current repositories and ONNX models.

    For repositories in S3, `held` is used if its digest is the one in the spec and it has facts of the
    models; with `offline` it is always used, and what it lacks is ignored. `image` is the endpoint's own one,
    by default that of `held`.

    Raises:
        FindingsError: a repository or a model is missing or cannot be packed.
        CannotRunError: S3 is needed and cannot be read.
    """
    require_models(repositories)
    spec = repositories.loaded.spec
    known = _reusable_archives(spec, held, offline=offline)
    packed = [each for each in spec.packed if each.name in known or not (offline and _is_in_s3(spec, each))]
    to_read = [each for each in packed if each.name not in known]
    is_small = held is not None and sum(archive.size for archive in held.archives.values()) < WORTH_THREADS
    in_turn = all_of if is_small else all_in_parallel
    read = in_turn(to_read, lambda each: measure(source_of(repositories, each, s3)))
    measured = {each.name: archive for each, archive in zip(to_read, read, strict=True)}
    own = image or (held.image if held else None)
    engines = measured_engines(repositories, environment, s3, held, image=own, offline=offline)
    locked = {} if held is None else dict(held.repositories)
    locked |= {
        spec.models[each.index].archive: _lock_repository(measured[each.name])
        for each in to_read
        if each.copy in (None, 0)
    }
    named = {spec.models[each.index].archive: None for each in packed}
    return Lock(
        endpoint=spec.endpoint,
        image=own,
        archives={
            each.name: known.get(each.name)
            or with_engines(_lock_archive(measured[each.name], spec.mode), each, engines)
            for each in packed
        },
        repositories={name: locked[name] for name in named if name in locked},
    )


def draft_lock(repositories: SpecRepositories) -> tuple[Lock, list[Finding]]:
    """The models of the spec's folders with sizes but without digests, so that no weights are read.

    What is in S3 is left out. Also returned is which folders and ONNX models are missing or cannot be packed.
    """
    loaded, archives, refused = repositories.loaded, dict[str, LockedArchive](), list[Finding]()
    with collect_findings(refused):
        require_models(repositories)
    for path, index, engine in spec_engines(loaded.spec):
        if not in_s3(loaded.spec.models[index]):
            with collect_findings(refused):
                onnx = onnx_of(loaded, path, engine, no_s3)
                if isinstance(onnx, OnnxFile):
                    onnx.require_fit()
                require_place(repositories, index, engine.model, NO_CAPABILITY)
    for each in loaded.spec.packed:
        if not in_s3(loaded.spec.models[each.index]) and each.copy in (None, 0):
            with collect_findings(refused):
                entries = repositories.contents(each.index).packed_entries
                archives[each.name] = LockedArchive(
                    digest=NO_DIGEST,
                    size=sum((size or 0) + tarfile.BLOCKSIZE for _, size in entries),
                    models=folder_source(repositories, each).models(),
                )
    return Lock(endpoint=loaded.spec.endpoint, archives=archives), refused


def _reusable_archives(spec: EndpointSpec, held: Lock | None, *, offline: bool) -> dict[str, LockedArchive]:
    """The locked archives that need not be read."""
    locked = {} if held is None else held.archives
    return {
        each.name: locked[each.name]
        for each in spec.packed
        if _is_in_s3(spec, each)
        and each.name in locked
        and (offline or _suffices(locked[each.name], spec.models[each.index].digest, spec.mode))
    }


def _suffices(archive: LockedArchive, expected: str | None, mode: Mode) -> bool:
    """A lock without facts of any model is from a version that did not record them, or of another mode."""
    models = archive.models.values()
    if mode is Mode.SHARED_CONTAINER and any(model.versions is None for model in models):
        return False
    return archive.digest == expected and any(model != LockedModel() for model in models)


def _is_in_s3(spec: EndpointSpec, packed: PackedArchive) -> bool:
    """Copies need a folder: opening their source checks it."""
    return packed.copy is None and in_s3(spec.models[packed.index])


def _lock_archive(archive: ArchiveMeasurement, mode: Mode) -> LockedArchive:
    models = archive.models
    if mode is not Mode.SHARED_CONTAINER:  # callers name no versions there
        models = {name: each.model_copy(update={"versions": None}) for name, each in models.items()}
    return LockedArchive(digest=archive.digest, size=archive.size, models=models)


def _lock_repository(archive: ArchiveMeasurement) -> LockedRepository:
    return LockedRepository(onnx=archive.checksums.onnx, files=fold_checksums(archive.checksums.files))


def fold_checksums(files: dict[str, str]) -> dict[str, str]:
    """The checksums by path; a folder of many files has one for all, under `FOLDER/*`."""
    counts = Counter(str(PurePosixPath(path).parent) for path in files)
    kept: dict[str, str] = {}
    for path, checksum in files.items():
        folder = str(PurePosixPath(path).parent)
        if counts[folder] <= MANY:
            kept[path] = checksum
            continue
        before = kept.get(f"{folder}/*", "crc32:0").removeprefix("crc32:")
        crc = isal_zlib.crc32(f"{path} {checksum}\n".encode(), int(before, 16))
        kept[f"{folder}/*"] = crc_text(crc)
    return kept
