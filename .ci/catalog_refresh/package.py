"""The packages that facts are read from, as they are installed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


class AbsentSourceError(Exception):
    """A package or file that facts are read from is absent, or has not got what is read from it."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """An installed package: its name and version, and the folder that its modules are in."""

    name: str
    version: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def read_json(self, path: str) -> dict[str, Any]:
        """One of its JSON files, packed by gzip or not.

        Raises:
            AbsentSourceError: It has no such file, or not a JSON object.
        """
        file = self.folder / path
        try:
            data = file.read_bytes() if file.exists() else gzip.decompress(Path(f"{file}.gz").read_bytes())
            content = json.loads(data)
        except (OSError, ValueError) as error:
            raise AbsentSourceError(f"{self} has no readable {path}") from error
        if not isinstance(content, dict):
            raise AbsentSourceError(f"{path} of {self} is not a JSON object")
        return content


def find_package(name: str, folders: Sequence[Path]) -> Package:
    """A package in one of the folders that packages are installed in.

    Raises:
        AbsentSourceError: None of them has it.
    """
    for distribution in distributions(name=name, path=[str(folder) for folder in folders]):
        return Package(
            name=name, version=distribution.version, folder=Path(str(distribution.locate_file("")))
        )
    raise AbsentSourceError(f"{name} is not installed")
