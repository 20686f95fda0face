"""No code prints past the one place that makes text powerless."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support.fleet_folder import ROOT

PROGRAMS = (
    "emulator/fleet_emulator/function_output.py",
    "emulator/fleet_emulator/stand_ins/docker/",
    "emulator/fleet_emulator/stand_ins/engines/",
    "triton_fleet/local/triton/namespace.py",
)
"""What stands in for a program, starts one, or keeps a deployed function's own output, prints as that does."""
THE_PLACE = (
    "triton_fleet/printers/lines.py",
    "triton_fleet/printers/console.py",
    "triton_fleet/printers/formats.py",
)
CONFIRMS = ("triton_fleet/cli/output.py",)


def strays(file: Path) -> list[str]:
    result = []
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Call(func=ast.Name(id="print" | "Console" | "input")):
                result.append(f"{file}:{node.lineno}")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="typer" | "click"), attr=name)) if name in (
                *("echo", "secho", "confirm", "prompt"),
            ):
                result.append(f"{file}:{node.lineno}")
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" | "__stdout__"):
                result.append(f"{file}:{node.lineno}")
            case ast.ImportFrom(module="rich.console" | "rich") if "Console" in {n.name for n in node.names}:
                result.append(f"{file}:{node.lineno}")
    return result


def test_nothing_prints_past_the_one_place() -> None:
    files = {
        path.relative_to(ROOT).as_posix(): path
        for name in ("triton_fleet", "emulator")
        for path in (ROOT / name).rglob("*.py")
    }
    allowed_programs = (*PROGRAMS, *THE_PLACE, *CONFIRMS)
    printing_files = [
        stray
        for name, path in files.items()
        if not name.startswith(allowed_programs)
        for stray in strays(path)
    ]
    assert printing_files == []
    assert all(strays(files[name]) for name in THE_PLACE)
