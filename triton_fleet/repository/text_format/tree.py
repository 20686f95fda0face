"""A text in protobuf's text format as a tree that knows where each field stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from triton_fleet.repository.text_format.parser import ConfigField, Message, Parser, Scalar, elements
from triton_fleet.repository.text_format.tokens import Tokens


def parse(content: bytes) -> Tree:
    """Read a text, in time and memory that grow with its length.

    Whatever protobuf accepts is read; of what it refuses (it knows the schema) much is read as well.

    Raises:
        PbtxtError: it is not in protobuf's text format, or nested deeper than 100 levels.
    """
    return Tree(Tokens(content))


class Tree:
    """A text that was read; `root` is the message that it is.

    A path is the names of fields from the outermost to the innermost. After a name may come which of its
    occurrences is meant, else it is the first: a number from 0, over both spellings of repeated fields
    (`x: [1, 2]` and `x: 1 x: 2`), or the key of a map's entry as text, after which the fields of the entry's
    value follow at once:

        tree.line("input", 0, "dims")
        tree.line("parameters", "EXECUTION_ENV_PATH", "string_value")
        tree.line("ensemble_scheduling", "step", 2, "input_map", "INPUT0")

    Where the text lacks what the path leads to, the place is that of the nearest field around it, or the
    start of the text.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self.root = Parser(tokens).message()
        self._occurrences: dict[int, dict[str, Occurrences]] = {}

    def line(self, *path: str | int) -> int:
        """The line of what the path leads to, from 1."""
        return self.line_of(self._at(*path))

    def column(self, *path: str | int) -> int:
        """The column of what the path leads to, from 1, in characters."""
        return self.column_of(self._at(*path))

    def line_of(self, at: int) -> int:
        """The line of an offset in bytes."""
        return self._tokens.line(at)

    def column_of(self, at: int) -> int:
        """Its column."""
        return self._tokens.column(at)

    def _at(self, *path: str | int) -> int:
        at, message, steps = 0, self.root, deque(path)
        while steps:
            occurrences = self._fields(message).get(str(steps.popleft()))
            if occurrences is None:
                break
            at, element, entry = occurrences.at, occurrences.first, None
            if steps and isinstance(steps[0], int):
                element = occurrences.choose(steps.popleft())
                at = element.at if element else at
            elif steps and (entry := occurrences.choose(steps[0])):
                steps.popleft()
                at, element = entry.at, entry
            if element is None or not isinstance(element.value, Message):
                break
            message = element.value
            if entry and steps and str(steps[0]) not in self._fields(message):
                message = self._value(message)
        return at

    def _value(self, entry: Message) -> Message:
        value = self._fields(entry).get("value")
        inner = value.first if value else None
        return inner.value if inner and isinstance(inner.value, Message) else entry

    def _fields(self, message: Message) -> dict[str, Occurrences]:
        if id(message) not in self._occurrences:
            self._occurrences[id(message)] = by_name(message)
        return self._occurrences[id(message)]


class Occurrences:
    """All fields of one name in one message, at least one; `at` is where the first stands."""

    def __init__(self, fields: Sequence[ConfigField]) -> None:
        self.at = fields[0].at
        self._elements = list(elements(fields))

    def choose(self, step: int | str) -> ConfigField | None:
        """The one of this number or key; None if there is none."""
        if isinstance(step, str):
            return self._entries.get(step)
        return self._elements[step] if 0 <= step < len(self._elements) else None

    @property
    def first(self) -> ConfigField | None:
        """None if all that stands there is an empty list."""
        return self.choose(0)

    @cached_property
    def _entries(self) -> dict[str, ConfigField]:
        """By key; what protobuf takes of several with one key is the last."""
        return {key: element for element in self._elements if (key := _key(element)) is not None}


def by_name(message: Message) -> dict[str, Occurrences]:
    """The fields of a message."""
    fields: dict[str, list[ConfigField]] = {}
    for field in message.fields:
        fields.setdefault(field.name, []).append(field)
    return {name: Occurrences(of_name) for name, of_name in fields.items()}


def _key(entry: ConfigField) -> str | None:
    fields = entry.value.fields if isinstance(entry.value, Message) else ()
    for field in fields:
        if field.name == "key" and isinstance(field.value, Scalar):
            return field.value.text if field.value.is_string else _number(field.value.text)
    return None


def _number(word: str) -> str:
    try:
        return str(int(word, 0))
    except ValueError:
        return word


@dataclass(frozen=True)
class Text:
    """A string: the names of the fields around it, its value, its line, and where its last literal ends.

    `end` is an offset in bytes, just before the closing quotation mark.
    """

    path: tuple[str, ...]
    value: str
    line: int
    end: int


@lru_cache(maxsize=16)
def strings(content: bytes) -> tuple[Text, ...]:
    """All strings of a file, in their order; the last files are cached, as each of a model's copies asks.

    Raises:
        PbtxtError: it is not in protobuf's text format.
    """
    tree = parse(content)
    return tuple(_strings(tree, tree.root, ()))


def _strings(tree: Tree, message: Message, path: tuple[str, ...]) -> Iterator[Text]:
    for element in elements(message.fields):
        inner, value = (*path, element.name), element.value
        if isinstance(value, Message):
            yield from _strings(tree, value, inner)
        elif isinstance(value, Scalar) and value.is_string:
            yield Text(inner, value.text, tree.line_of(value.at), value.end - 1)
