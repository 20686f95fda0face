"""The public API speaks of public types: Python's own, the CDK's, and what the package exports."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import typing
from collections.abc import Iterator
from typing import Any

import triton_endpoints
from tests.support.constructs_page import public_members

PUBLIC_MODULES = ("aws_cdk", "builtins", "collections", "constructs", "pathlib", "types", "typing")
PUBLIC_OBJECTS = {
    getattr(triton_endpoints, name) for name in triton_endpoints.__all__ if name != "__version__"
}


def types_in(annotation: object) -> Iterator[type]:
    """The classes that an annotation is made of."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return
    for argument in arguments:
        yield from types_in(argument)
    if isinstance(annotation, list):
        for item in annotation:
            yield from types_in(item)
    if inspect.isclass(annotation) and not arguments:
        yield annotation


def annotations_of(member: object) -> dict[str, object]:
    """The annotations of a class, a function, a property or an alias, by what they are of."""
    if isinstance(member, property):
        return dict(typing.get_type_hints(member.fget))
    if inspect.isclass(member):
        own = {name: hint for name, hint in typing.get_type_hints(member).items() if name[0] != "_"}
        initialiser = typing.get_type_hints(member.__init__) if "__init__" in vars(member) else {}
        return {**own, **initialiser, **attributes_of(member)}
    return dict(typing.get_type_hints(member)) if inspect.isroutine(member) else {"": member}


def attributes_of(owner: type) -> dict[str, object]:
    """The public attributes that a class gives itself, by their annotations; one without any is a text."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    hints = dict.fromkeys(filter(None, map(_own_attribute, ast.walk(tree))), "'no annotation'")
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and (name := _own_attribute(node.target)):
            hints[name] = ast.unparse(node.annotation)
    annotated_names = typing.get_type_hints(owner)
    namespace = vars(sys.modules[owner.__module__])
    return {name: eval(hint, namespace) for name, hint in hints.items() if name not in annotated_names}


def _own_attribute(node: ast.AST) -> str:
    """The public attribute of `self` that an expression stores; an empty text for any other."""
    is_own = (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
        and not node.attr.startswith("_")
    )
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""


def leaks(members: Iterator[tuple[str, Any]]) -> list[str]:
    """Places of types that their users could not name."""
    return [
        f"{name}({place}): {getattr(part, '__module__', '')}.{getattr(part, '__qualname__', part)}"
        for name, member in members
        for place, annotation in annotations_of(member).items()
        for part in ([annotation] if isinstance(annotation, str) and place else types_in(annotation))
        if part not in PUBLIC_OBJECTS and getattr(part, "__module__", "").split(".")[0] not in PUBLIC_MODULES
    ]


def test_every_type_of_the_api_is_one_that_its_users_can_name() -> None:
    assert leaks(public_members()) == []
