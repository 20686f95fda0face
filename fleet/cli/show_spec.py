"""The effective spec as YAML that can be read back, with the origin of each value as a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text

from fleet.printers.places import place_in
from fleet.printers.visible import visible
from fleet.resolve.effective import EffectiveSpec, Layer, Origin
from fleet.spec.scalars import plain_value
from fleet.spec.source import KeyPath

PLAIN = re.compile(r"[A-Za-z0-9_./]([A-Za-z0-9_./:@%+=-]*[A-Za-z0-9_./@%+=-])?")
EXACT = 2**53
"""Below it a float without a fraction is the same number as an integer."""


def spec_lines(spec: EffectiveSpec, root: Path, width: int) -> Iterator[Text]:
    """The lines, dim where nobody has set the value; comments stand in one column as far as they fit.

    A line that leaves no room for its comment has it above; nothing is cut or folded.
    """
    lines = [(line, _comment(spec.origins.get(path), root)) for line, path in _block(spec.data, (), "")]
    longest = max(cell_len(comment) for _, comment in lines)
    fitting = [cell_len(line) for line, _ in lines if cell_len(line) + 2 + longest <= width]
    column = max(fitting, default=0) + 2
    for line, comment in lines:
        style = "dim" if comment.endswith(f"# {Layer.CONTRACT}") else ""
        gap = " " * max(column - cell_len(line), 2)
        if not comment:
            yield Text(line)
        elif cell_len(line + gap + comment) <= width:
            yield Text.assemble((line, style), gap, (comment, "dim"))
        else:
            indentation = " " * (len(line) - len(line.lstrip()))
            yield Text(f"{indentation}{comment}", "dim")
            yield Text(line, style)


def said_origin(origin: Origin, root: Path) -> str:
    """Such as "environments/dev.yaml:9 (overrides)", or "default"."""
    if origin.file is None:
        return str(origin.layer)
    place = visible(f"{place_in(root, origin.file)}:{origin.line}")
    return place if origin.layer is Layer.SPEC else f"{place} ({origin.layer})"


def _comment(origin: Origin | None, root: Path) -> str:
    return f"# {said_origin(origin, root)}" if origin else ""


def _block(value: object, path: KeyPath, indentation: str) -> Iterator[tuple[str, KeyPath]]:
    """Each line with the path of what stands in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here, label = (*path, key), f"{indentation}{_scalar(key)}:"
            if isinstance(inner, dict | list) and inner:
                yield label, here
                yield from _block(inner, here, f"{indentation}  ")
            else:
                yield f"{label} {_scalar(inner)}", here
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            here = (*path, index)
            if isinstance(inner, dict | list) and inner:
                (first, place), *others = _block(inner, here, f"{indentation}  ")
                yield f"{indentation}- {first.lstrip()}", place
                yield from others
            else:
                yield f"{indentation}- {_scalar(inner)}", here


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < EXACT:
            return str(int(value))
        case str():
            return value if _is_plain(value) else _quoted(value)
        case _:
            return str(value)  # a number, {} or []


def _is_plain(text: str) -> bool:
    try:
        return PLAIN.fullmatch(text) is not None and plain_value(text) == text
    except ValueError:
        return False


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(escaped)}"'
