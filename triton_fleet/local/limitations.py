"""Which container images the embedded AWS can serve: it has this machine's Triton, and runs no container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from triton_fleet.catalog.images import TRITON_REPOSITORY
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.registries import is_fleet_repository
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, ResolvedFleet
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.local.triton.shared_container import is_shared, missing_program
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.image_name import image_name
from triton_fleet.spec.source import finding_at

if TYPE_CHECKING:
    from fleet_emulator.triton_backends import Find


def image_limit(uri: str, environment: Mapping[str, str]) -> str:
    """Why this machine cannot serve an image, as a sentence; empty if it can.

    `environment` is the Model's variables: an image that a fleet has built can be served if they are those of
    a shared container, whose program, nginx and Triton this machine has itself.
    """
    if is_release_image(uri):
        return ""
    if not (is_fleet_repository(_repository(uri)) and is_shared(environment)):
        return f"only {TRITON_REPOSITORY} images and shared containers are served on this machine, not {uri}"
    program = missing_program()
    return f"a shared container needs {program}, which this machine does not have" if program else ""


def is_release_image(uri: str) -> bool:
    """Whether an image is one of SageMaker's releases of Triton, by its tag or its digest."""
    return _repository(uri) == TRITON_REPOSITORY


def _repository(uri: str) -> str:
    name = image_name(uri)
    return name.repository if name is not None else ""


CODE, IMAGE_CODE, ROUTER_CODE, HOST_CODE = "FL383", "FL680", "FL681", "FL682"


def servable(project: Project, *, is_explicit: bool, find: Find = find_spec) -> tuple[Project, list[Finding]]:
    """The project with the endpoints that this machine can serve, and the findings to show first.

    Args:
        project: With the locks of the local environment.
        is_explicit: Whether the user has named the endpoints: then none of them is left out.
        find: What is behind a module's name, if anything.

    Raises:
        FindingsError: an endpoint that was named cannot be served, or none can.
    """
    findings_of = {name: list(_of_endpoint(project, name, find)) for name in project.endpoints}
    names, findings = _servable_names(findings_of, "fleet local up", is_explicit=is_explicit)
    return replace(project, endpoints=names), findings


def with_servable_images(
    project: Project, fleet: ResolvedFleet, *, is_explicit: bool
) -> tuple[ResolvedFleet, list[Finding]]:
    """A fleet of an account with the endpoints whose images the embedded AWS can serve, and the findings.

    Args:
        project: With the specs of the fleet.
        fleet: What is to be deployed.
        is_explicit: Whether the user has named the endpoints: then none of them is left out.

    Raises:
        FindingsError: an endpoint that was named cannot be served, or none can.
    """
    findings_of = {endpoint.name: list(_image_limit(project, endpoint)) for endpoint in fleet.endpoints}
    names, findings = _servable_names(
        findings_of, f"fleet deploy --env {fleet.deployment.environment}", is_explicit=is_explicit
    )
    return replace(
        fleet, endpoints=tuple(endpoint for endpoint in fleet.endpoints if endpoint.name in names)
    ), findings


def image_limits(project: Project, fleet: ResolvedFleet, *, is_explicit: bool) -> dict[str, Finding]:
    """The same findings by endpoint, for a check that changes nothing; errors where a deploy refuses them."""
    limits = {
        endpoint.name: finding for endpoint in fleet.endpoints for finding in _image_limit(project, endpoint)
    }
    is_refused = is_explicit or len(limits) == len(fleet.endpoints)
    return limits if is_refused else {name: _left_out(finding) for name, finding in limits.items()}


def _image_limit(project: Project, endpoint: ResolvedEndpoint) -> Iterator[Finding]:
    """An error if the embedded AWS cannot serve the endpoint's image."""
    limit = image_limit(endpoint.image.uri, endpoint.variables)
    if limit:
        mark = project.load(endpoint.name).source.mark(("image",) if endpoint.spec.image else ("mode",))
        message = f"the embedded AWS cannot serve {endpoint.name!r}: {limit}"
        hint = f"deploy it to an account; here, `fleet local up {endpoint.name}` serves it without its image"
        yield finding_at(mark, HOST_CODE, message, hint)


def _servable_names(
    findings_of: Mapping[str, Sequence[Finding]], command: str, *, is_explicit: bool
) -> tuple[tuple[str, ...], list[Finding]]:
    """The endpoints without an error among their findings, and all findings, of those left out as warnings.

    Raises:
        FindingsError: there is an error, and the endpoints were named, or none is left.
    """
    refused_names = {
        name
        for name, endpoint_findings in findings_of.items()
        if any(entry.severity is Severity.ERROR for entry in endpoint_findings)
    }
    rest = tuple(name for name in findings_of if name not in refused_names)
    if refused_names and (is_explicit or not rest):
        leave = f"; or leave it out: `{command} {' '.join(rest)}`" if rest else ""
        raise FindingsError(
            [_refusal(finding, leave) for findings in findings_of.values() for finding in findings]
        )
    return rest, [
        _left_out(entry) for endpoint_findings in findings_of.values() for entry in endpoint_findings
    ]


def _refusal(finding: Finding, leave: str) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    return replace(finding, hint=f"{finding.hint}{leave}")


def _left_out(finding: Finding) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    return replace(finding, message=f"{finding.message}; it is left out", severity=Severity.WARNING)


def _of_endpoint(project: Project, name: str, find: Find) -> Iterator[Finding]:
    context, _ = locked_context(project, project.load(name))
    yield from _image(context)
    yield from _router(context)
    yield from plan_findings(context)
    yield from _packages(context, find)


def _image(context: EndpointContext) -> Iterator[Finding]:
    """A warning that the image of the spec is not what answers here."""
    if context.spec.image is not None and not context.spec.builds_mode_image:
        message = f"{context.spec.endpoint!r} has an image of its own, which does not run on this machine"
        hint = (
            "this machine's Triton answers: its Python models find the packages that a lock's image lists, if"
            " they are installed here"
        )
        finding = finding_at(context.source.mark(("image",)), IMAGE_CODE, message, hint)
        yield replace(finding, severity=Severity.WARNING)


def _router(context: EndpointContext) -> Iterator[Finding]:
    """An error where a shared container's nginx is missing."""
    program = missing_program() if context.spec.mode is Mode.SHARED_CONTAINER else None
    if program is not None:
        message = f"this machine cannot serve {context.spec.endpoint!r} yet: it has no {program}"
        hint = "`apt install nginx libnginx-mod-http-js`, or nginx.org's nginx and nginx-module-njs"
        yield finding_at(context.source.mark(("mode",)), ROUTER_CODE, message, hint)


def _packages(context: EndpointContext, find: Find) -> Iterator[Finding]:
    """An error for each package that models of the endpoint need and that is missing."""
    # A deploy imports this module, and has no emulator.
    from fleet_emulator.triton_backends import PACKAGES, missing_package

    for backend, package in PACKAGES.items():
        models = [
            loaded_model for loaded_model in context.loaded_models if loaded_model.facts.backend == backend
        ]
        if models and missing_package(backend, find) is not None:
            names = ", ".join(dict.fromkeys(model.name for model in models))
            message = f"this machine cannot serve {context.spec.endpoint!r} ({names}) yet: {package.problem}"
            hint = f"`{package.install}`, the build for CPUs where your index has one"
            mark = context.source.mark(("models", models[0].index, "archive"))
            yield finding_at(mark, CODE, message, hint)


PLAN_CODE = "FL374"


def plan_findings(context: EndpointContext) -> Iterator[Finding]:
    """That the endpoint loads plans of its repositories; only a warning where it is calls that load them.

    The plans of engines are another matter: those that this machine builds, a stand-in serves.
    """
    plans = [loaded_model for loaded_model in context.loaded_models if loaded_model.facts.plans]
    if not plans:
        return
    multi = context.spec.mode is Mode.MULTI_MODEL
    consequence = "calls of its targets fail" if multi else "the endpoint cannot start"
    models = ", ".join(dict.fromkeys(plan.name for plan in plans))
    reason = "this machine's Triton has no TensorRT, and no GPU"
    message = f"{reason}: it loads no plan of {context.spec.endpoint!r} ({models}), and {consequence}"
    hint = (
        f"under `overrides` of environments/{LOCAL}.yaml, name a repository without the plan, and the ONNX"
        " model under `engines`: a stand-in serves it"
    )
    mark = context.source.mark(("models", plans[0].index, "archive"))
    severity = Severity.WARNING if multi else Severity.ERROR
    yield replace(finding_at(mark, PLAN_CODE, message, hint), severity=severity)
