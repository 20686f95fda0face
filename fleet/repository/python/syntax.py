"""The code of Python models, parsed and never run."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=128)
def syntax_tree(code: bytes) -> ast.Module | None:
    """The tree of a module; None if this Python cannot parse it, as the container's is another.

    Several ask for the tree of one file: it is theirs to read alone.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # what a model's author writes is not the user's worry
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
