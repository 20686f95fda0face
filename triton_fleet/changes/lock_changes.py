"""Two locks compared, in words: archives, files with their sizes, engines, images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rich import filesize

from triton_fleet.repository.copies import copied_name
from triton_fleet.repository.entry_path import is_version
from triton_fleet.spec.lock import Lock, LockedArchive, LockedRepository

MANY = "/*"
"""The end of a path whose checksum is that of a folder with many files."""
MAX_FILES = 20
"""Files of one repository that are named; the others are counted."""
Sizes = Mapping[str, int]
"""Bytes by path below the repository."""
NO_SIZES: Mapping[str, Sizes] = {}
DIGEST_LENGTH = len("sha256:") + 12
"""How much of a digest is shown."""


def content_changes(
    before: Lock,
    after: Lock,
    sizes: tuple[Mapping[str, Sizes], Mapping[str, Sizes]] = (NO_SIZES, NO_SIZES),
) -> Iterator[str]:
    """Files, archives and the image that differ, by name and size.

    Args:
        before: The lock before.
        after: The lock afterwards.
        sizes: Sizes of files that are known besides those of the locks, by repository.
    """
    names_by_text = dict[str, list[str]]()
    several = len(after.repositories) > 1
    for name in {**before.archives, **after.archives}:
        old, new = before.archives.get(name), after.archives.get(name)
        if old is None and new is not None:
            yield f"archive {name}: new, {filesize.decimal(new.size)}"
        elif old is not None and new is None:
            yield f"archive {name}: removed"
        elif old is not None and new is not None and old.digest != new.digest:
            repository = name if name in after.repositories else name.rpartition("-")[0]
            files = tuple(file_changes(repository, before, after, sizes))
            for file in files:
                names_by_text.setdefault(f"{f'{repository}: ' * several}{file}", [])
            if text := _archive_changes(old, new, has_files=bool(files)):
                names_by_text.setdefault(text, []).append(name)
    for text, names in names_by_text.items():
        yield f"archive{'s' * (len(names) > 1)} {', '.join(names)}: {text}" if names else text
    old_image, new_image = (_image(lock) for lock in (before, after))
    if old_image != new_image:
        yield f"image: {old_image} → {new_image}"


def builds(before: Lock | None, after: Lock) -> Iterator[str]:
    """Engines and the image that a publish has to build, as no earlier lock has their keys."""
    earlier_keys = {
        engine.key
        for archive in (before.archives if before else {}).values()
        for engine in archive.engines.values()
    }
    engines_by_key = dict[str, str]()
    for archive in after.archives.values():
        engines_by_key.update(
            {engine.key: model for model, engine in archive.engines.items() if engine.key not in earlier_keys}
        )
    yield from (f"engine of {model}" for model in engines_by_key.values())
    key = after.image.key if after.image else None
    if key is not None and key != (before.image.key if before and before.image else None):
        yield "image"


def _archive_changes(before: LockedArchive, after: LockedArchive, *, has_files: bool) -> str:
    """The differences of an archive: its models, its engines, its size; files where none is named."""
    models = [f"model {model} is new" for model in after.models if model not in before.models]
    models += [f"model {model} is removed" for model in before.models if model not in after.models]
    engines = [
        f"engine of {item} is built again"
        for item, engine in after.engines.items()
        if item in before.engines and before.engines[item].key != engine.key
    ]
    sizes = [filesize.decimal(item.size) for item in (before, after)]
    size = "" if has_files and sizes[0] == sizes[1] else " → ".join(sizes)
    is_other = (before.repository or "") != (after.repository or "") or not engines
    files = "other files" if is_other and not has_files else ""
    return ", ".join(filter(None, [files, *models, *engines, size]))


def _image(lock: Lock) -> str:
    if lock.image is None:
        return "the release's own"
    if lock.image.digest is None:
        return f"the build {(lock.image.key or '')[:DIGEST_LENGTH]}"
    return lock.image.digest[:DIGEST_LENGTH]


def differing_files(name: str, before: Lock, after: Lock) -> tuple[str, ...]:
    """The paths whose checksums differ in one repository; a folder of many files is one path, `FOLDER/*`.

    None where one of the locks has no checksums of the repository: that of an archive in S3 has none.
    """
    old, new = (lock.repositories.get(name, LockedRepository()).files for lock in (before, after))
    if not (old and new):
        return ()
    paths = (path for path in sorted({**old, **new}) if old.get(path) != new.get(path))
    folders = {path for path in {**old, **new} if path.endswith(MANY)}
    return tuple(path for path in paths if path in folders or _folder(path) not in folders)


def file_changes(
    name: str,
    before: Lock,
    after: Lock,
    sizes: tuple[Mapping[str, Sizes], Mapping[str, Sizes]] = (NO_SIZES, NO_SIZES),
) -> Iterator[str]:
    """Each file that differs, as in `labels/1/model.py 1.2 kB → 1.4 kB`.

    Args:
        name: The repository, as the locks name it.
        before: The lock before.
        after: The lock afterwards.
        sizes: Known sizes of both sides by repository; what is missing there and in the lock is not given.
    """
    paths = differing_files(name, before, after)
    for path in paths[:MAX_FILES]:
        sides = zip((before, after), sizes, strict=True)
        old, new = (_size(name, path, lock, side_sizes.get(name, {})) for lock, side_sizes in sides)
        yield _words(
            path, path in before.repositories[name].files, path in after.repositories[name].files, old, new
        )
    if len(paths) > MAX_FILES:
        yield f"{len(paths) - MAX_FILES} more files"


def _words(path: str, is_old: bool, is_new: bool, old: str, new: str) -> str:
    if path.endswith(MANY):
        return f"some files in {path.removesuffix(MANY)} changed"
    if not (is_old and is_new):
        return f"{path} {'new' if is_new else 'removed'}{f', {old or new}' if old or new else ''}"
    if old and old == new:
        return f"{path} changed, {new}"
    if old and new:
        return f"{path} {old} → {new}"
    return f"{path} changed{f', {old} before' if old else f', now {new}' if new else ''}"


def _folder(path: str) -> str:
    return f"{PurePosixPath(path).parent}{MANY}"


def _size(name: str, path: str, lock: Lock, sizes: Sizes) -> str:
    size = sizes.get(path) or _locked_size(name, path, lock)
    return filesize.decimal(size) if size else ""


def _locked_size(name: str, path: str, lock: Lock) -> int:
    """The bytes of the only file in a model's version folders, whose sum the lock has; 0 of any other."""
    model = path.partition("/")[0]
    files = [file for file in lock.repositories[name].files if _is_of_version(file, model)]
    if files != [path]:
        return 0
    archives = ((lock.archives.get(name), model), (lock.archives.get(f"{name}-0"), copied_name(model, 0)))
    return next(
        (archive.models[key].size for archive, key in archives if archive and key in archive.models), 0
    )


def _is_of_version(path: str, model: str) -> bool:
    folder, *below = path.split("/", 2)
    return folder == model and len(below) == 2 and is_version(below[0])
