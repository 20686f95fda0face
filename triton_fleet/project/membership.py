"""Which endpoints an environment has: those that it follows, or those that were promoted to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layering, merged_source
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import (
    FOLDER,
    LOCK_END,
    LOCKS,
    PROFILES,
    SPEC_END,
    SPECS,
    KeyPath,
    Source,
    finding_at,
)

ABSENT, WITHOUT_SPEC = "FL511", "FL841"
KEY = "environments"


@dataclass(frozen=True, kw_only=True)
class Members:
    """The endpoints with a spec, and why the environment does not have some of them.

    Attributes:
        files: The specs of the endpoints that the environment has: in model_specs/, or beside its locks where
            it is promoted to.
        absent: The reason for each endpoint with a spec that the environment does not have.
        unpromoted_names: Those of them that `fleet promote` may bring.
        absent_in_main: The reason for each endpoint that was promoted to the environment, and that main's
            `environments` leaves out by now.
        findings: What is wrong with how the environment has its endpoints.
    """

    files: Mapping[str, Path]
    absent: Mapping[str, Finding]
    unpromoted_names: tuple[str, ...]
    absent_in_main: Mapping[str, Finding]
    findings: tuple[Finding, ...]


def members_of(fleet: FleetFiles, settings: Environment, source: Source) -> Members:
    """The endpoints that an environment has.

    A spec that cannot be read counts as one of them: whoever loads it reports its mistakes.
    """
    root, specs, name = fleet.root, fleet.specs, settings.environment
    elsewhere = {} if name == LOCAL else dict(_elsewhere(fleet, name, source.file))
    promoted_names = locked_endpoints(root, name, SPEC_END) if settings.promoted_from is not None else []
    names = sorted({*specs.by_endpoint, *promoted_names})
    exclusions = dict(_exclusions(settings, source, names))
    unknown = tuple(_unknown_names(settings, source, names))
    if settings.promoted_from is None:
        absent = {**elsewhere, **exclusions}
        files = {endpoint: file for endpoint, file in specs.by_endpoint.items() if endpoint not in absent}
        return Members(files=files, absent=absent, unpromoted_names=(), absent_in_main={}, findings=unknown)
    files = {
        endpoint: promoted_spec(root, name, endpoint)
        for endpoint in promoted_names
        if endpoint not in exclusions
    }
    absent = {
        endpoint: finding for endpoint, finding in elsewhere.items() if endpoint not in files
    } | exclusions
    unpromoted_names = tuple(
        endpoint for endpoint in specs.by_endpoint if endpoint not in files and endpoint not in absent
    )
    findings = (
        *unknown,
        *_wrong_origin(fleet, settings, source),
        *_live_profiles(source),
        *_locks_without_specs(root, name, {*promoted_names, *absent}),
    )
    absent |= {endpoint: _promotion_finding(settings, source, endpoint) for endpoint in unpromoted_names}
    return Members(
        files=files,
        absent=absent,
        unpromoted_names=unpromoted_names,
        absent_in_main={endpoint: finding for endpoint, finding in elsewhere.items() if endpoint in files},
        findings=findings,
    )


def promoted_spec(root: Path, environment: str, endpoint: str) -> Path:
    """The spec of an endpoint in an environment that is promoted to, whether or not it exists."""
    return root / LOCKS / environment / f"{endpoint}{SPEC_END}"


def locked_endpoints(root: Path, environment: str, end: str = LOCK_END) -> list[str]:
    """The endpoints that have a lock in an environment, sorted; or another file beside it."""
    return sorted(file.name.removesuffix(end) for file in (root / LOCKS / environment).glob(f"*{end}"))


def lock_files(root: Path, environment: str, endpoint: str) -> list[Path]:
    """The lock of an endpoint in an environment and the spec beside it, those that exist."""
    folder = root / LOCKS / environment
    files = [folder / f"{endpoint}{end}" for end in (LOCK_END, SPEC_END)]
    return [file for file in files if file.is_file()]


def _promotion_finding(settings: Environment, source: Source, endpoint: str) -> Finding:
    name = settings.environment
    hint = f"run {settings.lock_command(endpoint)}"
    message = f"{endpoint!r} was not promoted to {name} yet"
    return finding_at(source.mark(("promoted_from",)), ABSENT, message, hint)


def _locks_without_specs(root: Path, environment: str, names: Collection[str]) -> Iterator[Finding]:
    for endpoint in locked_endpoints(root, environment):
        if endpoint not in names:
            spec = f"{endpoint}{SPEC_END}"
            message = f"{environment} has `promoted_from`, and this lock has no spec beside it: {spec}"
            hint = f"run `fleet promote --to {environment} --adopt`, which writes what {environment} has now"
            file = root / LOCKS / environment / f"{endpoint}{LOCK_END}"
            yield Finding(code=WITHOUT_SPEC, message=message, hint=hint, file=file, line=1)


def _wrong_origin(fleet: FleetFiles, settings: Environment, source: Source) -> Iterator[Finding]:
    """An environment is promoted from one that exists, and in the end from one that follows main."""
    mark, chain = source.mark(("promoted_from",)), [settings.environment]
    names = fleet.environments
    origin: object = settings.promoted_from
    while isinstance(origin, str):
        if origin == LOCAL or origin not in names:
            message = (
                f"nothing is promoted from {LOCAL!r}, which is this machine"
                if origin == LOCAL
                else f"there is no environment {origin!r}"
            )
            choices = [name for name in names if name not in (LOCAL, *chain)]
            yield finding_at(mark, "FL515", message, did_you_mean(origin, choices, whole_list=True))
            return
        if origin in chain:
            circle = " → ".join((*chain, origin))
            message = f"no environment would follow the specs: {circle}"
            yield finding_at(mark, "FL515", message, "remove one `promoted_from`")
            return
        chain.append(origin)
        source_of_origin = fleet.source.readable(fleet.environment_file(origin))
        origin = source_of_origin.data.get("promoted_from") if source_of_origin else None


def _live_profiles(source: Source) -> Iterator[Finding]:
    """Profiles of an environment that is promoted to: a change to one would reach it without a promotion."""
    overrides = source.data.get("overrides")
    sections: list[KeyPath] = [("defaults",)]
    sections += (
        ("overrides", str(override)) for override in (overrides if isinstance(overrides, dict) else {})
    )
    data: Any = source.data
    for section in sections:
        for path in source.marks:
            if path[: len(section)] == section and path[-1] == "profile" and reduce(getitem, path, data):
                message = "a change to this profile would reach the environment without a promotion"
                hint = "write its keys here, or name it in the spec: `overrides: {ENV: {profile: …}}`"
                yield finding_at(source.mark(path), "FL512", message, hint)


def _exclusions(settings: Environment, source: Source, names: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """The endpoints that the environment's own `endpoints` leaves out."""
    if settings.endpoints is None:
        return
    mark, name = source.mark(("endpoints",)), settings.environment
    for endpoint in names:
        if not any(fnmatchcase(endpoint, pattern) for pattern in settings.endpoints):
            message = f"{endpoint!r} is not in {name}: its `endpoints` do not include it"
            yield endpoint, finding_at(mark, ABSENT, message, "add it there, or name another environment")


def _unknown_names(settings: Environment, source: Source, names: Sequence[str]) -> Iterator[Finding]:
    for index, pattern in enumerate(settings.endpoints or ()):
        if not any(fnmatchcase(name, pattern) for name in names):
            mark, hint = source.mark(("endpoints", index)), did_you_mean(pattern, names)
            yield finding_at(mark, "FL120", f"no endpoint is named {pattern!r}", hint)


def _elsewhere(fleet: FleetFiles, environment: str, origin: Path) -> Iterator[tuple[str, Finding]]:
    """The endpoints whose `environments` leaves this one out; specs are parsed only where one may."""
    layering = Layering(fleet, Source(origin, {"environment": environment}), fleet.environments)
    partials = [*(fleet.root / PROFILES).glob("*.yaml"), *(fleet.root / SPECS).rglob(FOLDER)]
    somewhere = any(map(_may_have_key, partials))
    for name, file in fleet.specs.by_endpoint.items():
        if not (somewhere or _may_have_key(file)):
            continue
        try:
            spec = fleet.source(file)
            whole = merged_source(spec, layering.layers(spec))
        except FindingsError:
            continue
        overrides = whole.data.get(KEY)
        if isinstance(overrides, list) and environment not in overrides:
            path: KeyPath = (KEY,)
            among = f"has {', '.join(map(str, overrides))}" if overrides else "is empty"
            message = f"{name!r} is not in {environment}: its `environments` {among}"
            hint = f"add {environment} there, or name another environment"
            yield name, finding_at(whole.mark(path), ABSENT, message, hint)


def _may_have_key(file: Path) -> bool:
    """Whether a file has the word; only a regular one is read, as another could keep the command waiting."""
    try:
        return file.is_file() and KEY.encode() in file.read_bytes()
    except OSError:
        return False
