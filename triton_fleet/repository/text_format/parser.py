"""Tokens become a message of fields, lists and scalars: protobuf's text format, without a schema.

Offsets (`at`, `end`) are in bytes. Source: protobuf, src/google/protobuf/text_format.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from triton_fleet.repository.text_format.tokens import PbtxtError, Tokens, unescape

CLOSERS = {"{": "}", "<": ">", "[": "]"}
MAX_DEPTH = 100


class Parser:
    """Reads each token once."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens, self._kinds, self._next = tokens, tokens.kinds, 0

    def message(self, closer: str = "end", depth: int = 1) -> Message:
        """The fields up to a closing token, which is read as well.

        Raises:
            PbtxtError: it is not in protobuf's text format, or nested deeper than `MAX_DEPTH`.
        """
        message = Message()
        while self._kinds[self._next] != closer:
            message.fields.append(self._field(depth))
            self._skip((",", ";"))
        self._advance()
        return message

    def _field(self, depth: int) -> ConfigField:
        token = self._expect("word", "the name of a field")
        name, at = self._tokens.text(token).decode(), self._tokens.starts[token]
        if self._kinds[self._next] == ":":
            self._advance()
        elif self._kinds[self._next] not in CLOSERS:
            raise self._error(f"`:` is missing after {name!r}")
        if self._kinds[self._next] != "[":
            return self._parse_value(name, at, depth)
        self._open(depth)
        return ConfigField(name, at, self._items(name, depth + 1))

    def _items(self, name: str, depth: int) -> Items:
        items = Items()
        goes_on = self._kinds[self._next] != "]"
        while goes_on:
            items.items.append(self._parse_value(name, self._tokens.starts[self._next], depth))
            goes_on = self._skip((",",))
            if goes_on == (self._kinds[self._next] == "]"):
                raise self._error("the items of a list are separated by single commas")
        self._advance()
        return items

    def _parse_value(self, name: str, at: int, depth: int) -> ConfigField:
        opening = self._kinds[self._next]
        if opening not in ("{", "<"):
            return ConfigField(name, at, self._scalar())
        self._open(depth)
        return ConfigField(name, at, self.message(CLOSERS[opening], depth + 1))

    def _scalar(self) -> Scalar:
        """Adjacent literals are one string."""
        tokens = []
        while self._kinds[self._next] == "string":
            tokens.append(self._advance())
        if not tokens:
            tokens.append(self._expect("word", "a value"))
            if (
                self._tokens.text(tokens[0]) == b"-"
            ):  # Triton's parser lets a sign stand apart from its number
                tokens.append(self._expect("word", "a value"))
        first, last = tokens[0], tokens[-1]
        literals = tuple([self._tokens.text(token) for token in tokens])
        return Scalar(self._tokens.starts[first], self._tokens.ends[last], literals)

    def _skip(self, separators: Sequence[str]) -> bool:
        """Whether a separator follows, which is read."""
        if self._kinds[self._next] not in separators:
            return False
        self._advance()
        return True

    def _advance(self) -> int:
        """The number of the token that was next."""
        token = self._next
        self._next += 1
        return token

    def _expect(self, kind: str, description: str) -> int:
        if self._kinds[self._next] == kind:
            return self._advance()
        token_text = self._tokens.text(self._next).decode("utf-8", "replace")
        raise self._error(f"{description} is expected, not {repr(token_text) if token_text else 'the end'}")

    def _open(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise self._error(f"it is nested deeper than {MAX_DEPTH} levels")
        self._advance()

    def _error(self, problem: str) -> PbtxtError:
        return self._tokens.error(self._next, problem)


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
    """Fields between braces, or of the whole file."""

    fields: list[ConfigField] = field(default_factory=list)


@dataclass(slots=True)
class Items:
    """A list in brackets."""

    items: list[ConfigField] = field(default_factory=list)


@dataclass(slots=True)
class ConfigField:
    """A name and its value, or one item of a list; `at` is where it begins."""

    name: str
    at: int
    value: Value


Value: TypeAlias = Scalar | Message | Items


def elements(fields: Sequence[ConfigField]) -> Iterator[ConfigField]:
    """Each occurrence of a field, in either spelling: `x: [1, 2]` and `x: 1 x: 2` are the same."""
    for item in fields:
        if isinstance(item.value, Items):
            yield from item.value.items
        else:
            yield item
