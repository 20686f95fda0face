"""YAML files, read with the place of every key, before anything is known about their meaning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import yaml

from fleet.findings import Finding, FindingsError
from fleet.spec.scalars import plain_value
from fleet.spec.source import KeyPath, Mark, Source

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's is ten times as fast; a PyYAML that was built without it has none."""


def read_source(file: Path, max_bytes: int = MAX_BYTES) -> Source:
    """Read one YAML file whose top level is a mapping.

    Raises:
        FindingsError: it cannot be read, is no YAML, repeats a key, or uses what these files do not need
            (anchors and aliases, tags, more than `max_bytes`, more than 32 levels).
    """
    try:
        if file.stat().st_size > max_bytes:
            raise FindingsError([_finding("FL104", file, f"the file is larger than {max_bytes} bytes")])
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"the byte 0x{error.object[error.start]:02x} does not belong into UTF-8 text"
        raise FindingsError([_finding("FL101", file, message, "save the file as UTF-8", line)]) from error
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise FindingsError([_finding("FL101", file, message)]) from error
    try:
        node = _composed(text, file)
    except yaml.YAMLError as error:
        raise FindingsError([_syntax_finding(file, text, error)]) from error
    if node is None:
        raise FindingsError([_finding("FL101", file, "the file is empty")])
    reader = _Reader(file)
    data = reader.value(node, ())
    if not isinstance(data, dict):
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
        self.marks[path] = replace(self.marks[path], text=node.value)
        try:
            return node.value if node.style else plain_value(node.value)
        except ValueError as error:
            self.add("FL106", node, str(error), "write a decimal number, or put text in quotes")
            return None

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


def _composed(text: str, file: Path) -> yaml.Node | None:
    try:
        return _composed_by(LOADER, text, file)
    except yaml.YAMLError:
        if len(text) > MAX_BYTES:
            raise
        # PyYAML's own parser says better what is wrong, and the same on every machine.
        return _composed_by(yaml.SafeLoader, text, file)


def _composed_by(loader: type[yaml.SafeLoader], text: str, file: Path) -> yaml.Node | None:
    _refuse_what_is_not_plain(loader, text, file)
    node: yaml.Node | None = yaml.compose(text, Loader=loader)
    return node


def _refuse_what_is_not_plain(loader: type[yaml.SafeLoader], text: str, file: Path) -> None:
    """A few aliases can stand for gigabytes and deep nesting exhausts the stack: look before composing."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        problem, hint = _not_plain(event, depth)
        if problem:
            mark = event.start_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            raise FindingsError([_finding("FL104", file, problem, hint, line, column)])


def _not_plain(event: yaml.Event, depth: int) -> tuple[str, str]:
    if isinstance(event, yaml.AliasEvent):
        return "aliases are not read", "write it out, or put what repeats under `defaults` of the environment"
    if getattr(event, "anchor", None) is not None:
        return "anchors are not read", "leave the anchor out"
    tag = getattr(event, "tag", None)
    if tag is not None:
        return f"tags are not read: {tag}", "leave the tag out; put text in quotes"
    if depth > MAX_DEPTH:
        return f"values are nested deeper than {MAX_DEPTH} levels", ""
    return "", ""


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
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    context = getattr(error, "context", None)
    begun = f"{context} that begins in line {start.line + 1}" if context and start else context
    problem = ", ".join(filter(None, (begun, getattr(error, "problem", None))))
    place = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return _finding("FL101", file, f"this is not YAML: {problem}", "", *place)
