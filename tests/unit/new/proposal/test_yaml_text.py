"""A proposed spec is read back as what was proposed, whatever its names look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.new.proposal.yaml_text import WIDTH, Key, render_spec
from triton_fleet.project.reader import read_source

TEXTS = [
    "25.04",
    "2026",
    "on",
    "null",
    "0x1f",
    "-a",
    "",
    "a b",
    'a "b"',
    "a: b",
    "a # b",
    "ü",
    "1x128",
    "../a/b",
]
LONG = "A sentence about something that nobody would want to read in one line. " * 4


def read(tmp_path: Path, *keys: Key) -> dict[str, object]:
    file = tmp_path / "spec.yaml"
    file.write_text(render_spec("./schema.json", ["Head."], keys, [f"- item: {LONG}"]))
    assert max(map(len, file.read_text().splitlines())) <= WIDTH
    return read_source(file).data


@pytest.mark.parametrize("value", [*TEXTS, 0, 60, 0.5, True, TEXTS, {"a": 1, "on": {"b": ["c"]}}], ids=repr)
def test_a_value_is_read_back_as_it_was(tmp_path: Path, value: object) -> None:
    assert read(tmp_path, Key(name="key", value=value, reasons=(LONG,))) == {"key": value}


def test_a_list_of_mappings_is_read_back_with_comments_between(tmp_path: Path) -> None:
    engine = {"model": "m", "shapes": {"x": ["1x2", "4x2", "8x2"]}}
    items: list[dict[str, object]] = [
        {"archive": "a", "repository": "../a"},
        {"archive": "b", "repository": "../b", "engines": [engine, engine]},
        {"archive": "c", "repository": "../c/" + "deeper/" * 12},
    ]
    key = Key(name="models", value=items, why_items={1: (LONG,)})
    assert read(tmp_path, key) == {"models": items}
