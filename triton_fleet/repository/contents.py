"""What a model repository, a folder or an archive, holds: names, kinds, sizes, and a few files' content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from triton_fleet.findings import Finding
from triton_fleet.repository.conda_environment import CondaEnvironment
from triton_fleet.repository.entry_path import packing_key
from triton_fleet.repository.onnx_header import OnnxHeader
from triton_fleet.repository.version_folders import is_version


class EntryKind(StrEnum):
    """What an entry is; a link is never followed, and all else is neither file nor folder."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True)
class Entry:
    """One entry; `size` in bytes, 0 if it is not a file."""

    kind: EntryKind
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A repository; all paths are relative to it, in POSIX form, without a slash at the end.

    Attributes:
        place: The folder or the archive, as the user names it.
        archive: Whether it is an archive.
        packed: Whether it is what this product packs of a folder.
        entries: By path, sorted; every folder above an entry is one, also if an archive has no entry for it.
        texts: The content of files that are checked by it: each config.pbtxt and configs/*.pbtxt of a model,
            and the Python files in its folders; of a TensorRT plan the first bytes.
        headers: The headers of ONNX files, by path.
        environments: Packed Python environments, by path; for a folder only if a config names any.
        findings: What is wrong with the folder or archive itself; what could not be read is missing above.
    """

    place: Path
    archive: bool
    entries: Mapping[str, Entry]
    texts: Mapping[str, bytes] = field(default_factory=dict)
    headers: Mapping[str, OnnxHeader] = field(default_factory=dict)
    environments: Mapping[str, CondaEnvironment] = field(default_factory=dict)
    packed: bool = False
    findings: tuple[Finding, ...] = ()

    def file(self, path: str = "") -> Path:
        """An entry as a finding names it; one in an archive below the archive's own name."""
        return self.place / path if path else self.place

    @staticmethod
    def path(*parts: str) -> str:
        """The path of an entry by its parts; the repository itself is "", and no part of a path."""
        return "/".join(part for part in parts if part)

    def below(self, folder: str = "") -> dict[str, Entry]:
        """The entries directly in a folder, by name, sorted."""
        return dict(self._children.get(folder, {}))

    @cached_property
    def _children(self) -> dict[str, dict[str, Entry]]:
        children: dict[str, dict[str, Entry]] = {}
        for path, entry in self.entries.items():
            above, _, name = path.rpartition("/")
            children.setdefault(above, {})[name] = entry
        return children

    def folders(self, folder: str = "") -> list[str]:
        """The names of the real folders directly in a folder, hidden ones too, sorted."""
        return [name for name, entry in self.below(folder).items() if entry.kind is EntryKind.FOLDER]

    @cached_property
    def packed_entries(self) -> list[tuple[str, int | None]]:
        """The packed paths of a `packed` repository with sizes of files, in an order that never varies.

        Folders have None. Those without files are left out, except for versions (docs/decisions/0031).
        """
        sizes: dict[str, int | None] = {}
        for path, entry in self.entries.items():
            name = path.partition("/")[2]
            if entry.kind is EntryKind.FILE:
                sizes[path] = entry.size
                above = path.rpartition("/")[0]
            elif entry.kind is EntryKind.FOLDER and is_version(name):
                above = path
            else:
                continue
            while above and above not in sizes:
                sizes[above] = None
                above = above.rpartition("/")[0]
        return sorted(sizes.items(), key=lambda each: packing_key(each[0], is_folder=each[1] is None))

    def is_file(self, path: str) -> bool:
        """Whether a regular file has that path."""
        return path in self.entries and self.entries[path].kind is EntryKind.FILE
