"""What a text in protobuf's text format consists of: fields, messages, lists, scalars.

Offsets (`at`, `end`) are in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from triton_fleet.repository.text_format.tokens import unescape


@dataclass(slots=True)
class Scalar:
    """A word, or a string of one or more literals as they are written; `end` is that of the last one."""

    at: int
    end: int
    literals: Sequence[bytes]

    @property
    def is_string(self) -> bool:
        """Whether it stands in quotation marks."""
        return self.literals[0][:1] in (b'"', b"'")

    @property
    def text(self) -> str:
        """A string's value, or the word; bytes that are not UTF-8 become surrogates."""
        whole = b"".join(unescape(literal[1:-1]) if self.is_string else literal for literal in self.literals)
        return whole.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class Message:
    """What stands between braces, or the whole file."""

    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class Items:
    """A list in brackets."""

    items: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class Field:
    """A name and its value, or one item of a list; `at` is where it begins."""

    name: str
    at: int
    value: Value


Value: TypeAlias = Scalar | Message | Items


def elements(fields: Sequence[Field]) -> Iterator[Field]:
    """Each occurrence of a field, in either spelling: `x: [1, 2]` and `x: 1 x: 2` are the same."""
    for item in fields:
        if isinstance(item.value, Items):
            yield from item.value.items
        else:
            yield item
