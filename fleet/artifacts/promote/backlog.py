"""What main and the environment before have that an environment which is promoted to does not have yet."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.artifacts.promote.spec import expanded_for
from fleet.findings import Finding, FindingsError
from fleet.report.lock_changes import content_changes
from fleet.report.spec_changes import KeyChange, spec_changes
from fleet.spec.lock import Lock
from fleet.spec.project import Project


@dataclass(frozen=True, kw_only=True)
class BacklogEntry:
    """One endpoint whose promotion would change something.

    Attributes:
        name: The endpoint.
        state: What a promotion is to the endpoint: `new`, `changed`, or `removed` if main no longer has it.
        spec: Keys that differ from main, each with the environment's value and main's.
        tested: Keys that differ from the environment before, where that does not follow main itself.
        content: Archives, engines and images that differ from the environment before, in words.
        promotable: Whether a promotion now would change something.
        problem: Why one of the files cannot be compared; "" if all can.
    """

    name: str
    state: str
    spec: tuple[KeyChange, ...] = ()
    tested: tuple[KeyChange, ...] = ()
    content: tuple[str, ...] = ()
    promotable: bool = False
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
    tested, main = target.fleet.open(origin), target.following_main()
    names = sorted({*target.endpoints, *target.unpromoted})
    found = (_entry(each, target, tested, main) for each in names)
    return [each for each in found if each is not None]


def _entry(name: str, target: Project, tested: Project, main: Project) -> BacklogEntry | None:
    if name in target.unpromoted:
        is_there = name in tested.spec_files and tested.lock_file(name).is_file()
        there = f"it {'is in' if is_there else 'has no lock in'} {tested.environment.environment}"
        return BacklogEntry(name=name, state="new", content=(there,), promotable=is_there)
    try:
        ours, theirs = target.lock(name), _lock(tested, name)
        content = tuple(content_changes(ours, theirs)) if theirs else ()
        of_tested, of_main = (_changes(name, target, each) for each in (tested, main))
    except FindingsError as error:
        return BacklogEntry(name=name, state="changed", problem=error.findings[0].message)
    promotable = theirs is not None and bool(of_tested or content)
    if name not in main.spec_files:
        return BacklogEntry(name=name, state="removed")
    if not tested.is_promoted:  # it follows main
        of_tested = ()
    of_main = tuple(each for each in of_main if each not in of_tested)
    if not (of_main or of_tested or content):
        return None
    return BacklogEntry(
        name=name, state="changed", spec=of_main, tested=of_tested, content=content, promotable=promotable
    )


def _changes(name: str, target: Project, other: Project) -> tuple[KeyChange, ...]:
    """The keys that another project's spec would change; none without one."""
    if name not in other.spec_files:
        return ()
    return tuple(spec_changes(target.load(name), expanded_for(other, target, name).loaded))


def _lock(project: Project, name: str) -> Lock | None:
    return project.lock(name) if project.lock_file(name).is_file() else None
