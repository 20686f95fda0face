"""What main and the environment before have that an environment which is promoted to does not have yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.artifacts.promote.adoption import following
from fleet.artifacts.promote.spec import expanded_for
from fleet.findings import Finding, FindingsError
from fleet.report.lock_changes import content_changes
from fleet.report.spec_changes import KeyChange, spec_changes
from fleet.spec.lock import Lock
from fleet.spec.project import Project, load_lock, open_project


@dataclass(frozen=True, kw_only=True)
class BacklogEntry:
    """One endpoint whose promotion would change something.

    Attributes:
        name: The endpoint.
        state: What a promotion is to the endpoint: `new`, `changed`, or `removed` where main has it no more.
        spec: Keys that differ from main, each with the environment's value and main's.
        content: Archives, engines and images that differ from the environment before, in words.
        problem: Why one of the files cannot be compared; "" if all can.
    """

    name: str
    state: str
    spec: tuple[KeyChange, ...] = ()
    content: tuple[str, ...] = ()
    problem: str = ""


def backlog(target: Project) -> list[BacklogEntry]:
    """The endpoints that differ, by name.

    Raises:
        FindingsError: the environment is not promoted to, or the one before it is wrong.
    """
    origin, name = target.environment.promoted_from, target.environment.environment
    if origin is None:
        message = f"{name} has no `promoted_from`: it follows the specs, and nothing waits for a promotion"
        hint = f"`fleet ls --env {name}` shows what is not deployed"
        raise FindingsError([Finding(code="FL515", message=message, hint=hint)])
    tested, main = open_project(target.root, origin), following(target)
    names = sorted({*target.endpoints, *target.unpromoted})
    found = (_entry(each, target, tested, main) for each in names)
    return [each for each in found if each is not None]


def _entry(name: str, target: Project, tested: Project, main: Project) -> BacklogEntry | None:
    if name in target.unpromoted:
        where = "is in" if tested.lock_file(name).is_file() else "has no lock in"
        there = f"it {where} {tested.environment.environment}"
        return BacklogEntry(name=name, state="new", content=(there,))
    if name not in main.spec_files:
        return BacklogEntry(name=name, state="removed")
    try:
        changes = spec_changes(target.load(name), expanded_for(main, target, name).loaded)
        ours, theirs = load_lock(target.lock_file(name)), _lock(tested.lock_file(name))
        content = tuple(content_changes(ours, theirs)) if theirs else ()
    except FindingsError as error:
        return BacklogEntry(name=name, state="changed", problem=error.findings[0].message)
    if not (changes or content):
        return None
    return BacklogEntry(name=name, state="changed", spec=tuple(changes), content=content)


def _lock(file: Path) -> Lock | None:
    return load_lock(file) if file.is_file() else None
