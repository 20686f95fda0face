"""Configurations of models and repositories of names alone, as the checks of backends take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig, parsed_config
from triton_fleet.repository.contents import Contents, Entry, EntryKind


def config_of(text: str, model: str = "m") -> ParsedConfig:
    """A model's configuration in m/config.pbtxt."""
    return parsed_config(text.encode(), Path(f"{model}/config.pbtxt"), model)


def parameters_text(values: Mapping[str, str]) -> str:
    """One entry of `parameters` for each key."""
    entries = (
        f'parameters {{ key: "{key}" value {{ string_value: "{of}" }} }}' for key, of in values.items()
    )
    return "\n".join(entries)


def messages_and_hints(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Severity and code, and the message."""
    return [(f"{finding.severity} {finding.code}", finding.message) for finding in findings]


def repository_of(*paths: str) -> Contents:
    """A repository with files, or folders where a path ends with a slash, and all folders above them."""
    entries: dict[str, Entry] = {}
    for path in paths:
        parts = path.rstrip("/").split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        entries |= {folder: Entry(EntryKind.FOLDER) for folder in above}
        entries["/".join(parts)] = Entry(EntryKind.FOLDER) if path.endswith("/") else Entry(EntryKind.FILE, 1)
    return Contents(place=Path("models"), archive=False, entries=dict(sorted(entries.items())))
