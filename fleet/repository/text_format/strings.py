"""Where the strings of a config.pbtxt stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.repository.text_format.nodes import Message, Scalar, elements
from fleet.repository.text_format.tree import Tree, parse


@dataclass(frozen=True)
class Text:
    """A string: the names of the fields around it, what it says, its line, and where its last literal ends.

    `end` is an offset in bytes, just before the closing quotation mark.
    """

    path: tuple[str, ...]
    value: str
    line: int
    end: int


def strings(content: bytes) -> Iterator[Text]:
    """All strings of a file, in their order.

    Raises:
        PbtxtError: it is not in protobuf's text format.
    """
    tree = parse(content)
    return _strings(tree, tree.root, ())


def _strings(tree: Tree, message: Message, path: tuple[str, ...]) -> Iterator[Text]:
    for each in elements(message.fields):
        inner, value = (*path, each.name), each.value
        if isinstance(value, Message):
            yield from _strings(tree, value, inner)
        elif isinstance(value, Scalar) and value.is_string:
            yield Text(inner, value.text, tree.line_of(value.at), value.end - 1)
