"""Proposals of a source for a file of the catalog, and their news."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Facts: TypeAlias = Mapping[str, Mapping[str, str]]
"""The value of each fact by its name and by the place where it is true, such as a region; "": everywhere."""
HEAD = re.compile(r"\A(?:#.*\n)*")
VERSION = re.compile(r"([a-z-]+) (\d+(?:\.\d+)*)")
MAX_DEPTH = 5
"""Below which JSON is written on one line."""
WIDTH = 120
"""At which lists break, in columns; PyYAML counts neither bracket nor comma."""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A decision for people, with the file that it is about."""

    file: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The content of one file, but for its source and date.

    Attributes:
        origin: The source with its version, such as `botocore 1.44.5`.
        scope: What of it was read.
        day: Up to which the source has news; None where it does not state one.
        facts: What makes single facts of a content, for the difference.
    """

    file: str
    origin: str
    scope: str
    day: date | None
    content: Mapping[str, Any]
    facts: Callable[[Mapping[str, Any]], Facts]
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refresh:
    """The text of a file after a proposal, None where nothing changes, and the difference by fact."""

    file: str
    text: str | None = None
    lines: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


def refresh(proposal: Proposal, folder: Path, today: date) -> Refresh:
    """Apply a proposal to a file's present text.

    A source that is older than the file's is not read. The day is the source's own; where it states none, the
    day on which this version was first read.
    """
    present = (folder / proposal.file).read_text(encoding="utf-8")
    facts = _parse(present)
    before, origin = date.fromisoformat(str(facts["date"])), str(facts["source"])
    source = f"{proposal.origin}, {proposal.scope}"
    if (proposal.day and proposal.day < before) or _is_newer(origin, proposal.origin):
        older_source = _source_words(proposal.origin, proposal.day)
        text = f"it is of {origin}, {before}; {older_source} is older and was not read"
        return Refresh(file=proposal.file, remarks=(Remark(file=proposal.file, text=text),))
    same = {key: value for key, value in facts.items() if key not in ("source", "date")} == proposal.content
    if same and origin == source and before == (proposal.day or before):
        return Refresh(file=proposal.file, remarks=proposal.remarks)
    day = proposal.day or today
    new = _source_words(proposal.origin, day)
    lines = [
        f"{change} ({new})" for change in difference(proposal.facts(facts), proposal.facts(proposal.content))
    ]
    lines = lines or [f"the same facts in {new}; before: {origin}, {before}"]
    content = {"source": source, "date": day, **proposal.content}
    text = _as_json(content) if proposal.file.endswith(".json") else _as_yaml(content, present)
    return Refresh(file=proposal.file, text=text, lines=tuple(lines), remarks=proposal.remarks)


def difference(before: Facts, after: Facts) -> Iterator[str]:
    """A line for each fact that changed, with all the places in which it changed alike."""
    for name in sorted({*before, *after}):
        changes = defaultdict[str, list[str]](list)
        old, new = before.get(name, {}), after.get(name, {})
        for place in sorted({*old, *new}):
            if old.get(place) != new.get(place):
                changes[_change(old.get(place), new.get(place))].append(place)
        for change, places in changes.items():
            scope = f" in {', '.join(places)}" if any(places) else ""
            yield f"{name}: {change}{scope}"


def is_older(origin: str, folder: Path, file: str) -> bool:
    """Whether a source, such as `botocore 1.44.5`, is older than the one that a file was read from."""
    return _is_newer(str(read_facts(folder, file)["source"]), origin)


def read_facts(folder: Path, file: str) -> dict[str, Any]:
    """The present content of a file of the catalog."""
    return _parse((folder / file).read_text(encoding="utf-8"))


def _parse(text: str) -> dict[str, Any]:
    return dict(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506


def _change(old: str | None, new: str | None) -> str:
    if old is None:
        return f"new, {new}" if new else "new"
    return "no longer" if new is None else f"{old} is now {new}"


def _source_words(origin: str, day: date | None) -> str:
    return f"{origin}, {day}" if day else origin


def _is_newer(file_source: str, read: str) -> bool:
    """Whether the source that a file was read from has a newer version than the same one now has."""
    ours, theirs = VERSION.match(file_source), VERSION.match(read)
    return bool(ours and theirs and ours[1] == theirs[1] and _parts(ours[2]) > _parts(theirs[2]))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _as_yaml(content: Mapping[str, Any], present: str) -> str:
    """With the comments that the file begins with; a section of plain values has a line for each."""
    head = HEAD.match(present)
    return (head[0] if head else "") + "".join(_section(key, value) for key, value in content.items())


def _section(key: str, value: object) -> str:
    inner = value.values() if isinstance(value, Mapping) else [value]
    style = None if any(isinstance(entry, Mapping | list) for entry in inner) else False
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": WIDTH}
    return str(yaml.safe_dump({key: value}, default_flow_style=style, **options))


def _as_json(content: Mapping[str, Any]) -> str:
    return f"{_lines(content, 0)}\n"


def _lines(value: object, depth: int) -> str:
    """Objects with a line for each key, down to the depth of the catalog's single facts."""
    if not isinstance(value, Mapping) or depth == MAX_DEPTH or not value:
        return json.dumps(value, ensure_ascii=False, default=str)
    inner = (
        f"{'  ' * (depth + 1)}{json.dumps(key)}: {_lines(entry, depth + 1)}" for key, entry in value.items()
    )
    return "{\n" + ",\n".join(inner) + f"\n{'  ' * depth}}}"
