"""Spec, environment, lock and catalog become one resolved endpoint; a pure function of the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fleet.catalog.images import image_regions, partition_of
from fleet.findings import Finding, FindingsError
from fleet.resolve.archives import check_names, locked_archives, place_archives
from fleet.resolve.context import Context
from fleet.resolve.endpoint import (
    Place,
    ResolvedEndpoint,
    ResolvedFleet,
    ResolvedScaling,
    TrackedTarget,
    TritonMetrics,
)
from fleet.resolve.hardware import check_one_gpu, resolve_ami, resolve_image, resolve_instance
from fleet.resolve.models import resolve_default_model
from fleet.resolve.variables import resolve_variables
from fleet.spec.endpoint import Compression, Mode, Scaling
from fleet.spec.environment import Environment
from fleet.spec.problems import did_you_mean
from fleet.spec.project import LoadedSpec, Project, all_of, load_lock, open_project
from fleet.spec.source import finding_at

RESOURCES = ["Model", "EndpointConfig", "Endpoint"]
"""What `cloudformation` may reach into."""


def resolve_fleet(root: Path, environment: str, endpoints: Sequence[str] = ()) -> ResolvedFleet:
    """Read and resolve an environment's endpoints, all of them or those named.

    Raises:
        FindingsError: every mistake of every endpoint.
    """
    return resolve_project(open_project(root, environment, endpoints))


def resolve_foundation(root: Path, environment: str) -> ResolvedFleet:
    """An environment without endpoints: what they share needs no lock.

    Raises:
        FindingsError: the environment's file is wrong.
    """
    project = open_project(root, environment)
    if findings := _unknown_region(project):
        raise FindingsError(findings)
    return ResolvedFleet(place=place_of(project.environment), endpoints=())


def resolve_project(project: Project) -> ResolvedFleet:
    """Resolve the endpoints of a project that is open already.

    Raises:
        FindingsError: every mistake of every endpoint.
    """
    place = place_of(project.environment)
    findings = [*project.findings, *_unknown_region(project)]
    resolved = all_of(project.endpoints, lambda name: _resolve(project, place, project.load(name)), findings)
    return ResolvedFleet(place=place, endpoints=tuple(resolved))


def _unknown_region(project: Project) -> list[Finding]:
    region, known = project.environment.region, image_regions()
    if region in known:
        return []
    mark = project.environment_source.mark(("region",))
    message = f"SageMaker has no image of Triton in a region {region!r}"
    return [finding_at(mark, "FL211", message, did_you_mean(region, known))]


def place_of(environment: Environment) -> Place:
    """Where an environment's fleet lives."""
    return Place(
        environment=environment.environment,
        account=environment.account,
        region=environment.region,
        partition=partition_of(environment.region),
        tags=environment.tags,
    )


def _resolve(project: Project, place: Place, loaded: LoadedSpec) -> ResolvedEndpoint:
    context = Context(loaded, place, None, project.lock_file(loaded.spec.endpoint))
    _read_lock(context)
    spec = context.spec
    image, machine = resolve_image(context), resolve_instance(context)
    ami = resolve_ami(context, image, machine) if image and machine else None
    if machine:
        check_one_gpu(context, machine)
    check_names(context)
    locked = locked_archives(context)
    default_model = resolve_default_model(context, locked)
    metrics = _triton_metrics(spec.endpoint) if spec.metrics.triton else None
    variables = resolve_variables(context, default_model, metrics)
    for name in spec.cloudformation:
        if name not in RESOURCES:
            message = f"`cloudformation` names {name!r}, which no endpoint has"
            context.refuse("FL208", ("cloudformation", name), message, did_you_mean(name, RESOURCES))
    if not (image and machine and ami) or context.findings:
        raise FindingsError(context.findings)
    model_data, archives = place_archives(context, locked)
    return ResolvedEndpoint(
        name=spec.endpoint,
        place=place,
        mode=spec.mode,
        image=image,
        instance=machine,
        instance_count=spec.instance.count,
        ami=ami,
        default_model=default_model,
        archives=archives,
        model_data=model_data,
        compression=spec.models[0].compression if spec.mode is Mode.SINGLE else Compression.GZIP,
        variables=variables,
        scaling=_scaling(spec.scaling, machine.gpus) if spec.scaling else None,
        triton_metrics=metrics,
        timeouts=spec.timeouts,
        cloudformation=spec.cloudformation,
    )


def _read_lock(context: Context) -> None:
    if not context.lock_file.is_file():
        name, environment = context.spec.endpoint, context.place.environment
        context.refuse_lock("FL301", f"there is no lock of {name!r} for {environment!r}")
        return
    try:
        lock = load_lock(context.lock_file)
    except FindingsError as error:
        command = f"fleet lock --env {context.place.environment} {context.spec.endpoint}"
        hint = f"run `{command}`, which writes it anew"
        context.findings += [replace(each, hint=each.hint or hint) for each in error.findings]
        return
    if lock.endpoint != context.spec.endpoint:
        context.refuse_lock("FL302", f"this is the lock of {lock.endpoint!r}")
        return
    context.lock = lock


def _triton_metrics(endpoint: str) -> TritonMetrics:
    return TritonMetrics(namespace=f"TritonFleet/{endpoint}", log_group=f"/triton-fleet/{endpoint}/metrics")


def _scaling(scaling: Scaling, gpus: int) -> ResolvedScaling:
    """SageMaker's GPUUtilization adds up a machine's GPUs (0 to 100 for each), so its target does too."""
    gpu = None if scaling.gpu_utilization is None else scaling.gpu_utilization * gpus
    wanted = {"invocations_per_instance": scaling.invocations_per_instance, "gpu_utilization": gpu}
    return ResolvedScaling(
        min=scaling.min,
        max=scaling.max,
        scale_in=scaling.scale_in,
        scale_out=scaling.scale_out,
        targets=tuple(
            TrackedTarget(measure=measure, value=value)
            for measure, value in wanted.items()
            if value is not None
        ),
    )
