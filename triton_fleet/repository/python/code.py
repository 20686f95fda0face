"""The code of Python models, parsed and never run: its class, and the models that it calls."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path

CLASS, COMPLETES = "TritonPythonModel", "auto_complete_config"


CODE = "model.py"


def model_names_in(file: Path, models: Set[str], content: bytes | None = None) -> Iterator[tuple[int, str]]:
    """Lines of a Python file whose string literals are a model's name, with that name.

    Code that this Python cannot parse, as the container's is another, is searched for quoted names. `content`
    is the file's, where it was read before.
    """
    content = file.read_bytes() if content is None else content
    tree = syntax_tree(content)
    if tree is None:
        pattern = re.compile("|".join(rf"([\"']){re.escape(model)}\1" for model in sorted(models)) or r"(?!)")
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            yield from ((number, match[0][1:-1]) for match in pattern.finditer(line))
        return
    literals = {
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in models
    }
    yield from sorted(literals)


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


def completes_itself(code: bytes) -> bool | None:
    """Whether the class completes the configuration; None where it may, as it comes from somewhere else."""
    tree = syntax_tree(code)
    if tree is None or any(_brings_more(node) for node in ast.walk(tree)):
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == CLASS]
    if len(classes) != 1 or classes[0].bases or classes[0].keywords or classes[0].decorator_list:
        return None
    return any(_is_named(node, COMPLETES) for node in classes[0].body)


def _brings_more(node: ast.AST) -> bool:
    """Whether a name may come from elsewhere: by a star, or by being set."""
    if isinstance(node, ast.ImportFrom):
        return any(name.name == "*" for name in node.names)
    return isinstance(node, ast.Name) and node.id in ("setattr", "exec", "globals", "vars")


def _is_named(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def lacks_class(code: bytes) -> bool:
    """Whether the module surely has no class of the name that the backend asks for."""
    tree = syntax_tree(code)
    return tree is not None and not any(_brings_more(node) or _binds(node) for node in ast.walk(tree))


def _binds(node: ast.AST) -> bool:
    match node:
        case ast.ClassDef(name=name):
            return name == CLASS
        case ast.alias(name=name, asname=asname):
            return CLASS in (name, asname)
        case ast.Name(id=name, ctx=ast.Store()):
            return name == CLASS
    return False
