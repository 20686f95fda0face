"""Which options a trtexec has."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from fleet.catalog.data_file import LOADER
from fleet.catalog.versions import numbers


def options(version: str) -> frozenset[str]:
    """Those of the trtexec of a TensorRT, `10.9.0.34`."""
    known: set[str] = set()
    for since, change in _versions().items():
        if numbers(since) <= numbers(version):
            known |= set(change.get("new", "").split())
            known -= set(change.get("gone", "").split())
    return frozenset(known)


@cache
def _versions() -> dict[str, Any]:
    text = (files("fleet.local.engines") / "trtexec_options.yaml").read_text(encoding="utf-8")
    versions: dict[str, Any] = yaml.load(text, Loader=LOADER)["versions"]  # noqa: S506
    return versions
