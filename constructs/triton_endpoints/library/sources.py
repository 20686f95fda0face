"""A spec in memory: each key's place is the prop that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from triton_fleet.spec.problems import dotted_path
from triton_fleet.spec.source import KeyPath, Mark, Source


def source_of_props(data: dict[str, object], names: Mapping[KeyPath, str], root: str) -> Source:
    """A document without a file.

    Args:
        data: What a file would hold.
        names: What a prop is called whose name is not its key, by the key's path.
        root: What stands before all other keys; empty for props of the construct itself.
    """
    prefix = f"{root}." if root else ""
    marks = {path: _mark(prop_name(path, names, prefix), value) for path, value in _paths(data)}
    return Source(Path(root), data, {**marks, (): _mark(root, None)})


def prop_name(path: KeyPath, names: Mapping[KeyPath, str], prefix: str = "") -> str:
    """The prop of a key: `instance.type`."""
    for end in range(len(path), 0, -1):
        if path[:end] in names:
            below = dotted_path(path[end:])
            joint = "." if below and not below.startswith("[") else ""
            return f"{names[path[:end]]}{joint}{below}"
    return f"{prefix}{dotted_path(path)}"


def _mark(name: str, value: object) -> Mark:
    # A prop stands in no line: line and column 0 are not shown.
    shown = str(value) if isinstance(value, int | float) else ""
    return Mark(Path(name), 0, 0, shown)


def _paths(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _paths(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))
