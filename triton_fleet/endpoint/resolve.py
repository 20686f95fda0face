"""Spec, environment, lock and catalog become one resolved endpoint; a pure function of the files."""

from __future__ import annotations

from collections.abc import Sequence

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.log_groups import log_groups
from triton_fleet.context.registries import pulled_repositories
from triton_fleet.context.tags import endpoint_tags
from triton_fleet.context.triton_metrics import triton_metrics
from triton_fleet.context.volume_key import volume_key
from triton_fleet.endpoint.alarms import resolved_alarms
from triton_fleet.endpoint.archives import counted_models, place_archives
from triton_fleet.endpoint.endpoint_check import resolved_check
from triton_fleet.endpoint.engines import resolved_engines
from triton_fleet.endpoint.environment import environment_findings, environment_warnings
from triton_fleet.endpoint.fleet_buckets import source_findings
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.endpoint.resolved_endpoint import GivenData, ResolvedEndpoint, ResolvedFleet
from triton_fleet.endpoint.rollout import resolved_rollout
from triton_fleet.endpoint.scaling import resolved_scaling
from triton_fleet.findings import Finding, FindingsError, Severity, all_of
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import Compression, Mode


def resolve_foundation(project: Project) -> ResolvedFleet:
    """An environment without endpoints: what they share needs no lock.

    Raises:
        FindingsError: the environment's file is wrong.
    """
    if findings := environment_findings(project):
        raise FindingsError(findings)
    warnings = tuple(environment_warnings(project.environment, project.environment_source))
    return ResolvedFleet(deployment=project.deployment, endpoints=(), warnings=warnings)


def resolve_project(project: Project, *, reads_folders: bool = False) -> ResolvedFleet:
    """Resolve the endpoints of a project that is open already; what is doubtful is kept as warnings.

    With `reads_folders`, the caller checks the specs' repositories itself.

    Raises:
        FindingsError: every mistake of every endpoint.
    """
    warnings = [*environment_warnings(project.environment, project.environment_source)]

    def resolved(name: str) -> ResolvedEndpoint:
        endpoint, findings = _resolve(project, project.load(name), reads_folders)
        warnings.extend(findings)
        return endpoint

    wrong = [*project.findings, *environment_findings(project)]
    endpoints = all_of(project.endpoints, resolved, wrong)
    return ResolvedFleet(deployment=project.deployment, endpoints=tuple(endpoints), warnings=tuple(warnings))


def resolve_endpoint(
    deployment: Deployment,
    decided: EndpointContext,
    found: Sequence[Finding] = (),
    given_data: GivenData | None = None,
) -> tuple[ResolvedEndpoint, list[Finding]]:
    """One endpoint with everything decided, and what is doubtful about it.

    Args:
        deployment: Its account, region and names.
        decided: The endpoint with its lock; without one, its model data is given.
        found: What is known to be wrong already.
        given_data: Model data in place of the lock's archives.

    Raises:
        FindingsError: every mistake of the endpoint.
    """
    findings = [*found, *rule_findings(decided, deploying=True)]
    if any(finding.severity is Severity.ERROR for finding in findings) or not (
        decided.image and decided.engine_image and decided.machine
    ):
        raise FindingsError(findings)
    spec, machine = decided.spec, decided.machine
    model_data, archives = ("", ()) if given_data else place_archives(spec, decided.locked)
    endpoint = ResolvedEndpoint(
        spec=spec,
        deployment=deployment,
        image=decided.image,
        engine_image=decided.engine_image,
        repositories=pulled_repositories(decided),
        instance=machine,
        ami=decided.named_ami or ((decided.ami.name or None) if decided.ami else None),
        is_pooled=decided.is_pooled,
        default_model=decided.default_model,
        archives=archives,
        model_data=model_data,
        given_data=given_data,
        compression=Compression.GZIP if spec.mode is Mode.MULTI_MODEL else spec.models[0].compression,
        variables=decided.variables,
        scaling=resolved_scaling(spec.scaling, machine) if spec.scaling else None,
        rollout=resolved_rollout(spec, spec.rollout) if spec.rollout else None,
        check=resolved_check(spec),
        alarms=resolved_alarms(decided),
        triton_metrics=triton_metrics(spec),
        log_groups=log_groups(spec),
        volume_key=volume_key(decided),
        tags=endpoint_tags(decided.environment, spec),
        counted_models=counted_models(decided),
        engines=resolved_engines(decided),
    )
    return endpoint, findings


def _resolve(
    project: Project, loaded: LoadedSpec, reads_folders: bool
) -> tuple[ResolvedEndpoint, list[Finding]]:
    decided, wrong_lock = locked_context(project, loaded, reads_folders=reads_folders)
    return resolve_endpoint(project.deployment, decided, [*wrong_lock, *source_findings(project, loaded)])
