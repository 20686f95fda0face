"""The content of a model repository: names, kinds, sizes, and a few files' own content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from triton_fleet.findings import Finding
from triton_fleet.repository.entry_path import is_version, packing_key


class EntryKind(StrEnum):
    """Kind of an entry; a link is never followed, and a special one is neither file nor folder."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    SPECIAL = "other"


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
    is_packed: bool = False
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
        """The packed paths of a packed repository with sizes of files, in an order that never varies.

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
        return sorted(sizes.items(), key=lambda item: packing_key(item[0], is_folder=item[1] is None))

    def is_file(self, path: str) -> bool:
        """Whether a regular file has that path."""
        return path in self.entries and self.entries[path].kind is EntryKind.FILE


@dataclass(frozen=True)
class CondaEnvironment:
    """The content of a packed environment; `problem` is why it cannot be read, or empty.

    `activate` is the path of bin/activate in it, "" if there is none; `python` is the minor version of its
    interpreter, such as "3.12", "" if it has none.
    """

    activate: str = ""
    python: str = ""
    problem: str = ""


TENSOR = "ONNX_TYPE_TENSOR"


@dataclass(frozen=True)
class OnnxTensor:
    """A tensor, with its Triton data type: `TYPE_FP32`; "" if it is not a tensor or Triton has no such type.

    A dimension is -1 where the graph leaves it open or gives it a name; `shape` is None where it has none.
    `onnx_type` is what it is instead of a tensor, as Triton's backend calls it.
    """

    name: str
    data_type: str
    shape: tuple[int, ...] | None
    onnx_type: str = TENSOR


@dataclass(frozen=True)
class OnnxHeader:
    """A graph's header; `problem` is why it cannot be read or loaded, or empty.

    `inputs` are without those that an initializer gives a value; those of them that a request may give
    another value are `overridable`. ONNX Runtime may know more of the outputs: it infers dimensions that the
    file leaves open. `external` are the files, relative to the graph's folder, that hold weights.
    `ir_version` is the version of the file's format, 0 if it has none; `opsets` are the versions of the
    operator sets by domain, in the file's order. `certain` is False if only this reader has the problem.
    """

    inputs: tuple[OnnxTensor, ...] = ()
    outputs: tuple[OnnxTensor, ...] = ()
    overridable: tuple[OnnxTensor, ...] = ()
    external: tuple[str, ...] = ()
    ir_version: int = 0
    opsets: tuple[tuple[str, int], ...] = ()
    problem: str = ""
    certain: bool = True
