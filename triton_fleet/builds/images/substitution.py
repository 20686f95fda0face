"""The values of variables in a Dockerfile: `$NAME`, `${NAME}`, `${NAME:-default}` and their kin.

Source: https://docs.docker.com/reference/dockerfile/#environment-replacement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_fleet.builds.images.instruction import Escape

MAX_VALUE_CHARACTERS = 4096
"""The most characters of a value: variables that repeat each other grow without end."""
MAX_DEPTH = 20
"""The most values in the default of a value in the default of a value..."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-]")
_MODIFIER = re.compile(r":?[-+?]")


class UnresolvedError(ValueError):
    """A value that cannot be resolved: too long, too deep, or with a modifier of newer builders."""


@dataclass(frozen=True)
class Substitution:
    """A text with the values of its variables; `unset` are those that have none and no default."""

    text: str
    unset: frozenset[str]


def substitute(text: str, values: Mapping[str, str], escape: Escape = "\\") -> Substitution:
    """Put the values into a text and remove its quotes; a variable without a value is empty.

    Raises:
        UnresolvedError: the value cannot be resolved.
    """
    reader = _Reader(text, values, escape)
    return Substitution(reader.word(), frozenset(reader.unset))


@dataclass
class _Reader:
    text: str
    values: Mapping[str, str]
    escape: str
    at: int = 0
    size: int = 0
    unset: set[str] = field(default_factory=set)

    def word(self, end: str = "", depth: int = 0) -> str:
        """The text up to an end that is not quoted, which is consumed."""
        parts, quote = list[str](), ""
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == end and not quote:
                return "".join(parts)
            if character == self.escape and quote != "'":
                parts.append(self._escape(quote))
            elif character == quote:
                quote = ""
            elif character in ("'", '"') and not quote:
                quote = character
            elif character == "$" and quote != "'":
                parts.append(self._variable(depth))
            else:
                parts.append(character)
        if end:
            raise UnresolvedError("a brace is not closed")
        return "".join(parts)

    def _escape(self, quote: str) -> str:
        next_character = self.text[self.at : self.at + 1]
        if not next_character or (quote and next_character not in ('"', "$", self.escape)):
            return self.escape
        self.at += 1
        return next_character

    def _variable(self, depth: int) -> str:
        if self.text[self.at : self.at + 1] != "{":
            return self._count(self._value(name)) if (name := self._name()) else "$"
        self.at += 1
        name = self._name()
        if not name:
            raise UnresolvedError("a variable has no name")
        if self.text[self.at : self.at + 1] == "}":
            self.at += 1
            return self._count(self._value(name))
        modifier = _MODIFIER.match(self.text, self.at)
        if modifier is None or depth == MAX_DEPTH:
            raise UnresolvedError(f"the value of {name} cannot be resolved")
        self.at = modifier.end()
        unset_before = set(self.unset)
        alternative = self.word("}", depth + 1)
        value = self.values.get(name)
        is_set = bool(value) if modifier[0].startswith(":") else value is not None
        if modifier[0].endswith("+"):
            return alternative if is_set else ""
        if is_set:
            self.unset = unset_before
            return self._count(value or "")
        if modifier[0].endswith("?"):
            raise UnresolvedError(f"{name} is not set")
        return alternative

    def _name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def _value(self, name: str) -> str:
        if name not in self.values:
            self.unset.add(name)
        return self.values.get(name, "")

    def _count(self, value: str) -> str:
        self.size += len(value)
        if self.size > MAX_VALUE_CHARACTERS:
            raise UnresolvedError(f"the value is longer than {MAX_VALUE_CHARACTERS} characters")
        return value
