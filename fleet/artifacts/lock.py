"""Writing locks: what an environment will run, read from the model repositories."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

import yaml
from isal import isal_zlib

from fleet.artifacts.files import is_up_to_date, write_atomically
from fleet.artifacts.parallel import all_in_parallel
from fleet.artifacts.sources.opening import source_of
from fleet.artifacts.sources.source import Measured, measure
from fleet.spec.endpoint import Packed
from fleet.spec.lock import Lock, LockedArchive, LockedRepository
from fleet.spec.project import LoadedSpec, Project, all_of

HEADER = "# Written by `fleet lock`. Reviewed, not edited: it says what this environment runs.\n"
MANY = 50
"""So many files of one folder are remembered one by one."""


def write_locks(project: Project) -> list[Path]:
    """Write the lock of each of the project's endpoints; the files whose content changed.

    Raises:
        FindingsError: a model repository is missing or cannot be packed; no lock is written then.
    """
    locks = all_of(project.endpoints, lambda name: measured_lock(project.load(name)), project.findings)
    return [file for lock in locks if write_lock(file := project.lock_file(lock.endpoint), lock)]


def write_lock(file: Path, lock: Lock) -> bool:
    """Write a lock; whether that changed the file."""
    text = lock_text(lock)
    if is_up_to_date(file, text):
        return False
    write_atomically(file, text)
    return True


def lock_text(lock: Lock) -> str:
    """The lock as it is kept."""
    document = lock.model_dump(mode="json", exclude_defaults=True)
    return HEADER + yaml.safe_dump(document, sort_keys=False, width=110, allow_unicode=True)


def measured_lock(loaded: LoadedSpec) -> Lock:
    """What a lock of the endpoint would say by its repositories as they are now.

    Raises:
        FindingsError: one is missing or cannot be packed.
    """
    packed = loaded.spec.packed
    measured = all_in_parallel(packed, lambda each: _measure(loaded, each))
    return Lock(
        endpoint=loaded.spec.endpoint,
        archives={
            each.name: LockedArchive(digest=archive.digest, size=archive.size, models=archive.models)
            for each, archive in zip(packed, measured, strict=True)
        },
        repositories={
            loaded.spec.models[each.index].archive: _remembered(archive)
            for each, archive in zip(packed, measured, strict=True)
            if each.copy in (None, 0)
        },
    )


def _measure(loaded: LoadedSpec, packed: Packed) -> Measured:
    return measure(source_of(loaded, packed), loaded.spec.mode)


def _remembered(archive: Measured) -> LockedRepository:
    return LockedRepository(onnx=archive.checksums.onnx, files=folded(archive.checksums.files))


def folded(files: dict[str, str]) -> dict[str, str]:
    """The checksums by path, with those of a folder of many files as one, under `FOLDER/*`."""
    counts = Counter(str(PurePosixPath(path).parent) for path in files)
    kept: dict[str, str] = {}
    for path, checksum in files.items():
        folder = str(PurePosixPath(path).parent)
        if counts[folder] <= MANY:
            kept[path] = checksum
            continue
        before = kept.get(f"{folder}/*", "crc32:0").removeprefix("crc32:")
        crc = isal_zlib.crc32(f"{path} {checksum}\n".encode(), int(before, 16))
        kept[f"{folder}/*"] = f"crc32:{crc:08x}"
    return kept
