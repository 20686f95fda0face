"""Spec, environment, lock and catalog become one resolved endpoint; a pure function of the files."""

from __future__ import annotations

from collections.abc import Sequence

from triton_fleet.context.context import EndpointContext, endpoint_tags, volume_key
from triton_fleet.context.metrics import log_groups, triton_metrics
from triton_fleet.context.registries import pulled_repositories
from triton_fleet.endpoint.alarms import resolved_alarms
from triton_fleet.endpoint.archives import counted_models, locate_archives
from triton_fleet.endpoint.bucket_keys import source_findings
from triton_fleet.endpoint.endpoint_parts import (
    resolved_check,
    resolved_engines,
    resolved_rollout,
    resolved_scaling,
)
from triton_fleet.endpoint.environment import environment_findings, environment_warnings
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.endpoint.resolved_endpoint import GivenData, ResolvedEndpoint, ResolvedFleet
from triton_fleet.findings import Finding, FindingsError, Severity, all_of
from triton_fleet.project.project import Project
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

    def resolve(name: str) -> ResolvedEndpoint:
        loaded_spec = project.load(name)
        context, wrong_lock = locked_context(project, loaded_spec, reads_folders=reads_folders)
        own_findings = [*wrong_lock, *source_findings(project, loaded_spec)]
        endpoint, findings = resolve_endpoint(project.deployment, context, own_findings)
        warnings.extend(findings)
        return endpoint

    wrong = [*project.findings, *environment_findings(project)]
    endpoints = all_of(project.endpoints, resolve, wrong)
    return ResolvedFleet(deployment=project.deployment, endpoints=tuple(endpoints), warnings=tuple(warnings))


def resolve_endpoint(
    deployment: Deployment,
    context: EndpointContext,
    earlier_findings: Sequence[Finding] = (),
) -> tuple[ResolvedEndpoint, list[Finding]]:
    """One endpoint with everything decided, and what is doubtful about it.

    Args:
        deployment: Where it is deployed.
        context: The endpoint with its lock.
        earlier_findings: Findings so far.

    Raises:
        FindingsError: every mistake of the endpoint.
    """
    findings = [*earlier_findings, *rule_findings(context, is_deploy=True)]
    return assemble_endpoint(deployment, context, findings), findings


def assemble_endpoint(
    deployment: Deployment,
    context: EndpointContext,
    findings: Sequence[Finding],
    given_data: GivenData | None = None,
) -> ResolvedEndpoint:
    """One endpoint with everything decided, by what the rules found.

    Args:
        deployment: Where it is deployed.
        context: The endpoint with its lock; without one, its model data is given.
        findings: All findings about it.
        given_data: Model data in place of the lock's archives.

    Raises:
        FindingsError: there are errors among the findings.
    """
    if any(finding.severity is Severity.ERROR for finding in findings) or not (
        context.image and context.engine_image and context.machine
    ):
        raise FindingsError(list(findings))
    spec, machine = context.spec, context.machine
    model_data, archives = ("", ()) if given_data else locate_archives(spec, context.archives)
    return ResolvedEndpoint(
        spec=spec,
        deployment=deployment,
        image=context.image,
        engine_image=context.engine_image,
        repositories=pulled_repositories(context),
        instance=machine,
        ami=context.named_ami or ((context.ami.name or None) if context.ami else None),
        is_pooled=context.is_pooled,
        default_model=context.default_model,
        archives=archives,
        model_data=model_data,
        given_data=given_data,
        compression=Compression.GZIP if spec.mode is Mode.MULTI_MODEL else spec.models[0].compression,
        variables=context.variables,
        scaling=resolved_scaling(spec.scaling, machine) if spec.scaling else None,
        rollout=resolved_rollout(spec, spec.rollout) if spec.rollout else None,
        check=resolved_check(spec),
        alarms=resolved_alarms(context),
        triton_metrics=triton_metrics(spec),
        log_groups=log_groups(spec),
        volume_key=volume_key(context),
        tags=endpoint_tags(context.environment, spec),
        counted_models=counted_models(context),
        engines=resolved_engines(context),
    )
