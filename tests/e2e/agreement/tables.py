"""How the tables of changes become cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.support.broken_repositories import Case, Files, change_file

Change = tuple[str, str, tuple[tuple[str, str], ...], str]
"""Name, what was changed, replacements of texts in the config, and what is appended to it."""


def put(name: str, what: str, added_text: str) -> Change:
    """Something is appended to the config."""
    return name, what, (), added_text


def swap(name: str, what: str, *replacements: tuple[str, str], add: str = "") -> Change:
    """Texts of the config are replaced."""
    return name, what, replacements, add


def cases(base: Files, file: str, changes: Iterable[Change]) -> Iterator[Case]:
    """One case for each change of one config of a healthy repository."""
    for name, what, replacements, addition in changes:
        yield Case(id=name, files=change_file(base, file, *replacements, add=addition), change=what)
