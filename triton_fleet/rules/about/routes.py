"""Rules about the routes and ports of the container."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.variables import safe_ports
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.shared_container import default_route
from triton_fleet.context.variables import (
    ADDITIONAL_ARGS,
    PREFIX,
    Listener,
    flag_values,
    is_moved_by_image,
    listeners,
    service_arguments,
)
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.container import INVOCATIONS_PORT
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

SOURCE = "docs/hosting-modes.md#a-shared-container"
NOT_FOUND_STATUS = 404
SINCE = "23.06"
"""The first release on Ubuntu 22.04; those before have Python 3.8, and nginx.org has no nginx for them."""


@rule("FL730", source=SOURCE, is_needed=True)
def unknown_route_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Every route leads to a model in the repository."""
    names = sorted(model.name for model in endpoint.models)
    for route, model in endpoint.spec.routes.items() if names else ():
        if model not in names:
            message = f"the route {route!r} leads to {model!r}, which is not in the repository"
            yield Problem(("routes", route), message, did_you_mean(model, names, whole_list=True))


@rule("FL731", source=SOURCE, is_needed=True)
def unknown_default_route(endpoint: EndpointContext) -> Iterator[Problem]:
    """The default model of a shared container is one of its routes: it gets the calls that name none."""
    default, routes = endpoint.spec.default_model, endpoint.routes
    if routes and default is not None and default not in routes:
        message = f"`default_model` is {default!r}, which is not a route"
        yield Problem(("default_model",), message, did_you_mean(default, list(routes), whole_list=True))


@rule("FL732", source=SOURCE, is_needed=True)
def routes_of_other_mode(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only a shared container has routes, and calls that name them."""
    spec = endpoint.spec
    if spec.mode is Mode.SHARED_CONTAINER:
        return
    hint = "leave it out, or write `mode: shared-container`"
    if spec.routes:
        yield Problem(("routes",), f"`routes` has no effect in mode {spec.mode.value!r}", hint)
    for index, sample in enumerate(spec.samples):
        for key in ("model", "version"):
            if getattr(sample, key) is not None:
                message = f"sample {sample.name!r} names a {key}, and mode {spec.mode.value!r} has no routes"
                yield Problem(("samples", index, key), message, hint)


@rule("FL733", source=SOURCE, is_needed=True)
def unserved_sample(endpoint: EndpointContext) -> Iterator[Problem]:
    """Samples of a shared container call a route that exists, and a version that its model serves.

    The router answers any other call with 404, and the deploy would fail in its last step.
    """
    routes = endpoint.routes
    for index, sample in enumerate(endpoint.spec.samples if routes else ()):
        if sample.status == NOT_FOUND_STATUS:
            continue
        name = sample.model or default_route(endpoint.spec, routes)
        path: KeyPath = ("samples", index)
        if name is None:
            message = f"sample {sample.name!r} names no model, and there is no `default_model`"
            yield Problem(path, message, f"write `model:` and one of {', '.join(routes)}")
        elif name not in routes:
            message = f"sample {sample.name!r} calls {name!r}, which is not a route"
            yield Problem((*path, "model"), message, did_you_mean(name, list(routes), whole_list=True))
        elif sample.version is not None and (versions := routes[name].versions):
            if str(sample.version) in versions:
                continue
            wrong = f"version {sample.version} of {name!r}, which serves {', '.join(versions)}"
            message = f"sample {sample.name!r} calls {wrong}"
            hint = "write one of these, or a `version_policy` in config.pbtxt that serves it"
            yield Problem((*path, "version"), message, hint)


@rule("FL734", Severity.WARNING, source=SOURCE)
def case_variant_route(endpoint: EndpointContext) -> Iterator[Problem]:
    """No two routes differ only in upper and lower case: a typing error would call another model."""
    first: dict[str, str] = {}
    for name in endpoint.routes:
        former = first.setdefault(name.lower(), name)
        if former != name:
            path: KeyPath = ("routes", name) if name in endpoint.spec.routes else ("models", 0)
            message = f"the routes {former!r} and {name!r} differ only in upper and lower case"
            yield Problem(path, message, "give one of them another name under `routes`")


@rule("FL735", source=SOURCE, is_needed=True)
def route_without_versions(endpoint: EndpointContext) -> Iterator[Problem]:
    """The lock has the versions of each model that a route leads to.

    The container waits at its start until each of them is ready.
    """
    models = {model.name: model for model in endpoint.models}
    for route in dict.fromkeys(route.model for route in endpoint.routes.values()):
        if route not in models or models[route].facts.versions:
            continue
        message, hint = f"Triton loads no version of the model {route!r}", "correct its `version_policy`"
        if models[route].facts.versions is None:
            message = f"the lock does not have the versions of the model {route!r}"
            hint = f"run {endpoint.environment.lock_command(endpoint.spec.endpoint)}"
        yield Problem(("models", models[route].index), message, hint)


@rule("FL736", source=SOURCE)
def release_without_shared_container(endpoint: EndpointContext) -> Iterator[Problem]:
    """A shared container is built on Triton 23.06 or newer: its program needs Python 3.10."""
    if endpoint.spec.mode is Mode.SHARED_CONTAINER and endpoint.spec.triton < SINCE:
        message = f"the image of Triton {endpoint.spec.triton} has no Python 3.10, which the container needs"
        yield Problem(("triton",), message, f'write `triton: "{SINCE}"` or newer')


CHECK = "https://github.com/triton-inference-server/server/blob/main/src/command_line_parser.cc"


@rule("FL241", source="https://github.com/triton-inference-server/server/issues/3264")
def port_conflict(endpoint: EndpointContext) -> Iterator[Problem]:
    """Invocations, metrics, gRPC and HTTP use different ports.

    The server refuses to start when two of its services share one.
    """
    users: dict[int | None, str] = {INVOCATIONS_PORT: "invocations"}
    for listener in _listeners(endpoint):
        name, number = listener.service.name, listener.number
        if number in users:
            message = f"{name} and {users[number]} would both use port {number}"
            yield Problem(_path_of(endpoint, listener), message, "give one of them another port")
        elif number is not None:
            users[number] = name


@rule("FL321", source=CHECK)
def reserved_port(endpoint: EndpointContext) -> Iterator[Problem]:
    """Metrics, gRPC and HTTP use ports that SageMaker lets a container bind.

    SageMaker passes the range to the container. With another port the server does not start, and the endpoint
    fails its health check. Triton's default ports, 8000 to 8002, are outside the range. If metrics are
    published to CloudWatch, AWS's image replaces a blocked METRICS_PORT with a free port, as AWS documents:
    that is only a warning.
    """
    ports = safe_ports()
    for listener in _listeners(endpoint):
        # The port of invocations is refused above, as a port that two services share.
        if listener.number is None or listener.is_safe or listener.number == INVOCATIONS_PORT:
            continue
        service, is_moved = listener.service, is_moved_by_image(listener, endpoint.settings)
        ends = "AWS's image uses one of these instead" if is_moved else "the server does not start"
        message = (
            f"{service.name} would use port {listener.number}; SageMaker lets a container bind"
            f" {ports[0]} to {ports[-1]}, and {ends}"
        )
        hint = f"choose a port from {ports[0]} to {ports[-1]}"
        if service.port is not None:
            hint += f", or leave it out to use {service.port}"
        yield Problem(_path_of(endpoint, listener), message, hint, certain=not is_moved)


def _listeners(endpoint: EndpointContext) -> list[Listener]:
    """All except those whose variable is empty, which is a mistake of its own."""
    all_listeners = listeners(service_arguments(endpoint.settings))
    return [listener for listener in all_listeners if listener.is_given or not listener.service.port_from]


def _flags(endpoint: EndpointContext) -> dict[str, str]:
    return flag_values(endpoint.settings.get(ADDITIONAL_ARGS, "").split())


def _path_of(endpoint: EndpointContext, listener: Listener) -> KeyPath:
    """Where the spec names the port, or else where it allows the service."""
    spec, service = endpoint.spec, listener.service
    flags = (service.port_flag, service.port_from), (service.allow_flag, service.allowed_by)
    flag, variable = flags[0] if listener.is_given else flags[1]
    if flag in _flags(endpoint):
        if ADDITIONAL_ARGS in spec.environment:
            return ("environment", ADDITIONAL_ARGS)
        words = [word.partition("=")[0] for word in spec.container.additional_args]
        return (
            "container",
            "additional_args",
            max(index for index, word in enumerate(words) if word == flag),
        )
    if variable in spec.environment:
        return ("environment", variable)
    return ("container", variable.removeprefix(PREFIX).lower())
