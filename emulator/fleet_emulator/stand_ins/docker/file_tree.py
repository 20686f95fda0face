"""The file system of an image in memory: names, modes and links, and where each file's bytes are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

MAX_LINKS = 40
"""That the kernel follows for one path (path_resolution(7))."""
MAX_NODES = 1_000_000
"""Of one file system; the images of Triton have some 150,000."""
_CHUNK = 1 << 16


class TreeError(Exception):
    """A path that does not lead where it should; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """Bytes within a file of this machine."""

    file: Path
    offset: int = 0
    size: int

    def chunks(self) -> Iterator[bytes]:
        """The bytes.

        Raises:
            TreeError: the file is shorter than it was.
        """
        left = self.size
        with self.file.open("rb") as source:
            source.seek(self.offset)
            while left:
                chunk = source.read(min(left, _CHUNK))
                if not chunk:
                    raise TreeError(f"{self.file.name} became shorter while it was read")
                left -= len(chunk)
                yield chunk


class NodeKind(Enum):
    """What a name in the file system stands for."""

    FOLDER = auto()
    FILE = auto()
    LINK = auto()


@dataclass(frozen=True, kw_only=True)
class Node:
    """A folder, a file with its content (None: empty) or a symbolic link with its target."""

    kind: NodeKind
    mode: int = 0o755
    content: Content | None = None
    target: str = ""

    @property
    def size(self) -> int:
        """The size of a file in bytes."""
        return self.content.size if self.content else 0


FOLDER = Node(kind=NodeKind.FOLDER)
EMPTY_FILE = Node(kind=NodeKind.FILE, mode=0o644)


class FileTree:
    """Nodes by their path, which begins with no slash; the root, "", is a folder that always exists."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._names: dict[str, set[str]] = {}

    def __iter__(self) -> Iterator[tuple[str, Node]]:
        """All nodes, sorted, each folder before what is in it."""
        return self.below("")

    def get(self, path: str) -> Node | None:
        """The node of a path; links within the path are not followed."""
        return self._nodes.get(path) if path else FOLDER

    def put(self, path: str, node: Node) -> None:
        """Put a node, and the folders above it that are missing; a file or a link replaces all below it.

        Raises:
            TreeError: there are more than MAX_NODES.
        """
        if path and node.kind is not NodeKind.FOLDER:
            self.remove(path)
        while path:
            self._nodes[path] = node
            if len(self._nodes) > MAX_NODES:
                raise TreeError(f"the file system has more than {MAX_NODES} files and folders")
            path, _, name = path.rpartition("/")
            self._names.setdefault(path, set()).add(name)
            above = self._nodes.get(path)
            if above is not None and above.kind is NodeKind.FOLDER:
                return
            node = FOLDER

    def remove(self, path: str) -> None:
        """Remove a node and all below it."""
        for name, _ in list(self.below(path)):
            self._names.pop(name, None)
            del self._nodes[name]
        self._names.pop(path, None)
        removed = self._nodes.pop(path, None)
        if removed is not None:
            folder, _, name = path.rpartition("/")
            self._names[folder].discard(name)

    def names(self, path: str) -> list[str]:
        """What is in a folder, sorted."""
        return sorted(self._names.get(path, ()))

    def below(self, path: str) -> Iterator[tuple[str, Node]]:
        """All nodes below a folder, sorted, each folder before what is in it."""
        left = [path]
        while left:
            each = left.pop()
            if each != path:
                yield each, self._nodes[each]
            left += [f"{each}/{name}".lstrip("/") for name in reversed(self.names(each))]

    def resolve(self, path: str, *, last: bool = True) -> str:
        """The path with its links followed within this tree; what does not exist is taken as it is.

        Args:
            path: Absolute or not, it begins at the root, above which nothing is.
            last: Whether the last name is followed as well.

        Raises:
            TreeError: too many links.
        """
        done: list[str] = []
        left, followed = path.split("/")[::-1], 0
        while left:
            name = left.pop()
            if name == "..":
                del done[-1:]
            if name in ("", ".", ".."):
                continue
            node = self._nodes.get("/".join([*done, name]))
            if node is None or node.kind is not NodeKind.LINK or (not last and not any(left)):
                done.append(name)
                continue
            followed += 1
            if followed > MAX_LINKS:
                raise TreeError(f"too many levels of symbolic links: {path}")
            if node.target.startswith("/"):
                done.clear()
            left += node.target.split("/")[::-1]
        return "/".join(done)

    def update(self, changes: FileTree) -> None:
        """Put all nodes of another tree."""
        for path, node in changes:
            self.put(path, node)
