"""The `fleet` commands that messages in the product's code tell a user to type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from pathlib import Path

from tests.support.fleet_folder import ROOT

PACKAGES = ("triton_fleet", "constructs", "stacks", "emulator")
VALUE = "1"
"""Replaces a value that only a run knows: a name and a number."""
INSTRUCTION = r"(\b(?:[Rr]un|then|next:|it:) |)"
QUOTED_COMMAND = re.compile(INSTRUCTION + r"`(fleet(?: [^`]+)?)`")
UNQUOTED_COMMAND = re.compile(r"(\b[Rr]un |\bnext: )(fleet [^`\n;]+)")
MENTION = re.compile(r"fleet(?: [a-z-]+){1,2}")
"""A command without options names a part of the product, as in "what `fleet lock` wrote", unless one is to run it."""
MAX_ALTERNATIVES = 64
Values = Mapping[str, list[str]]


@dataclass(frozen=True)
class MessageCommand:
    """A command that a message tells a user to type, and where the message is: FILE:LINE."""

    place: str
    line: str


def message_commands(folder: Path = ROOT) -> Iterator[MessageCommand]:
    """The commands in the messages of all packages."""
    for package in PACKAGES:
        for file in sorted((folder / package).rglob("*.py")):
            yield from commands_of(file.read_text(), str(file.relative_to(folder)))


def commands_of(source: str, name: str) -> Iterator[MessageCommand]:
    """The commands in the texts of one module, each alternative of a text once; docstrings are left out."""
    yield from dict.fromkeys(
        MessageCommand(f"{name}:{number}", line)
        for number, text in _Module(ast.parse(source)).texts()
        for line in _lines(text)
    )


def _lines(text: str) -> Iterator[str]:
    for instruction, line in QUOTED_COMMAND.findall(text):
        if instruction or not MENTION.fullmatch(line):
            yield line
    for _, line in UNQUOTED_COMMAND.findall(text):
        yield line


@dataclass(frozen=True)
class _Module:
    tree: ast.Module

    @cached_property
    def constants(self) -> Values:
        return _assignments(self.tree.body, {})

    def texts(self) -> Iterator[tuple[int, str]]:
        yield from self._texts_in(self.tree, self.constants)

    def _texts_in(self, node: ast.AST, values: Values) -> Iterator[tuple[int, str]]:
        """The texts of the largest expressions, with the assignments of their functions."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            values = {**values, **_assignments(node.body, values)}
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            if isinstance(child, ast.Constant | ast.JoinedStr | ast.IfExp | ast.BinOp):
                yield from ((child.lineno, text) for text in _alternatives(child, values))
            else:
                yield from self._texts_in(child, values)


def _assignments(body: list[ast.stmt], values: Values) -> dict[str, list[str]]:
    """The texts that names are given in a function or a module."""
    result = dict[str, list[str]]()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                texts = _alternatives(node.value, {**values, **result})
                result.setdefault(node.targets[0].id, []).extend(texts)
    return result


def _alternatives(node: ast.expr, values: Values) -> list[str]:
    """All texts that an expression may give."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Name):
        return values.get(node.id, [VALUE])
    if isinstance(node, ast.NamedExpr | ast.FormattedValue):
        return _alternatives(node.value, values)
    if isinstance(node, ast.IfExp):
        return [*_alternatives(node.body, values), *_alternatives(node.orelse, values)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return join_parts([node.left, node.right], values)
    if isinstance(node, ast.JoinedStr):
        return join_parts(node.values, values)
    return [VALUE]


def join_parts(parts: list[ast.expr], values: Values) -> list[str]:
    choices = product(*(_alternatives(part, values) for part in parts))
    return ["".join(item) for item in islice(choices, MAX_ALTERNATIVES)]
