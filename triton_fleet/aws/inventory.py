"""Compares specs, locks and live stacks of an environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.changes.templates import Template
from triton_fleet.changes.update_effect import differing_areas
from triton_fleet.check.lock_drift import CODE, stale_findings
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, stack_of
from triton_fleet.findings import FindingsError
from triton_fleet.product.synthesis import OWN_PYTHON, installation, project_templates
from triton_fleet.project.membership import locked_endpoints
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import deploy_command

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

    from triton_fleet.aws.access import Access
    from triton_fleet.aws.running_configuration import LiveEndpoint
    from triton_fleet.awsapi.stack import LiveStack

MAX_PARALLEL_DESCRIPTIONS = 8
"""Parallel descriptions; SageMaker throttles more, and botocore retries."""


class FileState(StrEnum):
    """The state of a spec or a lock.

    A stale lock was written for another spec or from other repositories. An environment may not have an
    endpoint that has a spec: it is elsewhere; it may be one that waits for its promotion.
    """

    YES = "yes"
    NO = "no"
    INVALID = "broken"
    STALE = "stale"
    ELSEWHERE = "elsewhere"
    NO_PROMOTION = "not promoted"


class Runs(StrEnum):
    """Content that an endpoint runs, from the URL of its data, which has a digest unless the set is live."""

    LOCK_CONTENT = "as locked"
    OTHER_CONTENT = "other content"
    LIVE_SET = "its live set"
    UNKNOWN = "unknown: nothing to compare it with"
    NO_ENDPOINT = "not deployed"
    NO_ANSWER = "not asked"


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
    """The states of one endpoint's files, and the resolved endpoint where there is one."""

    spec: FileState
    lock: FileState
    owner: str | None
    endpoint: ResolvedEndpoint | None


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
        from triton_fleet.aws.running_configuration import endpoint_stacks, live_endpoint

        stacks = endpoint_stacks(access.client("cloudformation"), access.deployment)
        sagemaker = access.client("sagemaker")
        live_endpoints = all_in_parallel(
            stacks, lambda name: live_endpoint(sagemaker, name), MAX_PARALLEL_DESCRIPTIONS
        )
        live = dict(zip(stacks, live_endpoints, strict=True))
    names = sorted(
        {
            *project.spec_files,
            *project.unpromoted_names,
            *locked_endpoints(project.root, environment),
            *stacks,
        }
    )
    files = {name: _files(project, name, offline=access is None) for name in names}
    stack_names = [name for name in stacks if files[name].endpoint is not None]
    behind = _behind(project, stack_names, access.client("cloudformation")) if access and stack_names else {}
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
    templates, deployment = (
        project_templates(installation(OWN_PYTHON), project, endpoints),
        project.deployment,
    )

    def compare(name: str) -> tuple[str, ...]:
        stack = stack_of(deployment, name)
        body: Any = cloudformation.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
        live_template: Template = body if isinstance(body, dict) else {}
        return differing_areas(live_template, templates[name])

    return dict(zip(endpoints, all_in_parallel(endpoints, compare, MAX_PARALLEL_DESCRIPTIONS), strict=True))


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
    runs = _runs(files.endpoint, live) if access is not None else Runs.NO_ANSWER
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
    project: Project, name: str, files: _Files, stack: LiveStack | None, runs: Runs, behind: tuple[str, ...]
) -> Iterator[str]:
    """The remedies in order."""
    environment = project.environment.environment
    has_lock = files.lock is not FileState.NO
    if files.spec in (FileState.NO, FileState.ELSEWHERE):
        cause = "a spec" if files.spec is FileState.NO else f"a place in {environment}"
        if stack is not None:
            yield f"an orphaned stack, without {cause}: run `fleet destroy {name} --env {environment}`"
        elif has_lock:
            yield f"an orphaned lock, without {cause}: run `git rm locks/{environment}/{name}.lock.yaml`"
    if files.spec is FileState.NO_PROMOTION:
        if stack is not None:
            destroy = f"`fleet destroy {name} --env {environment}`"
            yield f"an orphaned stack, without a promoted spec: run {destroy}"
        if has_lock:
            yield f"`fleet promote --to {environment} --adopt {name}` writes the spec beside its lock"
        yield project.environment.lock_command(name)
    if FileState.INVALID in (files.spec, files.lock):
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
    if runs in (Runs.OTHER_CONTENT, Runs.NO_ENDPOINT) or behind:
        yield deploy


def _runs(endpoint: ResolvedEndpoint | None, live: LiveEndpoint | None) -> Runs:
    if live is None:
        return Runs.NO_ENDPOINT
    if endpoint is None:
        return Runs.UNKNOWN
    if endpoint.model_data_url != live.model_data_url:
        return Runs.OTHER_CONTENT
    return (
        Runs.LOCK_CONTENT if all(archive.named_by_content for archive in endpoint.archives) else Runs.LIVE_SET
    )


def _files(project: Project, name: str, *, offline: bool) -> _Files:
    """The state of an endpoint's files; repositories are compared with their lock where AWS is not asked."""
    (spec, owner), lock, endpoint = _spec(project, name), _lock(project, name), None
    if spec is FileState.YES and lock is FileState.YES:
        alone = replace(project, endpoints=(name,), findings=())
        try:
            (endpoint,) = resolve_project(alone).endpoints
        except FindingsError as error:
            lock = FileState.STALE if any(finding.code == "FL302" for finding in error.findings) else lock
            spec = FileState.INVALID if lock is FileState.YES else spec
        if (
            offline
            and lock is FileState.YES
            and CODE in {stale.code for stale in stale_findings(alone, name)}
        ):
            lock = FileState.STALE
    return _Files(spec=spec, lock=lock, owner=owner, endpoint=endpoint)


def _spec(project: Project, name: str) -> tuple[FileState, str | None]:
    """The state of a spec, and its owner."""
    if name in project.unpromoted_names:
        return FileState.NO_PROMOTION, None
    if name in project.absent:
        return FileState.ELSEWHERE, None
    if name not in project.spec_files:
        return FileState.NO, None
    loaded_spec = project.specs.readable(name)
    if loaded_spec is None:
        return FileState.INVALID, None
    return FileState.YES, loaded_spec.spec.owner.team if loaded_spec.spec.owner else None


def _lock(project: Project, name: str) -> FileState:
    if not project.lock_file(name).is_file():
        return FileState.NO
    return FileState.INVALID if project.readable_lock(name) is None else FileState.YES
