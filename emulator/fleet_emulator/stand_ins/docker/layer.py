"""Layers: the changes of an instruction as a reproducible tar, and what a layer makes of a file system."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet.core.tar_writer import write_end, write_member
from fleet.repository.reading.entry_path import MAX_PATH, path_problem, plain_path
from fleet.repository.reading.gunzip import Bounds, gunzip
from fleet.repository.reading.stream import FileStream, UnreadableError
from fleet.repository.reading.tar import Member, members
from fleet_emulator.stand_ins.docker.file_tree import FOLDER, Content, FileTree, Node, NodeKind, TreeError
from fleet_emulator.stand_ins.docker.output import DockerError

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
"""OCI image specification, layer.md: removes one name, or all that lower layers have in a folder."""
_TYPES = {NodeKind.FOLDER: tarfile.DIRTYPE, NodeKind.FILE: tarfile.REGTYPE, NodeKind.LINK: tarfile.SYMTYPE}


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer: `digest` and `size` of the gzip, `diff_id` and `unpacked` of the tar."""

    digest: str
    size: int
    diff_id: str
    unpacked: int


def write_tar(tree: FileTree, target: IO[bytes]) -> None:
    """Write a tree as a tar: sorted, owned by root, of 1970; the same bytes on each machine."""
    size = 0
    for path, node in tree:
        chunks = node.content.chunks() if node.content else ()
        size += write_member(
            target, path, _TYPES[node.kind], node.mode, size=node.size, target=node.target, chunks=chunks
        )
    write_end(size, target)


def compress(source: Path, target: Path) -> None:
    """Write a gzip without name and time, so that its bytes follow from the content and from zlib."""
    with (
        source.open("rb") as tar,
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 6, fileobj=file, mtime=0) as packed,
    ):
        while chunk := tar.read(1 << 20):
            packed.write(chunk)


def sha256_of(file: Path) -> str:
    """`sha256:...` of a file."""
    with file.open("rb") as source:
        return f"sha256:{hashlib.file_digest(source, 'sha256').hexdigest()}"


def unpack_layer(packed: Path, target: Path) -> None:
    """Undo the gzip of a layer.

    Raises:
        DockerError: it is damaged, or unpacks to more than the limit.
    """
    try:
        with packed.open("rb") as source, target.open("wb") as tar:
            stream = gunzip(FileStream(source, packed.stat().st_size), Bounds(packed.stat().st_size))
            tar.writelines(stream.pieces())
    except UnreadableError as error:
        raise DockerError(f"the layer {packed.name} cannot be read: {error}") from error


def apply_layer(tar: Path, tree: FileTree) -> None:
    """Change a tree as a layer does; devices, pipes and sparse files are left out.

    Raises:
        DockerError: it is not a layer, or not one that is safe to read.
    """
    changes: list[tuple[str, Node]] = []
    try:
        with tar.open("rb") as opened:
            size = tar.stat().st_size
            stream = FileStream(opened, size)
            layer = FileTree()
            for member in members(stream, Bounds(size)):
                path = _safe_path(member.path)
                folder, _, name = path.rpartition("/")
                if name == _OPAQUE:
                    for each in tree.names(folder):
                        tree.remove(f"{folder}/{each}".lstrip("/"))
                elif name.startswith(_WHITEOUT):
                    tree.remove(f"{folder}/{name.removeprefix(_WHITEOUT)}".lstrip("/"))
                elif node := _node(member, tar, stream.position, (layer, tree)):
                    layer.put(path, node)
                    changes.append((path, node))
        for path, node in changes:
            tree.put(path, node)
    except (UnreadableError, TreeError) as error:
        raise DockerError(f"the layer {tar.stem} cannot be read: {error}") from error


def _safe_path(name: str) -> str:
    path = plain_path(name)
    if problem := path_problem(path):
        raise TreeError(f"the name {name[:MAX_PATH]!r} {problem}")
    return path


def _node(member: Member, tar: Path, offset: int, trees: Sequence[FileTree]) -> Node | None:
    if member.is_folder:
        return FOLDER if member.mode == FOLDER.mode else Node(kind=NodeKind.FOLDER, mode=member.mode)
    if member.what == "a symbolic link":
        return Node(kind=NodeKind.LINK, mode=0o777, target=member.target[:MAX_PATH])
    if member.what == "a hard link":
        path = _safe_path(member.target)
        return next((node for tree in trees if (node := tree.get(path))), None)
    if member.what:
        return None
    content = Content(file=tar, offset=offset, size=member.content.size)
    return Node(kind=NodeKind.FILE, mode=member.mode, content=content if content.size else None)
