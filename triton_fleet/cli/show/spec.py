"""The effective spec as valid YAML, with the origin of each value as a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from triton_fleet.cli.show.lines import Line
from triton_fleet.explain.effective_spec import EffectiveSpec, Origin
from triton_fleet.printers.file_names import place_in
from triton_fleet.printers.sanitizer import visible
from triton_fleet.project.layers import LayerKind
from triton_fleet.project.reader import plain_value
from triton_fleet.spec.source import KeyPath

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
            here, label = (*path, key), f"{indentation}{_scalar(key)}:"
            if _is_tensor(inner):
                yield f"{label} {_flow(inner)}", _first(inner, here)
            elif isinstance(inner, dict | list) and inner:
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


def _is_tensor(value: object) -> bool:
    """Whether it is a list of numbers, or of such lists; it is printed on one line."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, int | float) or _is_tensor(each) for each in value)


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
            return value if _is_plain(value) else _quote(value)
        case _:
            return str(value)  # a number, {} or []


def _is_plain(text: str) -> bool:
    try:
        return PLAIN.fullmatch(text) is not None and plain_value(text) == text
    except ValueError:
        return False


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(escaped)}"'
