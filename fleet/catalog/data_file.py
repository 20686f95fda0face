"""Reads the catalog's data files; each has its source and its date."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def data_file(name: str) -> dict[str, Any]:
    """The content of one of the catalog's files; not to be changed by the caller."""
    text = (files("fleet.catalog") / "data" / name).read_text(encoding="utf-8")
    content = json.loads(text) if name.endswith(".json") else yaml.load(text, Loader=LOADER)  # noqa: S506
    return dict(content)
