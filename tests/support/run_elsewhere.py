"""The documented commands that the test of the documentation leaves to others: tests/docs/run_elsewhere.yaml."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import yaml

from tests.support.fleet_folder import ROOT

FILE = ROOT / "tests" / "docs" / "run_elsewhere.yaml"


@dataclass(frozen=True)
class RunElsewhere:
    """Commands by the test that runs them; those that CI runs, and those that are run by their parts."""

    by_a_test: Mapping[str, list[str]]
    by_ci: list[str]
    by_its_recipe: list[str]

    def __contains__(self, command: object) -> bool:
        return any(is_meant(item, str(command)) for item in self.commands)

    @property
    def commands(self) -> Iterator[str]:
        """All of them, as the file has them."""
        for named_line in self.by_a_test.values():
            yield from named_line
        yield from (*self.by_ci, *self.by_its_recipe)

    def of(self, test: str) -> list[str]:
        """The commands that a test is to run, by its id, with parameters or without."""
        return [*self.by_a_test.get(test, []), *self.by_a_test.get(test.partition("[")[0], [])]


@cache
def split(command: str) -> list[str]:
    return shlex.split(command)


def is_meant(name: str, command: str) -> bool:
    """Whether they are one, word by word; a word in capitals stands for any other."""
    pairs = list(zip(words := split(name), given_lines := split(command), strict=False))
    return len(words) == len(given_lines) and all(
        word == second_value or re.fullmatch("[A-Z]+", word) for word, second_value in pairs
    )


@cache
def run_elsewhere() -> RunElsewhere:
    return RunElsewhere(**yaml.safe_load(FILE.read_text()))
