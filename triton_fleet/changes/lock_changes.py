"""What another lock has in place of what one has: archives, engines, images, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import filesize

from triton_fleet.changes.file_changes import NO_SIZES, Sizes, file_changes
from triton_fleet.spec.lock import Lock, LockedArchive

SHORT = len("sha256:") + 12
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
    changed = dict[str, list[str]]()
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
                changed.setdefault(f"{f'{repository}: ' * several}{file}", [])
            if text := _changed(old, new, has_files=bool(files)):
                changed.setdefault(text, []).append(name)
    for text, names in changed.items():
        yield f"archive{'s' * (len(names) > 1)} {', '.join(names)}: {text}" if names else text
    old_image, new_image = (_image(lock) for lock in (before, after))
    if old_image != new_image:
        yield f"image: {old_image} → {new_image}"


def builds(before: Lock | None, after: Lock) -> Iterator[str]:
    """Engines and the image that a publish has to build, as no earlier lock has their keys."""
    built = {
        engine.key
        for archive in (before.archives if before else {}).values()
        for engine in archive.engines.values()
    }
    wanted = dict[str, str]()
    for archive in after.archives.values():
        wanted.update(
            {engine.key: model for model, engine in archive.engines.items() if engine.key not in built}
        )
    yield from (f"engine of {model}" for model in wanted.values())
    key = after.image.key if after.image else None
    if key is not None and key != (before.image.key if before and before.image else None):
        yield "image"


def _changed(before: LockedArchive, after: LockedArchive, *, has_files: bool) -> str:
    """The differences of an archive: its models, its engines, its size; files where none is named."""
    models = [f"model {model} is new" for model in after.models if model not in before.models]
    models += [f"model {model} is removed" for model in before.models if model not in after.models]
    engines = [
        f"engine of {each} is built again"
        for each, engine in after.engines.items()
        if each in before.engines and before.engines[each].key != engine.key
    ]
    sizes = [filesize.decimal(each.size) for each in (before, after)]
    size = "" if has_files and sizes[0] == sizes[1] else " → ".join(sizes)
    is_other = (before.repository or "") != (after.repository or "") or not engines
    what = "other files" if is_other and not has_files else ""
    return ", ".join(filter(None, [what, *models, *engines, size]))


def _image(lock: Lock) -> str:
    if lock.image is None:
        return "the release's own"
    if lock.image.digest is None:
        return f"the build {(lock.image.key or '')[:SHORT]}"
    return lock.image.digest[:SHORT]
