"""Files that a lock lists and a clone lacks: weights that git does not keep, and not a change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.formats import format_size
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.git.files import ignored_files
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.copies import copied_name
from triton_fleet.repository.entry_path import is_version
from triton_fleet.repository.model_config import CONFIG
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
    lacking_bytes: int

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
    files, loaded_spec = list[MissingFile](), repositories.loaded_spec
    for index, archive in enumerate(loaded_spec.spec.models):
        repository_lock = lock.repositories.get(archive.archive)
        if in_s3(archive) or repository_lock is None:
            continue
        try:
            contents = repositories.contents(index)
        except FindingsError:  # reported where it is packed
            continue
        present = {path: size for path, size in contents.packed_entries if size is not None}
        folder = contents.place
        absent = _missing_paths(folder, repository_lock.files, present)
        sizes = _lacking_sizes(loaded_spec, lock, index, present) if absent else {}
        files += [MissingFile(index, path, folder, _lacking_bytes(path, sizes)) for path in absent]
    return files


def missing_findings(files: Collection[MissingFile], hint: str = "") -> list[Finding]:
    """The errors for missing files, with how to get each."""
    findings = list[Finding]()
    for file in files:
        size_note = (
            f"; model {file.model!r} lacks {format_size(file.lacking_bytes)}" if file.lacking_bytes else ""
        )
        subject = "all files of the folder are" if file.path.endswith(f"/{MANY}") else "the file is"
        message = f"{subject} missing in this clone, and the lock lists it{size_note}"
        findings.append(Finding(code=CODE, message=message, hint=_remedy(file.file) + hint, file=file.file))
    return findings


def _missing_paths(folder: Path, checksums: Mapping[str, str], present: Collection[str]) -> list[str]:
    above = {path.rpartition("/")[0] for path in present}
    absent = [
        path
        for path in sorted(checksums)
        if (path.removesuffix(f"/{MANY}") not in above if path.endswith(f"/{MANY}") else path not in present)
    ]
    if not absent:
        return []
    git_ignores = ignored_files(folder, absent)
    return [path for path in absent if _is_missing(path, checksums, present, is_ignored=path in git_ignores)]


def _is_missing(path: str, checksums: Collection[str], present: Collection[str], *, is_ignored: bool) -> bool:
    model, *below = path.split("/")
    config = f"{model}/{CONFIG}"
    if config in checksums and config not in present:
        return False
    if is_ignored:
        return True
    if not below or path.endswith(SOURCE) or not any(entry.startswith(f"{model}/") for entry in present):
        return False
    versions = set(_versions(model, present))
    return not is_version(below[0]) or below[0] in versions or not versions


def _versions(model: str, files: Collection[str]) -> Iterator[str]:
    for path in files:
        parts = path.split("/", 2)
        if len(parts) == 3 and parts[0] == model and is_version(parts[1]):
            yield parts[1]


def _lacking_bytes(path: str, sizes: Mapping[str, int]) -> int:
    """The bytes that a model lacks, for a file of a version: that of others is not in the lock."""
    model, *below = path.split("/", 2)
    return sizes[model] if len(below) == 2 and is_version(below[0]) else 0


def _lacking_sizes(
    loaded_spec: LoadedSpec, lock: Lock, index: int, present: Mapping[str, int]
) -> dict[str, int]:
    """The bytes that each model lacks of those in its locked versions."""
    archive_source = next(source for source in loaded_spec.spec.packed_archives if source.index == index)
    archive = lock.archives.get(archive_source.name)
    present_sizes = dict[str, int]()
    for path, size in present.items():
        model, *below = path.split("/", 2)
        if len(below) == 2 and is_version(below[0]):
            present_sizes[model] = present_sizes.get(model, 0) + size
    models = {path.split("/")[0] for path in lock.repositories[loaded_spec.spec.models[index].archive].files}
    sizes = dict[str, int]()
    for model in models:
        name = model if archive_source.copy is None else copied_name(model, archive_source.copy)
        model_facts = archive.models.get(name, LockedModel()) if archive else LockedModel()
        sizes[model] = max(model_facts.size - present_sizes.get(model, 0), 0)
    return sizes


def _remedy(file: Path) -> str:
    """How to get a file, by what is beside and above it."""
    if any(Path(f"{parent}.dvc").is_file() for parent in (file, file.parent, file.parent.parent)):
        return "run `dvc pull`"
    for folder in file.parents:
        makefile = folder / "Makefile"
        if makefile.is_file() and _WEIGHTS.search(makefile.read_text("utf-8", "replace")):
            return "run `make weights`"
        if (folder / ".git").exists():
            break
    return "run the script that creates it, or copy it from where the lock was written"
