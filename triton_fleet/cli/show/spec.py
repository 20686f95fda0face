"""Lines with comments: beside them in a column if there is room, else below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from triton_fleet.explain.effective_spec import EffectiveSpec, Origin
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.excerpt import place_in
from triton_fleet.printers.sanitizer import visible
from triton_fleet.project.layers import LayerKind
from triton_fleet.project.reader import is_text
from triton_fleet.spec.source import KeyPath

WIDEST = 60
"""The column of comments begins at most here, also on a wider terminal."""


@dataclass(frozen=True)
class Line:
    """A line, which is never folded, and its comment."""

    text: Text
    comment: str = ""


def print_lines(console: OutputConsole, lines: Sequence[Line]) -> None:
    """Print each line with its comment, which begins with `#` and is folded between words."""
    for text in _laid_out(console, lines):
        console.print(text, soft_wrap=True)


def _laid_out(console: OutputConsole, lines: Sequence[Line]) -> Iterator[Text]:
    limit = min(console.width // 2, WIDEST)
    column = 2 + max((line.text.cell_len for line in lines if line.text.cell_len <= limit), default=0)
    for line in lines:
        comment, length = Text(f"# {visible(line.comment)}", "dim"), line.text.cell_len
        room = console.width - length - comment.cell_len
        if not line.comment:
            yield line.text
        elif room >= 2:
            yield Text.assemble(line.text, " " * max(min(column - length, room), 2), comment)
        else:
            yield line.text
            yield from _below(console, line)


def _below(console: OutputConsole, line: Line) -> Iterator[Text]:
    """The comment, indented further than its line; YAML readers still see a comment."""
    plain = line.text.plain
    lead = f"{' ' * (len(plain) - len(plain.lstrip()) + 2)}# "
    for part in Text(visible(line.comment)).wrap(console, max(console.width - len(lead), 1)):
        yield Text(f"{lead}{part.plain.rstrip()}", "dim")


PLAIN = re.compile(r"[A-Za-z0-9_./]([A-Za-z0-9_./:@%+=-]*[A-Za-z0-9_./@%+=-])?")
EXACT = 2**53
"""Below it every whole number has an exact float."""


def spec_lines(spec: EffectiveSpec, root: Path) -> Iterator[Line]:
    """The lines; default values are dim."""
    for line, path in _block(spec.data, (), ""):
        origin = spec.origins.get(path)
        unset = origin is not None and origin.file is None
        yield Line(Text(line, "dim" if unset else ""), _origin_text(origin, root) if origin else "")


def _origin_text(origin: Origin, root: Path) -> str:
    """Such as "environments/dev.yaml:9 (overrides)", or "default"."""
    if origin.file is None:
        return str(origin.layer)
    place = f"{place_in(root, origin.file)}:{origin.line}"
    return place if origin.layer is LayerKind.SPEC else f"{place} ({origin.layer})"


def _block(value: object, path: KeyPath, indentation: str) -> Iterator[tuple[str, KeyPath]]:
    """Each line with the path of its value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            location, label = (*path, key), f"{indentation}{_scalar(key)}:"
            if _is_tensor(inner):
                yield f"{label} {_flow(inner)}", _first(inner, location)
            elif isinstance(inner, dict | list) and inner:
                yield label, location
                yield from _block(inner, location, f"{indentation}  ")
            else:
                yield f"{label} {_scalar(inner)}", location
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            location = (*path, index)
            if isinstance(inner, dict | list) and inner:
                (first, place), *rest = _block(inner, location, f"{indentation}  ")
                yield f"{indentation}- {first.lstrip()}", place
                yield from rest
            else:
                yield f"{indentation}- {_scalar(inner)}", location


def _is_tensor(value: object) -> bool:
    """Whether it is a list of numbers, or of such lists; it is printed on one line."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(element, int | float) or _is_tensor(element) for element in value)


def _flow(value: object) -> str:
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, list) else _scalar(value)


def _first(value: object, path: KeyPath) -> KeyPath:
    return _first(value[0], (*path, 0)) if isinstance(value, list) else path


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < EXACT:
            return str(int(value))
        case str():
            return value if PLAIN.fullmatch(value) and is_text(value) else _quote(value)
        case _:
            return str(value)  # a number, {} or []


def _quote(text: str) -> str:
    content = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(content)}"'
