"""The text of a Python file: its comments, docstrings and other strings, without the code in them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache

_CODE = re.compile(r"`[^`\n]+`|\{[^{}\n]*\}")


@cache
def texts(source: str) -> tuple[tuple[int, str], ...]:
    """Each text with the line of its beginning; comments of adjoining lines, and strings that Python joins, are one.

    Values of f-strings are `{}`, as is inline code.
    """
    return tuple((line, _CODE.sub("{}", text)) for line, text in (*_comments(source), *_strings(source)))


def _comments(source: str) -> Iterator[tuple[int, str]]:
    result: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("#")
        if result and line > result[-1][0] + result[-1][1].count("\n") + 1:
            yield result.pop()
        result = [(result[0][0], f"{result[0][1]}\n{text}")] if result else [(line, text)]
    yield from result


def _strings(source: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in nodes for part in node.values}
    for text in nodes:
        pieces = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in text.values)
        yield text.lineno, "".join(pieces)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value
