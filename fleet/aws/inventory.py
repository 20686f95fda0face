"""Compares specs, locks and live stacks of an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from fleet.aws.access import Access
from fleet.aws.api.stack import LiveStack
from fleet.aws.fleet_stacks import endpoint_stacks
from fleet.aws.running_configuration import LiveEndpoint, live_endpoint
from fleet.catalog.stack_statuses import StackState
from fleet.core.parallel import all_in_parallel
from fleet.endpoint.resolve import resolve_project
from fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from fleet.findings import FindingsError
from fleet.spec.environment import LOCAL
from fleet.spec.project import Project, load_lock

DESCRIBED_AT_ONCE = 8
"""Parallel descriptions; SageMaker throttles more, and botocore retries."""


class FileState(StrEnum):
    """The state of a spec or a lock; a stale lock was written for another spec."""

    YES = "yes"
    NO = "no"
    BROKEN = "broken"
    STALE = "stale"


class Runs(StrEnum):
    """What an endpoint runs, from the URL of its data, which has a digest unless the set is live."""

    LOCKED = "as locked"
    OTHER = "other content"
    LIVE_SET = "its live set"
    UNKNOWN = "unknown: nothing to compare it with"
    NOTHING = "not deployed"


@dataclass(frozen=True, kw_only=True)
class InventoryEntry:
    """One endpoint: its files, its stack's status (None without a stack) and what it serves."""

    name: str
    owner: str | None
    spec: FileState
    lock: FileState
    stack: str | None
    runs: Runs
    live: LiveEndpoint | None
    remedy: str
    """How to make spec, lock and stack consistent; "" if they are."""


def take_inventory(project: Project, access: Access) -> list[InventoryEntry]:
    """Every endpoint of the environment that has a spec, a lock or a stack, by name.

    Raises:
        ClientError: access is denied.
    """
    stacks = endpoint_stacks(access.client("cloudformation"), access.place)
    sagemaker, environment = access.client("sagemaker"), access.place.environment
    found = all_in_parallel(stacks, lambda name: live_endpoint(sagemaker, name), DESCRIBED_AT_ONCE)
    live = dict(zip(stacks, found, strict=True))
    return [
        _compare(project, environment, name, stacks.get(name), live.get(name))
        for name in sorted({*project.spec_files, *_locked_digests(project), *stacks})
    ]


def _compare(
    project: Project, environment: str, name: str, stack: LiveStack | None, live: LiveEndpoint | None
) -> InventoryEntry:
    (spec, owner), lock, resolved = _spec(project, name), _lock(project, name), None
    if spec is FileState.YES and lock is FileState.YES:
        try:
            (resolved,) = resolve_project(replace(project, endpoints=(name,))).endpoints
        except FindingsError as error:
            lock = FileState.STALE if any(each.code == "FL302" for each in error.findings) else lock
            spec = FileState.BROKEN if lock is FileState.YES else spec
    runs = _runs(resolved, live)
    remedies = _remedies(name, environment, {"spec": spec, "lock": lock}, stack, runs)
    status = stack.status if stack is not None else None
    return InventoryEntry(
        name=name,
        owner=owner,
        spec=spec,
        lock=lock,
        stack=status,
        runs=runs,
        live=live,
        remedy=next(remedies, ""),
    )


def _remedies(
    name: str, environment: str, held: Mapping[str, FileState], stack: LiveStack | None, runs: Runs
) -> Iterator[str]:
    """What to do, in order."""
    if held["spec"] is FileState.NO and stack is not None:
        yield f"an orphan, a stack without a spec: `fleet destroy {name} --env {environment}`"
    elif held["spec"] is FileState.NO:
        yield f"an orphan, a lock without a spec: `git rm locks/{environment}/{name}.lock.yaml`"
    if FileState.BROKEN in held.values():
        yield f"run `fleet check --env {environment} {name}` to see what is wrong"
    if held["lock"] is not FileState.YES:
        yield f"`fleet lock --env {environment} {name}`"
    deploy = (
        f"`fleet local up {name}`" if environment == LOCAL else f"`fleet deploy --env {environment} {name}`"
    )
    if stack is not None and stack.state is StackState.STUCK:
        yield f"{stack}: {stack.remedy}"
    if stack is not None and stack.state is StackState.STOPPED:
        yield f"{stack}: {deploy} continues its rollback, or explains how"
    if stack is not None and stack.state is StackState.UNDER_WAY:
        yield f"{stack}: wait until that has ended; {deploy} also waits"
    if runs in (Runs.OTHER, Runs.NOTHING):
        yield deploy


def _runs(resolved: ResolvedEndpoint | None, live: LiveEndpoint | None) -> Runs:
    if live is None:
        return Runs.NOTHING
    if resolved is None:
        return Runs.UNKNOWN
    if resolved.model_data_url != live.model_data_url:
        return Runs.OTHER
    return Runs.LOCKED if all(each.named_by_content for each in resolved.archives) else Runs.LIVE_SET


def _spec(project: Project, name: str) -> tuple[FileState, str | None]:
    """The state of a spec, and its owner."""
    if name not in project.spec_files:
        return FileState.NO, None
    try:
        owner = project.load(name).spec.owner
    except FindingsError:
        return FileState.BROKEN, None
    return FileState.YES, owner.team if owner else None


def _lock(project: Project, name: str) -> FileState:
    file = project.lock_file(name)
    if not file.is_file():
        return FileState.NO
    try:
        load_lock(file)
    except FindingsError:
        return FileState.BROKEN
    return FileState.YES


def _locked_digests(project: Project) -> set[str]:
    folder = project.lock_file("any").parent
    return {file.name.removesuffix(".lock.yaml") for file in folder.glob("*.lock.yaml")}
