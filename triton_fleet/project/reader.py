"""YAML files, read with the place of every key, before anything is known about their meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import Path
from stat import S_ISREG
from typing import Any

import yaml

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.spec_files import linked_file
from triton_fleet.spec.source import KeyPath, Mark, Source, first_of
from triton_fleet.spec.values import DYNAMIC

Scalar = str | int | float | bool | None

_FIRST = {"", *"~nNtTfF+-.0123456789"}
"""First characters of text that may be something else; most does not begin so."""
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,1000}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OTHER_NUMBER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_value(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Raises:
        ValueError: it is a number to an editor and none to us: hexadecimal, octal, or not finite.
    """
    if text[:1] not in _FIRST:
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    if _NUMBER.fullmatch(text) or _OTHER_NUMBER.fullmatch(text):
        raise ValueError(f"{text} is not a decimal number")
    return text


def is_text(text: str) -> bool:
    """Whether an unquoted scalar is the text itself."""
    try:
        return plain_value(text) == text
    except ValueError:
        return False


MAX_BYTES = 1 << 20
MAX_DEPTH = 32
BYTES_OF_A_VALUE = 10
"""A file may have at most one key or value per so many bytes of its limit: each takes time to read."""
MAX_EXPLAINED_BYTES = 1 << 14
"""The most characters of a text that is not YAML for which a slower parser finds the reason."""
TOKEN = re.compile(r"[$#]\{Token\[")
"""How texts that the CDK resolves begin. Source: core/lib/private/encoding.js of aws-cdk-lib."""
LARGEST = 1e287
"""From here on the CDK uses numbers as tokens. Source: createTokenDouble of the same file."""
RESERVED_NAMES = frozenset({"__proto__", "_children", "_metadata"})
"""Keys by which the CDK takes a mapping for something else, so that no stack could be synthesised."""
RENAME = "choose another name"
NO_TEXT = re.compile(r"[\ud800-\udfff]")
"""Characters that YAML's escapes can write, and no file, variable or message can hold."""
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's is ten times as fast; a PyYAML that was built without it has none."""


def read_source(file: Path, max_bytes: int = MAX_BYTES) -> Source:
    """Read one YAML file whose top level is a mapping.

    Raises:
        FindingsError: it cannot be read, is not YAML, repeats a key, or uses what these files do not need
            (anchors and aliases, tags, more than `max_bytes`, a value for less than 10 of these, 32 levels),
            or what CloudFormation or the CDK would put another value in the place of.
    """
    try:
        if file.is_symlink():
            raise FindingsError([linked_file(file)])
        status = file.stat()
        if not S_ISREG(status.st_mode):
            raise FindingsError([_finding("FL101", file, "this is not a regular file")])
        if status.st_size > max_bytes:
            raise FindingsError([_finding("FL104", file, f"the file is larger than {max_bytes} bytes")])
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"the byte 0x{error.object[error.start]:02x} is not valid in UTF-8 text"
        raise FindingsError([_finding("FL101", file, message, "save the file as UTF-8", line)]) from error
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise FindingsError([_finding("FL101", file, message)]) from error
    return parse_source(file, text, max_bytes)


def parse_source(file: Path, text: str, max_bytes: int = MAX_BYTES) -> Source:
    """The document in the text of a file, which need not exist yet.

    Raises:
        FindingsError: as `read_source`.
    """
    reader = _Reader(file, _plain(_events(text, LOADER), file, max_bytes // BYTES_OF_A_VALUE))
    try:
        data = reader.document()
    except (yaml.YAMLError, ValueError) as error:
        raise FindingsError([_syntax_finding(file, text, _said_better(file, text, error))]) from error
    if not isinstance(data, dict):
        start = reader.marks.get(())
        message = "the file must contain a mapping of keys to values" if start else "the file is empty"
        position = (start.line, start.column) if start else ()
        raise FindingsError([_finding("FL101", file, message, "", *position)])
    if reader.findings:
        raise FindingsError(first_of(reader.findings, len(reader.findings)))
    return Source(file, data, reader.marks)


class _Reader:
    """Turns a YAML parser's events into data, and collects marks and findings on the way."""

    def __init__(self, file: Path, events: Iterator[yaml.Event]) -> None:
        self.file = file
        self.events = events
        self.marks: dict[KeyPath, Mark] = {}
        self.findings: list[Finding] = []

    def document(self) -> object:
        """The only document; None where there is none.

        Raises:
            yaml.YAMLError: the text is not YAML.
        """
        next(self.events)  # the start of the stream, and then of the document
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        first = next(self.events)
        data = self._value(first, (), _position(first))
        next(self.events)  # the document's end
        if not isinstance(after := next(self.events), yaml.StreamEndEvent):
            problem = f"expected a single document in the stream that begins in line {_position(first)[0]}"
            self._add("FL101", after, f"this is not YAML: {problem}, but found another document")
        return data

    def _value(self, event: yaml.Event, path: KeyPath, position: tuple[int, int]) -> object:
        """The value that begins with an event; its place is that of its key if it has one."""
        if not isinstance(event, yaml.ScalarEvent):
            self.marks[path] = Mark(self.file, *position)
            if isinstance(event, yaml.MappingStartEvent):
                return self._mapping(path)
            return [self._value(item, (*path, n), _position(item)) for n, item in enumerate(self._items())]
        text = event.value
        self.marks[path] = Mark(self.file, *position, text)
        try:
            value = text if event.style else plain_value(text)
            if isinstance(value, float) and LARGEST <= abs(value) < inf:
                self._add("FL519", event, f"{text} is not read: the CDK uses so large numbers for itself")
            return value
        except ValueError as error:
            self._add("FL106", event, str(error), "write a decimal number, or put text in quotes")
            return None

    def _items(self) -> Iterator[yaml.Event]:
        """The event with which each item of a list, or each key of a mapping, begins."""
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            yield event

    def _mapping(self, path: KeyPath) -> dict[str, object]:
        data: dict[str, object] = {}
        for event in self._items():
            if not isinstance(event, yaml.ScalarEvent):
                self._add("FL103", event, "a key must be text, not a list or a mapping")
                self._pass_over(event)
                self._pass_over(next(self.events))
                continue
            key: KeyPath = (*path, event.value)
            if event.value in RESERVED_NAMES:
                self._add("FL519", event, f"the CDK has a use of its own for the key `{event.value}`", RENAME)
            if event.value in data:
                first = self.marks[key].line
                message = f"the key `{event.value}` is given twice; it is already in line {first}"
                self._add("FL102", event, message, "keep one of the two")
                self._pass_over(next(self.events))
                continue
            data[event.value] = self._value(next(self.events), key, _position(event))
        return data

    def _pass_over(self, event: yaml.Event) -> None:
        """Read a value that is not kept."""
        _Reader(self.file, self.events)._value(event, (), (1, 1))

    def _add(self, code: str, event: yaml.Event, message: str, hint: str = "") -> None:
        self.findings.append(_finding(code, self.file, message, hint, *_position(event)))


def _position(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _events(text: str, loader: Callable[[str], Any]) -> Iterator[yaml.Event]:
    """The events of a parser; `yaml.parse` asks it twice for each."""
    return iter(loader(text).get_event, None)


def _plain(events: Iterable[yaml.Event], file: Path, limit: int) -> Iterator[yaml.Event]:
    """The events, as long as they are what these files need: others could exhaust the stack or the memory."""
    depth = values = 0
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            depth += isinstance(event, yaml.CollectionStartEvent)
            values += 1
            problem, hint = _not_plain(event, depth)
            code = "FL104"
            if values > limit:
                problem, hint = f"the file contains more than {limit} keys and values", ""
            elif not problem and isinstance(event, yaml.ScalarEvent) and "{" in event.value:
                code, (problem, hint) = "FL519", _expression(event.value)
            if problem:
                raise FindingsError([_finding(code, file, problem, hint, *_position(event))])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        yield event


def _not_plain(event: yaml.NodeEvent, depth: int) -> tuple[str, str]:
    if isinstance(event, yaml.AliasEvent):
        return "aliases are not read", "write it out, or put what repeats under `defaults` of the environment"
    if event.anchor is not None:
        return "anchors are not read", "leave the anchor out"
    tag = getattr(event, "tag", None)
    if tag is not None:
        return f"tags are not read: {tag}", "leave the tag out; put text in quotes"
    if depth > MAX_DEPTH:
        return f"values are nested deeper than {MAX_DEPTH} levels", ""
    if isinstance(event, yaml.ScalarEvent) and event.style == '"' and (match := NO_TEXT.search(event.value)):
        return f"the character {match[0]!r} is not read", "leave it out"
    return "", ""


def _expression(text: str) -> tuple[str, str]:
    """The text that CloudFormation or the CDK would replace by a value, and the hint against it."""
    if DYNAMIC in text:
        message = f"`{DYNAMIC}` is not read: CloudFormation would put a value in its place, a secret perhaps"
        return message, "pass the ARN, and read the value in the container"
    if match := TOKEN.search(text):
        return f"`{match[0]}` is not read: the CDK would put a value of another resource in its place", ""
    return "", ""


def _finding(
    code: str, file: Path, message: str, hint: str = "", line: int | None = None, column: int | None = None
) -> Finding:
    return Finding(code=code, message=message, file=file, line=line, column=column, hint=hint)


def _said_better(file: Path, text: str, error: Exception) -> Exception:
    """The error of PyYAML's own parser, which is clearer, and the same on every machine.

    Raises:
        FindingsError: it reaches what these files do not need before it reaches the mistake.
    """
    if len(text) <= MAX_EXPLAINED_BYTES:
        try:
            for _ in _plain(_events(text, yaml.SafeLoader), file, len(text)):
                pass
        except yaml.YAMLError as better:
            return better
        except ValueError:  # an escape beyond Unicode
            return error
    return error


def _syntax_finding(file: Path, text: str, error: Exception) -> Finding:
    if isinstance(error, yaml.reader.ReaderError):
        match = yaml.reader.Reader.NON_PRINTABLE.search(text)
        if match is not None:
            line = text.count("\n", 0, match.start()) + 1
            return _finding("FL101", file, f"the character {match[0]!r} is not valid in YAML", "", line)
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    context = getattr(error, "context", None)
    outline = f"{context} that begins in line {start.line + 1}" if context and start else context
    problem = ", ".join(filter(None, (outline, getattr(error, "problem", str(error)))))
    position = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return _finding("FL101", file, f"this is not YAML: {problem}", "", *position)
