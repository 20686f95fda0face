"""Writes locks: what an environment will run, read from the model repositories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from triton_fleet.core.files import is_up_to_date, replace_file, require_no_link, write_problem
from triton_fleet.endpoint.bucket_keys import source_findings
from triton_fleet.findings import CannotRunError, FindingsError, all_of, one_failure
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import EndpointSpec, in_s3, onnx_in_s3
from triton_fleet.spec.lock import Lock
from triton_fleet.store.images.lock import locked_image, no_ecr
from triton_fleet.store.lock_measurement import measured_lock
from triton_fleet.store.missing_files import missing_files, missing_findings
from triton_fleet.store.sources.spec_sources import Connect, SpecRepositories, no_s3

T = TypeVar("T")

HEADER = "# Written by `fleet lock`: review it, do not edit it. It pins what this environment runs.\n"


@dataclass(frozen=True)
class LockRun:
    """The files that a run changed, and why the locks of some endpoints could not be made."""

    changes: list[Path]
    failures: list[CannotRunError]


def write_locks(
    project: Project,
    s3: Connect = no_s3,
    ecr: Callable[[], Any] = no_ecr,
    *,
    drop_missing: bool = False,
) -> list[Path]:
    """Write the locks as `try_locks` does, and return the files whose content changed.

    Raises:
        FindingsError: as `try_locks`.
        CannotRunError: the lock of an endpoint cannot be made; those of the others are written.
        SeveralFailuresError: the same of several endpoints, or beside findings.
    """
    run = try_locks(project, s3, ecr, drop_missing=drop_missing)
    if run.failures:
        raise one_failure(run.failures)
    return run.changes


def try_locks(
    project: Project,
    s3: Connect = no_s3,
    ecr: Callable[[], Any] = no_ecr,
    *,
    drop_missing: bool = False,
) -> LockRun:
    """Write the lock of each of the project's endpoints, except those for which AWS cannot be asked.

    Repositories in S3 are read only if the lock's digest is not the one in the spec, or if the lock has no
    facts of their models. AWS is asked about images that are built, and others that the lock does not know.
    With `drop_missing`, files that a lock lists may be missing.

    Raises:
        FindingsError: a model repository is missing, cannot be packed, is another endpoint's, or lacks files
            that its lock lists, such as weights that git does not keep; no lock is written then.
        SeveralFailuresError: the same, and the lock of another endpoint cannot be made.
        CannotRunError: a lock cannot be written.
    """
    s3, ecr, failures = _single_attempt(s3), _single_attempt(ecr), list[CannotRunError]()

    def measure(name: str) -> Lock:
        loaded_spec = project.load(name)
        repositories = SpecRepositories(loaded_spec)
        if foreign := list(source_findings(project, loaded_spec)):
            raise FindingsError(foreign)
        if not drop_missing:
            _require_files(project, repositories)
        earlier_lock = project.readable_lock(name) if _saves_reading(loaded_spec.spec) else None
        image = locked_image(project, loaded_spec, s3, ecr, earlier_lock)
        if earlier_lock is not None:
            earlier_lock = earlier_lock.model_copy(update={"image": image})
        return measured_lock(repositories, project.environment, s3, earlier_lock, image=image)

    def lock_or_failure(name: str) -> Lock | None:
        try:
            return measure(name)
        except CannotRunError as error:
            retry = f"run {project.environment.lock_command(name)}"
            remedy = f"{error.remedy}; then {retry}" if error.remedy else retry
            problem = error.problem.removeprefix(f"{project.root}/")
            failures.append(CannotRunError(f"{problem}; the lock of {name!r} is not written", remedy))
            return None

    try:
        locks = [
            new_lock for new_lock in all_of(project.endpoints, lock_or_failure, project.findings) if new_lock
        ]
    except FindingsError as error:
        raise one_failure([error, *failures]) from error
    files = [project.lock_file(lock.endpoint) for lock in locks]
    changes = [file for file, lock in zip(files, locks, strict=True) if write_lock(file, lock, project.root)]
    for file in changes:
        project.fleet.lock.forget(file)
    return LockRun(changes, failures)


def _single_attempt(connect: Callable[[], T]) -> Callable[[], T]:
    """The same, whose refusal is remembered: to look for credentials takes seconds where there are none."""
    refusals = list[CannotRunError]()

    def open_connection() -> T:
        if refusals:
            raise refusals[0]
        try:
            return connect()
        except CannotRunError as error:
            refusals.append(error)
            raise

    return open_connection


def write_lock(file: Path, lock: Lock, root: Path) -> bool:
    """Write a lock; return whether that changed the file.

    Raises:
        CannotRunError: it cannot be written, or is or is in a link below `root`; what exists is unchanged.
    """
    return write_text(file, lock_text(lock), root)


def write_text(file: Path, text: str, root: Path) -> bool:
    """Write a file beside a lock; return whether that changed it.

    Raises:
        CannotRunError: it cannot be written, or is or is in a link below `root`; what exists is unchanged.
    """
    try:
        if is_up_to_date(require_no_link(root, file), text):
            return False
        replace_file(file, text, root=root)
    except OSError as error:
        raise write_problem(file, error) from error
    return True


def lock_text(lock: Lock) -> str:
    """The text of a lock file."""
    document = lock.model_dump(mode="json", exclude_defaults=True)
    return HEADER + yaml.safe_dump(document, sort_keys=False, width=110, allow_unicode=True)


def _require_files(project: Project, repositories: SpecRepositories) -> None:
    # A lock that is missing or broken is written again.
    lock = project.readable_lock(repositories.loaded_spec.spec.endpoint)
    if lock is not None and (files := missing_files(repositories, lock)):
        drop_hint = "; pass --drop-missing if it was removed on purpose"
        raise FindingsError(missing_findings(files, drop_hint))


def _saves_reading(spec: EndpointSpec) -> bool:
    """Whether the lock that exists can save reading."""
    return spec.own_image is not None or any(
        in_s3(archive) or any(map(onnx_in_s3, archive.engines)) for archive in spec.models
    )
