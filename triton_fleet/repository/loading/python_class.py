"""The class of a Python model, found in its code without running it."""

from __future__ import annotations

import ast

from triton_fleet.repository.python.code import syntax_tree

CLASS, COMPLETES = "TritonPythonModel", "auto_complete_config"


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
