"""YAML files read with the place of every key, before anything is known about their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import yaml

from fleet.findings import Finding, FindingsError
from fleet.spec.scalars import plain_value

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: `("scaling", "min")`, `("models", 0, "archive")`."""

MAX_BYTES = 1 << 20
MAX_DEPTH = 32


@dataclass(frozen=True)
class Mark:
    """A place in a file; line and column count from 1."""

    file: Path
    line: int
    column: int


def finding_at(mark: Mark, code: str, message: str, hint: str = "") -> Finding:
    """An error at a place of a file."""
    return Finding(code=code, message=message, hint=hint, file=mark.file, line=mark.line, column=mark.column)


@dataclass(frozen=True)
class Source:
    """A document as plain Python data, with the mark of each of its keys and items."""

    file: Path
    data: dict[str, object]
    marks: Mapping[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """The place of a key, or of its nearest parent that the document has."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.marks:
                return self.marks[path[:end]]
        return self.marks.get((), Mark(self.file, 1, 1))

    def section(self, *path: str) -> Source:
        """The mapping below a path as a document of its own; empty where there is none."""
        data: object = self.data
        for key in path:
            data = data.get(key) if isinstance(data, dict) else None
        size = len(path)
        marks = {key[size:]: mark for key, mark in self.marks.items() if key[:size] == path and key != path}
        return Source(self.file, data if isinstance(data, dict) else {}, marks)

    def merged(self, above: Source) -> Source:
        """This document with another laid over it: mappings merge key by key, everything else is replaced."""
        data, marks = dict(self.data), dict(self.marks)
        _lay_over(data, above.data, (), marks, above.marks)
        return Source(self.file, data, marks)


def read_source(file: Path) -> Source:
    """Read one YAML file whose top level is a mapping.

    Raises:
        FindingsError: it cannot be read, is no YAML, repeats a key, or uses what these files do not need
            (anchors and aliases, tags, more than 1 MiB, more than 32 levels).
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise FindingsError([_finding("FL104", file, f"the file is larger than {MAX_BYTES} bytes")])
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FindingsError([_finding("FL101", file, f"the file cannot be read: {error}")]) from error
    try:
        _refuse_what_is_not_plain(text, file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise FindingsError([_syntax_finding(file, text, error)]) from error
    reader = _Reader(file)
    data = reader.value(node, ()) if node is not None else {}
    if node is not None and not isinstance(data, dict):
        reader.add("FL101", node, "the file must hold a mapping of keys to values")
    if reader.findings:
        raise FindingsError(reader.findings)
    assert isinstance(data, dict)  # noqa: S101 - anything else has been reported above
    return Source(file, data, reader.marks)


class _Reader:
    """Turns YAML nodes into data and collects marks and findings on the way."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.marks: dict[KeyPath, Mark] = {}
        self.findings: list[Finding] = []

    def add(self, code: str, node: yaml.Node, message: str, hint: str = "") -> None:
        mark = node.start_mark
        self.findings.append(_finding(code, self.file, message, hint, mark.line + 1, mark.column + 1))

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        self.marks.setdefault(path, Mark(self.file, node.start_mark.line + 1, node.start_mark.column + 1))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 - the third and last kind of node
        return plain_value(node.value) if node.style is None else node.value

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, object]:
        data: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.add("FL103", key_node, "a key must be text, not a list or a mapping")
                continue
            key = key_node.value
            if key in data:
                first = self.marks[(*path, key)].line
                message = f"the key `{key}` is given twice; it stands in line {first} already"
                self.add("FL102", key_node, message, "keep one of the two")
                continue
            start = key_node.start_mark
            self.marks[(*path, key)] = Mark(self.file, start.line + 1, start.column + 1)
            data[key] = self.value(value_node, (*path, key))
        return data


def _refuse_what_is_not_plain(text: str, file: Path) -> None:
    """A few aliases can stand for gigabytes and deep nesting exhausts the stack: look before composing."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        problem, hint = _not_plain(event, depth)
        if problem:
            mark = event.start_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            raise FindingsError([_finding("FL104", file, problem, hint, line, column)])


def _not_plain(event: yaml.Event, depth: int) -> tuple[str, str]:
    if isinstance(event, yaml.AliasEvent):
        return "aliases are not read", "write it out, or put what repeats under `defaults` of the environment"
    tag = getattr(event, "tag", None)
    if tag is not None:
        return f"tags are not read: {tag}", "leave the tag out; put text in quotes"
    if depth > MAX_DEPTH:
        return f"values are nested deeper than {MAX_DEPTH} levels", ""
    return "", ""


def _lay_over(
    below: dict[str, object],
    above: Mapping[str, object],
    path: KeyPath,
    marks: dict[KeyPath, Mark],
    marks_above: Mapping[KeyPath, Mark],
) -> None:
    for key, value in above.items():
        here: KeyPath = (*path, key)
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            below[key] = merged = dict(old)
            _lay_over(merged, value, here, marks, marks_above)
            continue
        for stale in [mark for mark in marks if mark[: len(here)] == here]:
            del marks[stale]
        marks.update({mark: place for mark, place in marks_above.items() if mark[: len(here)] == here})
        below[key] = value


def _finding(
    code: str, file: Path, message: str, hint: str = "", line: int | None = None, column: int | None = None
) -> Finding:
    return Finding(code=code, message=message, file=file, line=line, column=column, hint=hint)


def _syntax_finding(file: Path, text: str, error: yaml.YAMLError) -> Finding:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return _finding(
            "FL101", file, f"the character {chr(error.character)!r} does not belong into YAML", "", line
        )
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    place = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return _finding("FL101", file, f"this is not YAML: {problem}", "", *place)
