"""Compares specs, locks and live stacks of an environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.changes.areas import differing_areas
from triton_fleet.changes.templates import Template
from triton_fleet.check.lock_drift import CODE, stale_findings
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, stack_of
from triton_fleet.findings import FindingsError
from triton_fleet.product.installation import installation
from triton_fleet.product.synthesis import THIS, project_templates
from triton_fleet.project.membership import locked_endpoints
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import deploy_command

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

    from triton_fleet.aws.access import Access
    from triton_fleet.aws.running_configuration import LiveEndpoint
    from triton_fleet.awsapi.stack import LiveStack

DESCRIBED_AT_ONCE = 8
"""Parallel descriptions; SageMaker throttles more, and botocore retries."""


class FileState(StrEnum):
    """The state of a spec or a lock.

    A stale lock was written for another spec or from other repositories. An environment may not have an
    endpoint that has a spec: it is elsewhere; it may be one that waits for its promotion.
    """

    YES = "yes"
    NO = "no"
    BROKEN = "broken"
    STALE = "stale"
    ELSEWHERE = "elsewhere"
    UNPROMOTED = "not promoted"


class Runs(StrEnum):
    """What an endpoint runs, from the URL of its data, which has a digest unless the set is live."""

    LOCKED = "as locked"
    OTHER = "other content"
    LIVE_SET = "its live set"
    UNKNOWN = "unknown: nothing to compare it with"
    NOTHING = "not deployed"
    UNASKED = "not asked"


@dataclass(frozen=True, kw_only=True)
class InventoryEntry:
    """One endpoint: its files, its stack's status (None without a stack) and what it serves.

    `behind` has the parts in which its stack is not what the files make of it, such as `instance`.
    """

    environment: str
    name: str
    owner: str | None
    spec: FileState
    lock: FileState
    stack: str | None
    runs: Runs
    behind: tuple[str, ...]
    live: LiveEndpoint | None
    remedy: str
    """How to make spec, lock and stack consistent; "" if they are."""


@dataclass(frozen=True, kw_only=True)
class _Files:
    """What the files of one endpoint are, and what they are resolved to where that is possible."""

    spec: FileState
    lock: FileState
    owner: str | None
    resolved: ResolvedEndpoint | None


def take_inventory(project: Project, access: Access | None) -> list[InventoryEntry]:
    """Every endpoint that the environment has or is to have, or that has a lock or a stack there, by name.

    Args:
        project: The environment.
        access: Its account; None: only specs, locks and repositories are compared.

    Raises:
        ClientError: access is denied.
        CannotRunError: the templates cannot be made.
    """
    environment = project.environment.environment
    stacks: Mapping[str, LiveStack] = {}
    live: Mapping[str, LiveEndpoint | None] = {}
    if access is not None:
        from triton_fleet.aws.fleet_stacks import endpoint_stacks
        from triton_fleet.aws.running_configuration import live_endpoint

        stacks = endpoint_stacks(access.client("cloudformation"), access.deployment)
        sagemaker = access.client("sagemaker")
        found = all_in_parallel(stacks, lambda name: live_endpoint(sagemaker, name), DESCRIBED_AT_ONCE)
        live = dict(zip(stacks, found, strict=True))
    names = sorted(
        {*project.spec_files, *project.unpromoted, *locked_endpoints(project.root, environment), *stacks}
    )
    files = {name: _files(project, name, offline=access is None) for name in names}
    deployed = [name for name in stacks if files[name].resolved is not None]
    behind = _behind(project, deployed, access.client("cloudformation")) if access and deployed else {}
    return [
        _entry(
            project, name, files[name], stacks.get(name), live.get(name), behind.get(name, ()), access=access
        )
        for name in names
    ]


def _behind(
    project: Project, endpoints: Iterable[str], cloudformation: CloudFormationClient
) -> Mapping[str, tuple[str, ...]]:
    """The parts in which each deployed template differs from the one that the files make."""
    wanted, deployment = project_templates(installation(THIS), project, endpoints), project.deployment

    def compare(name: str) -> tuple[str, ...]:
        stack = stack_of(deployment, name)
        body: Any = cloudformation.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
        deployed: Template = body if isinstance(body, dict) else {}
        return differing_areas(deployed, wanted[name])

    return dict(zip(endpoints, all_in_parallel(endpoints, compare, DESCRIBED_AT_ONCE), strict=True))


def _entry(
    project: Project,
    name: str,
    files: _Files,
    stack: LiveStack | None,
    live: LiveEndpoint | None,
    behind: tuple[str, ...],
    *,
    access: Access | None,
) -> InventoryEntry:
    runs = _runs(files.resolved, live) if access is not None else Runs.UNASKED
    if stack is None:
        behind = ()
    remedies = _remedies(project, name, files, stack, runs, behind)
    return InventoryEntry(
        environment=project.environment.environment,
        name=name,
        owner=files.owner,
        spec=files.spec,
        lock=files.lock,
        stack=stack.status if stack is not None else None,
        runs=runs,
        behind=behind,
        live=live,
        remedy=next(remedies, ""),
    )


def _remedies(
    project: Project,
    name: str,
    files: _Files,
    stack: LiveStack | None,
    runs: Runs,
    behind: tuple[str, ...],
) -> Iterator[str]:
    """What to do, in order."""
    environment = project.environment.environment
    has_lock = files.lock is not FileState.NO
    if files.spec in (FileState.NO, FileState.ELSEWHERE):
        why = "a spec" if files.spec is FileState.NO else f"a place in {environment}"
        if stack is not None:
            yield f"an orphaned stack, without {why}: run `fleet destroy {name} --env {environment}`"
        elif has_lock:
            yield f"an orphaned lock, without {why}: run `git rm locks/{environment}/{name}.lock.yaml`"
    if files.spec is FileState.UNPROMOTED:
        if stack is not None:
            destroy = f"`fleet destroy {name} --env {environment}`"
            yield f"an orphaned stack, without a promoted spec: run {destroy}"
        if has_lock:
            yield f"`fleet promote --to {environment} --adopt {name}` writes the spec beside its lock"
        yield project.environment.lock_command(name)
    if FileState.BROKEN in (files.spec, files.lock):
        yield f"run `fleet check --env {environment} {name}` to see what is wrong"
    if files.lock is not FileState.YES:
        yield project.environment.lock_command(name)
    deploy = deploy_command(environment, name)
    if stack is not None and stack.state is StackState.STUCK:
        yield f"{stack}: {stack.remedy}"
    if stack is not None and stack.state is StackState.STOPPED:
        yield f"{stack}: {deploy} continues its rollback, or explains how"
    if stack is not None and stack.state is StackState.UNDER_WAY:
        yield f"{stack}: wait until the operation has ended; {deploy} also waits"
    if runs in (Runs.OTHER, Runs.NOTHING) or behind:
        yield deploy


def _runs(resolved: ResolvedEndpoint | None, live: LiveEndpoint | None) -> Runs:
    if live is None:
        return Runs.NOTHING
    if resolved is None:
        return Runs.UNKNOWN
    if resolved.model_data_url != live.model_data_url:
        return Runs.OTHER
    return Runs.LOCKED if all(archive.named_by_content for archive in resolved.archives) else Runs.LIVE_SET


def _files(project: Project, name: str, *, offline: bool) -> _Files:
    """The state of an endpoint's files; repositories are compared with their lock where AWS is not asked."""
    (spec, owner), lock, resolved = _spec(project, name), _lock(project, name), None
    if spec is FileState.YES and lock is FileState.YES:
        alone = replace(project, endpoints=(name,), findings=())
        try:
            (resolved,) = resolve_project(alone).endpoints
        except FindingsError as error:
            lock = FileState.STALE if any(finding.code == "FL302" for finding in error.findings) else lock
            spec = FileState.BROKEN if lock is FileState.YES else spec
        if (
            offline
            and lock is FileState.YES
            and CODE in {stale_finding.code for stale_finding in stale_findings(alone, name)}
        ):
            lock = FileState.STALE
    return _Files(spec=spec, lock=lock, owner=owner, resolved=resolved)


def _spec(project: Project, name: str) -> tuple[FileState, str | None]:
    """The state of a spec, and its owner."""
    if name in project.unpromoted:
        return FileState.UNPROMOTED, None
    if name in project.absent:
        return FileState.ELSEWHERE, None
    if name not in project.spec_files:
        return FileState.NO, None
    loaded = project.specs.readable(name)
    if loaded is None:
        return FileState.BROKEN, None
    return FileState.YES, loaded.spec.owner.team if loaded.spec.owner else None


def _lock(project: Project, name: str) -> FileState:
    if not project.lock_file(name).is_file():
        return FileState.NO
    return FileState.BROKEN if project.readable_lock(name) is None else FileState.YES
