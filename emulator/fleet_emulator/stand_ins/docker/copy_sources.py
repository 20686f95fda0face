"""COPY and ADD: which files go where, as BuildKit copies them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from fleet_emulator.stand_ins.docker.file_tree import FOLDER, FileTree, Node, NodeKind, TreeError

_WILDCARD = re.compile(r"[*?\[]")
_ARCHIVE = re.compile(r"\.(tar|tar\.(gz|bz2|xz|zst)|tgz|tbz2?|txz)$")


def copy_sources(
    source: FileTree,
    names: Sequence[str],
    target: FileTree,
    destination: str,
    *,
    mode: int | None = None,
    archives: bool = True,
) -> FileTree:
    """The changes of a COPY.

    Args:
        source: The build context, or another image.
        names: Paths and patterns within it; what begins with `/` or `../` begins at its root, as in BuildKit.
        target: The file system that is copied to.
        destination: An absolute path; a folder if it ends with `/`.
        mode: The mode of all that is copied, links aside; None keeps it.
        archives: False for ADD, which would unpack an archive.

    Raises:
        TreeError: a source does not exist, or something else is in its way; the message names it.
    """
    changes = FileTree()
    found = [path for name in names for path in _sources(source, name)]
    into_folder = destination.endswith("/")
    if len(found) > 1 and not into_folder:
        raise TreeError(f"the destination of more than one file has to end with '/', not {destination!r}")
    at = target.resolve(destination)
    folder = target.get(at)
    into_folder = into_folder or (folder is not None and folder.kind is NodeKind.FOLDER)
    for path in found:
        real = source.resolve(path)
        node = source.get(real)
        if node is None:
            raise TreeError(f'"/{path}": not found')
        if node.kind is NodeKind.FOLDER:
            _put(target, changes, at, FOLDER, None)
            for below, each in source.below(real):
                relative = below[len(real) :].lstrip("/")
                _put(target, changes, f"{at}/{relative}".lstrip("/"), each, mode)
            continue
        if not archives and _ARCHIVE.search(path):
            raise TreeError(f"{path!r} is an archive, which ADD unpacks and the stand-in does not")
        name = path.rpartition("/")[2]
        _put(target, changes, f"{at}/{name}".lstrip("/") if into_folder else at, node, mode)
    return changes


def _put(target: FileTree, changes: FileTree, path: str, node: Node, mode: int | None) -> None:
    if not path:
        return
    there = changes.get(path) or target.get(path)
    is_folder = node.kind is NodeKind.FOLDER
    if there is not None and is_folder != (there.kind is NodeKind.FOLDER):
        problem = (
            "a folder cannot replace a file or a link" if is_folder else "a file cannot replace a folder"
        )
        raise TreeError(f"{problem}: /{path}")
    if mode is not None and node.kind is not NodeKind.LINK:
        node = replace(node, mode=mode)
    changes.put(path, node)


def _sources(tree: FileTree, name: str) -> Iterator[str]:
    """The paths of one source; none where a pattern fits nothing."""
    parts: list[str] = []
    for part in name.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if not _WILDCARD.search(name):
        yield "/".join(parts)
        return
    if "\\" in name:
        raise TreeError(f"the pattern {name!r} has an escape, which the stand-in does not read")
    found = [""]
    for part in parts:
        pattern = part.replace("[^", "[!")
        found = [
            f"{folder}/{each}".lstrip("/")
            for folder in found
            for each in tree.names(tree.resolve(folder))
            if (fnmatchcase(each, pattern) if _WILDCARD.search(part) else each == part)
        ]
    yield from found
