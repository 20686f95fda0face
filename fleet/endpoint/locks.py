"""The lock that an endpoint is resolved with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.lock import Lock
from fleet.spec.project import Project, load_lock

MISSING = "FL301"


def read_lock(project: Project, spec: EndpointSpec) -> tuple[Lock | None, list[Finding]]:
    """The endpoint's lock in its project, and what is wrong with it."""
    return read_lock_file(project.lock_file(spec.endpoint), project.environment.environment, spec)


def read_lock_file(file: Path, environment: str, spec: EndpointSpec) -> tuple[Lock | None, list[Finding]]:
    """A lock, and what is wrong with it; None if it is another endpoint's."""
    hint = f"run `fleet lock --env {environment} {spec.endpoint}`"
    if not file.is_file():
        message = f"there is no lock of {spec.endpoint!r} for {environment!r}"
        return None, [Finding(code=MISSING, message=message, file=file, hint=hint)]
    try:
        lock = load_lock(file)
    except FindingsError as error:
        rewrite = f"{hint}, which writes it again"
        return None, [replace(each, hint=each.hint or rewrite) for each in error.findings]
    if lock.endpoint != spec.endpoint:
        message = f"this is the lock of {lock.endpoint!r}"
        return None, [Finding(code="FL302", message=message, file=file, hint=hint)]
    lacking = sorted({each.name for each in spec.packed} - set(lock.archives))
    return lock, [
        Finding(
            code="FL302",
            message=f"the lock holds no archive {name!r}; it was written for another spec",
            file=file,
            hint=hint,
        )
        for name in lacking
    ]
