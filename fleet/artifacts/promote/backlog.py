"""What main and the environment before have that an environment which is promoted to does not have yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fleet.artifacts.progress import shown_size
from fleet.artifacts.promote.adoption import following
from fleet.artifacts.promote.spec import expanded_for
from fleet.findings import Finding, FindingsError
from fleet.report.spec_changes import KeyChange, spec_changes
from fleet.spec.lock import Lock, LockedArchive
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
        content = tuple(_content(load_lock(target.lock_file(name)), _lock(tested.lock_file(name))))
    except FindingsError as error:
        return BacklogEntry(name=name, state="changed", problem=error.findings[0].message)
    if not (changes or content):
        return None
    return BacklogEntry(name=name, state="changed", spec=tuple(changes), content=content)


def _lock(file: Path) -> Lock | None:
    return load_lock(file) if file.is_file() else None


def _content(now: Lock, tested: Lock | None) -> Iterator[str]:
    """What another lock has in place of what one has; nothing where there is no other."""
    if tested is None:
        return
    for name in {**now.archives, **tested.archives}:
        before, after = now.archives.get(name), tested.archives.get(name)
        if before is None and after is not None:
            yield f"archive {name}: new, {shown_size(after.size)}"
        elif before is not None and after is None:
            yield f"archive {name}: removed"
        elif before is not None and after is not None and before.digest != after.digest:
            yield f"archive {name}: {_changed(before, after)}"
    old, new = (lock.image.digest if lock.image else None for lock in (now, tested))
    if old != new:
        yield f"image: {_short(old)} → {_short(new)}"


def _changed(before: LockedArchive, after: LockedArchive) -> str:
    """How the content of an archive differs: its models, its engines, its size."""
    models = [f"model {each} is new" for each in after.models if each not in before.models]
    models += [f"model {each} is removed" for each in before.models if each not in after.models]
    engines = [
        f"engine of {each} is built again"
        for each, engine in after.engines.items()
        if each in before.engines and before.engines[each].key != engine.key
    ]
    size = f"{shown_size(before.size)} → {shown_size(after.size)}"
    what = "other files" if (before.repository or "") != (after.repository or "") or not engines else ""
    return ", ".join(filter(None, [what, *models, *engines, size]))


def _short(digest: str | None) -> str:
    return digest[: len("sha256:") + 12] if digest else "the release's own"
