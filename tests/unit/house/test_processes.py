"""Every module that starts a process is in the table of docs/security.md, with a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

PACKAGES = ("triton_fleet", "client", "emulator", "stacks", "constructs")
MODULES = {"subprocess", "multiprocessing", "pty"}
"""What starts processes."""
OURS = "start_with_guard"
"""The function of `triton_fleet.process_guard`."""
NAMES = {"ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell"}
CALLS = re.compile(r"exec[lv]\w*|fork\w*|posix_spawn\w*|spawn[lv]\w*|system|popen")
"""Of the module `os`."""
TITLE = "## What runs when a folder of others is read\n"


def section(root: Path) -> str:
    return (root / "docs/security.md").read_text().split(TITLE)[1].split("\n## ")[0]


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text())))


def starts_processes(file: Path) -> bool:
    for node in nodes(file):
        match node:
            case ast.Import() if MODULES & {name.name for name in node.names}:
                return True
            case ast.ImportFrom() if node.module in MODULES or NAMES & {name.name for name in node.names}:
                return True
            case ast.Call(func=ast.Name(id=name)) if name == OURS:
                return True
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if CALLS.fullmatch(name):
                return True
            case ast.Attribute(attr=name) if name in NAMES:
                return True
    return False


def test_each_module_that_starts_a_process_is_in_the_table(root: Path) -> None:
    files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
    starting_files = {file.relative_to(root).as_posix() for file in files if starts_processes(file)}
    matches = set(re.findall(r"`((?:triton_fleet|emulator)/[\w/]+\.py)`", section(root)))
    assert starting_files - matches == set(), (
        "add a row: what it may run of a folder, and what stops the rest"
    )
    assert matches - starting_files == set(), "it starts no process: remove its row"


def test_each_test_of_the_table_exists(root: Path) -> None:
    named_matches = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", section(root))
    assert named_matches
    assert [
        (file, name) for file, name in named_matches if f"def {name}(" not in (root / file).read_text()
    ] == []


def test_no_command_is_a_shell_text(root: Path) -> None:
    files = [file for package in PACKAGES for file in (root / package).rglob("*.py")]
    calls = (node for file in files for node in nodes(file) if isinstance(node, ast.Call))
    assert not [
        ast.unparse(call) for call in calls if any(keyword.arg == "shell" for keyword in call.keywords)
    ]
