"""The code of Python models, parsed and never run: which models it calls."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path

CODE = "model.py"


def model_names_in(file: Path, models: Set[str], content: bytes | None = None) -> Iterator[tuple[int, str]]:
    """Lines of a Python file whose string literals are a model's name, with that name.

    Code that this Python cannot parse, as the container's is another, is searched for quoted names. `content`
    is the file's, where it was read before.
    """
    content = file.read_bytes() if content is None else content
    tree = syntax_tree(content)
    if tree is None:
        quoted = re.compile("|".join(rf"([\"']){re.escape(model)}\1" for model in sorted(models)) or r"(?!)")
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            yield from ((number, match[0][1:-1]) for match in quoted.finditer(line))
        return
    found = {
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in models
    }
    yield from sorted(found)


@lru_cache(maxsize=128)
def syntax_tree(code: bytes) -> ast.Module | None:
    """The tree of a module; None if this Python cannot parse it, as the container's is another.

    Several callers get the tree of one file: they must not change it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # what a model's author writes is not the user's worry
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
