"""Lines of the canonical form: fields and their comments, indented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fleet.repository.text_format.nodes import Field, Message, Scalar
from fleet.repository.text_format.repeated_fields import RepeatedField, merge_occurrences, those
from fleet.repository.text_format.scalars import scalar_spelling
from fleet.repository.text_format.tokens import Comment

INDENT, WIDTH = "  ", 100
"""A list of scalars that is wider than that has a line for each of them."""


class Layout:
    """Collects lines; `depth` counts the messages and lists around what is added."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._is_start = True

    def comments(self, comments: Sequence[Comment], depth: int) -> None:
        """Each on a line of its own; a blank line above stays, unless nothing stands above it."""
        for each in comments:
            if each.is_parted and not self._is_start:
                self.lines.append("")
            self._line(each.text, depth)

    def blank(self) -> None:
        """A blank line, after which a block begins."""
        self.lines.append("")
        self._is_start = True

    def message(self, message: Message, descriptor: Any, depth: int) -> None:
        """All fields, in the order that the schema declares them in."""
        written: dict[str, list[Field]] = {}
        for each in message.fields:
            written.setdefault(each.name, []).append(each)
        for field in descriptor.fields:
            occurrences = written.get(field.name)
            if not occurrences:
                continue
            if not field.is_repeated:
                for each in occurrences:
                    self._single(each, field, depth)
            elif field.message_type and field.message_type.GetOptions().map_entry:
                self._entries(merge_occurrences(occurrences), field, depth)
            else:
                self._list(merge_occurrences(occurrences), field, depth)
        self.comments(message.closing, depth)

    def _single(self, each: Field, field: Any, depth: int) -> None:
        self.comments(each.above, depth)
        self._value(each, field, depth, f"{field.name} " if field.message_type else f"{field.name}: ")

    def _entries(self, entries: RepeatedField, field: Any, depth: int) -> None:
        """A map, as Triton's documentation writes it: each entry is a field of its own."""
        if not entries.items:
            self._list(entries, field, depth)
            return
        last = entries.items[-1]
        beside, below = (last.beside, entries.beside) if last.beside else (entries.beside, None)
        self.comments([*entries.above, *those(entries.opening)], depth)
        for each in (*entries.items[:-1], replace(last, beside=beside)):
            self._single(each, field, depth)
        self.comments([*entries.closing, *those(below)], depth)

    def _list(self, whole: RepeatedField, field: Any, depth: int) -> None:
        start = f"{field.name} [" if field.message_type else f"{field.name}: ["
        self.comments(whole.above, depth)
        if not whole.has_comments and (line := self._short(start, whole, field, depth)):
            self._line(line, depth, whole.beside)
            return
        self._open(start, depth, whole.opening)
        for each in whole.items:
            self.comments(each.above, depth + 1)
            self._value(each, field, depth + 1, end="" if each is whole.items[-1] else ",")
        self.comments(whole.closing, depth + 1)
        self._line("]", depth, whole.beside)

    def _short(self, start: str, whole: RepeatedField, field: Any, depth: int) -> str:
        """A list on one line; none of messages, and none that is too wide."""
        if not whole.items:
            return f"{start} ]"
        values = [
            scalar_spelling(field, each.value) for each in whole.items if isinstance(each.value, Scalar)
        ]
        line = f"{start} {', '.join(values)} ]"
        return line if values and len(line) + depth * len(INDENT) <= WIDTH else ""

    def _value(self, each: Field, field: Any, depth: int, start: str = "", end: str = "") -> None:
        if isinstance(each.value, Scalar):
            self._line(f"{start}{scalar_spelling(field, each.value)}{end}", depth, each.beside)
        elif isinstance(each.value, Message):
            message = each.value
            if message.fields or message.beside or message.closing:
                self._open(f"{start}{{", depth, message.beside)
                self.message(message, field.message_type, depth + 1)
                self._line(f"}}{end}", depth, each.beside)
            else:
                self._line(f"{start}{{ }}{end}", depth, each.beside)

    def _open(self, line: str, depth: int, beside: Comment | None) -> None:
        self._line(line, depth, beside)
        self._is_start = True

    def _line(self, line: str, depth: int, beside: Comment | None = None) -> None:
        comment = f"  {beside.text}" if beside else ""
        self.lines.append(f"{INDENT * depth}{line}{comment}")
        self._is_start = False
