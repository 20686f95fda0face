"""Models that the code of a Python model calls by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

from fleet.repository.python.syntax import syntax_tree


def model_names_in(file: Path, models: Set[str]) -> Iterator[tuple[int, str]]:
    """Lines of a Python file whose string literals are a model's name, with that name.

    Code that this Python cannot parse, as the container's is another, is searched for quoted names.
    """
    content = file.read_bytes()
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
