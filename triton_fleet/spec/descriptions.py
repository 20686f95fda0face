"""The string below each key of a document, which pages, schemas and messages repeat as its description.

pydantic can read these itself, and does so whenever a class is made: a tenth of the start of each command.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent

from pydantic import BaseModel


@cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """The description of each field that has one, those of the classes that it extends included."""
    found = dict[str, str]()
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= _own(each)
    return found


def _own(model: type[BaseModel]) -> Mapping[str, str]:
    tree = ast.parse(dedent(inspect.getsource(model))).body[0]
    found = dict[str, str]()
    for field, text in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = inspect.cleandoc(words)
    return found
