"""The lock that an endpoint is resolved with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import NAMES, Finding, FindingsError, HintForSeveral, Severity
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.lock import Lock

NO_LOCK, NO_IMAGE, NO_PROMOTION = "FL301", "FL968", "FL848"


def locked_context(
    project: Project, loaded_spec: LoadedSpec, *, reads_folders: bool = False
) -> tuple[EndpointContext, list[Finding]]:
    """An endpoint as rules look at it, with its lock if that can be read, and what is wrong with the lock.

    With `reads_folders`, the caller checks the spec's repositories itself.
    """
    spec, environment = loaded_spec.spec, project.environment
    file, command = project.lock_file(spec.endpoint), environment.lock_command(spec.endpoint)
    lock, wrong = read_lock_file(file, environment.environment, spec, command, project.fleet.lock)
    if lock is not None and lock.promoted_from is not None:
        wrong += _origin_findings(project, lock, lock.promoted_from)
    findings = with_hint_for_several(wrong, spec.endpoint, environment)
    context = EndpointContext(
        loaded_spec=loaded_spec, environment=environment, lock=lock, reads_folders=reads_folders
    )
    return context, findings


def _origin_findings(project: Project, lock: Lock, origin: str) -> list[Finding]:
    """The environment in `promoted_from` of a lock, if the lock cannot come from there.

    A promoted lock is not compared with the repositories, so an environment that follows main takes none from
    nowhere. In one that is promoted to, an environment may have had another name since: only publish knows.
    """
    environment, own = project.environment, project.environment.environment
    claim = f"the lock names {origin!r} as `promoted_from`"
    if origin == own or origin not in project.fleet.environments:
        severity = Severity.WARNING if project.is_promoted else Severity.ERROR
        message = f"{claim}, which is {'this' if origin == own else 'no'} environment"
    elif environment.promoted_from not in (None, origin):
        severity = Severity.WARNING
        message = f"{claim}, but {own} is promoted from {environment.promoted_from!r}"
    else:
        return []
    hint = f"run {environment.lock_command(lock.endpoint)}"
    file = project.lock_file(lock.endpoint)
    return [Finding(code=NO_PROMOTION, message=message, file=file, hint=hint, severity=severity)]


def with_hint_for_several(
    findings: Iterable[Finding], endpoint: str, environment: Environment
) -> list[Finding]:
    """Findings that other endpoints may have as well, whose hints can name all of these."""
    command, name = environment.lock_command(endpoint), f" {endpoint}`"
    pattern = " '*'" if environment.promoted_from is not None else ""
    return [
        replace(
            finding,
            hint_for_several=HintForSeveral(finding.hint.replace(name, f"{NAMES}`"), (endpoint,), pattern),
        )
        if command in finding.hint
        else finding
        for finding in findings
    ]


def read_lock_file(
    file: Path,
    environment: str,
    spec: EndpointSpec,
    command: str = "",
    load: Callable[[Path], Lock] = load_lock,
) -> tuple[Lock | None, list[Finding]]:
    """A lock, and what is wrong with it; None if it is another endpoint's.

    `command` writes it, in backquotes; by default `fleet lock`.
    """
    command = command or f"`fleet lock --env {environment} {spec.endpoint}`"
    hint = f"run {command}"
    if not file.is_file():
        message = f"there is no lock of {spec.endpoint!r} for {environment!r}"
        return None, [Finding(code=NO_LOCK, message=message, file=file, hint=hint)]
    try:
        lock = load(file)
    except FindingsError as error:
        rewrite = f"{hint}, which writes it again"
        return None, [replace(finding, hint=finding.hint or rewrite) for finding in error.findings]
    if lock.endpoint != spec.endpoint:
        message = f"this is the lock of {lock.endpoint!r}"
        return None, [Finding(code="FL302", message=message, file=file, hint=hint)]
    return lock, lock_findings(lock, spec, file, environment, command)


def lock_findings(
    lock: Lock, spec: EndpointSpec, file: Path, environment: str, command: str
) -> list[Finding]:
    """Findings where an endpoint's lock lacks parts of its spec; `command` writes it."""
    wrong = [] if environment == LOCAL else _wrong_image(lock, spec, file, environment, command)
    names = sorted({archive.name for archive in spec.packed_archives} - set(lock.archives))
    message = "the lock has no archive {!r}; it was written for another spec"
    return [
        *wrong,
        *(
            Finding(code="FL302", message=message.format(name), file=file, hint=f"run {command}")
            for name in names
        ),
    ]


def _wrong_image(lock: Lock, spec: EndpointSpec, file: Path, environment: str, command: str) -> list[Finding]:
    """A lock without the image of the spec, or with another one."""
    spec_image, lock_image = spec.own_image, lock.image
    digest = lock_image.digest if lock_image else None
    if spec_image is None and lock_image is None:
        return []
    if spec_image is None:
        message = "the lock names an image, but the spec does not"
    elif lock_image is None:
        message = "the lock does not name the image of the spec"
    elif spec_image.digest not in (None, digest) or (spec_image.build is None) != (lock_image.key is None):
        message = f"the lock names the image {digest}, but the spec names another"
    else:
        return []
    return [Finding(code=NO_IMAGE, message=message, file=file, hint=f"run {command}")]
