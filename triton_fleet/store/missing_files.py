"""Files that a lock lists and a clone lacks: weights that git does not keep, and not a change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.sizes import format_size
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.git.files import ignored_files
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.copies import copied_name
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.version_folders import is_version
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.spec.lock import Lock, LockedModel
from triton_fleet.store.sources.spec_sources import SpecRepositories

CODE = "FL840"
SOURCE = (".py", ".pbtxt", ".md")
"""Endings of what people write: git keeps it, so that it was removed on purpose."""
MANY = "*"
"""Stands for the files of a folder that has many, in a lock."""
_WEIGHTS = re.compile(r"^weights\s*:", re.MULTILINE)


@dataclass(frozen=True)
class MissingFile:
    """A file that the lock lists and the clone lacks.

    Attributes:
        index: Which entry of the spec's `models`.
        path: Relative to its repository, as the lock has it.
        repository: The folder.
        lacking: How many bytes the model lacks, by the lock; 0 if that is not known.
    """

    index: int
    path: str
    repository: Path
    lacking: int

    @property
    def file(self) -> Path:
        """The file, or the folder of many."""
        return self.repository / self.path.removesuffix(f"/{MANY}")

    @property
    def model(self) -> str:
        """The model's directory."""
        return self.path.split("/")[0]


def missing_files(repositories: SpecRepositories, lock: Lock) -> list[MissingFile]:
    """The files that the endpoint's lock lists, that a clone lacks, and that nobody removed on purpose.

    Removed on purpose are a whole model with its config.pbtxt, a version beside which another one has files,
    and what people write; never a file that Git ignores, as long as its model exists.
    """
    files, loaded = list[MissingFile](), repositories.loaded
    for index, archive in enumerate(loaded.spec.models):
        locked = lock.repositories.get(archive.archive)
        if in_s3(archive) or locked is None:
            continue
        try:
            contents = repositories.contents(index)
        except FindingsError:  # reported where it is packed
            continue
        there = {path: size for path, size in contents.packed_entries if size is not None}
        folder = contents.place
        gone = _missing_paths(folder, locked.files, there)
        sizes = _lacking_sizes(loaded, lock, index, there) if gone else {}
        files += [MissingFile(index, path, folder, _lacking(path, sizes)) for path in gone]
    return files


def missing_findings(missing: Collection[MissingFile], hint: str = "") -> list[Finding]:
    """The errors for missing files, with how to get each."""
    findings = list[Finding]()
    for each in missing:
        lacking = f"; model {each.model!r} lacks {format_size(each.lacking)}" if each.lacking else ""
        what = "all files of the folder are" if each.path.endswith(f"/{MANY}") else "the file is"
        message = f"{what} missing in this clone, and the lock lists it{lacking}"
        findings.append(Finding(code=CODE, message=message, hint=_remedy(each.file) + hint, file=each.file))
    return findings


def _missing_paths(folder: Path, locked: Mapping[str, str], there: Collection[str]) -> list[str]:
    above = {path.rpartition("/")[0] for path in there}
    gone = [
        path
        for path in sorted(locked)
        if (path.removesuffix(f"/{MANY}") not in above if path.endswith(f"/{MANY}") else path not in there)
    ]
    if not gone:
        return []
    ignored = ignored_files(folder, gone)
    return [path for path in gone if _is_missing(path, locked, there, is_ignored=path in ignored)]


def _is_missing(path: str, locked: Collection[str], there: Collection[str], *, is_ignored: bool) -> bool:
    model, *below = path.split("/")
    config = f"{model}/{CONFIG}"
    if config in locked and config not in there:
        return False
    if is_ignored:
        return True
    if not below or path.endswith(SOURCE) or not any(each.startswith(f"{model}/") for each in there):
        return False
    versions = set(_versions(model, there))
    return not is_version(below[0]) or below[0] in versions or not versions


def _versions(model: str, files: Collection[str]) -> Iterator[str]:
    for path in files:
        parts = path.split("/", 2)
        if len(parts) == 3 and parts[0] == model and is_version(parts[1]):
            yield parts[1]


def _lacking(path: str, sizes: Mapping[str, int]) -> int:
    """What a model lacks, for a file of a version: that of others is not in the lock."""
    model, *below = path.split("/", 2)
    return sizes[model] if len(below) == 2 and is_version(below[0]) else 0


def _lacking_sizes(loaded: LoadedSpec, lock: Lock, index: int, there: Mapping[str, int]) -> dict[str, int]:
    """The bytes that each model lacks of those in its locked versions."""
    packed = next(each for each in loaded.spec.packed if each.index == index)
    archive = lock.archives.get(packed.name)
    held = dict[str, int]()
    for path, size in there.items():
        model, *below = path.split("/", 2)
        if len(below) == 2 and is_version(below[0]):
            held[model] = held.get(model, 0) + size
    models = {path.split("/")[0] for path in lock.repositories[loaded.spec.models[index].archive].files}
    sizes = dict[str, int]()
    for model in models:
        name = model if packed.copy is None else copied_name(model, packed.copy)
        locked = archive.models.get(name, LockedModel()) if archive else LockedModel()
        sizes[model] = max(locked.size - held.get(model, 0), 0)
    return sizes


def _remedy(file: Path) -> str:
    """How to get a file, by what is beside and above it."""
    if any(Path(f"{each}.dvc").is_file() for each in (file, file.parent, file.parent.parent)):
        return "run `dvc pull`"
    for folder in file.parents:
        makefile = folder / "Makefile"
        if makefile.is_file() and _WEIGHTS.search(makefile.read_text("utf-8", "replace")):
            return "run `make weights`"
        if (folder / ".git").exists():
            break
    return "run the script that creates it, or copy it from where the lock was written"
