"""Rules about the ports of the container besides that of invocations."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.front_end import safe_ports
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.variables import (
    ADDITIONAL_ARGS,
    PREFIX,
    Listener,
    flag_values,
    is_moved_by_image,
    listeners,
    service_arguments,
)
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.container import INVOCATIONS_PORT
from triton_fleet.spec.source import KeyPath

CHECK = "https://github.com/triton-inference-server/server/blob/main/src/command_line_parser.cc"


@rule("FL241", source="https://github.com/triton-inference-server/server/issues/3264")
def port_conflict(endpoint: EndpointContext) -> Iterator[Problem]:
    """Invocations, metrics, gRPC and HTTP use different ports.

    The server refuses to start when two of its services share one.
    """
    taken: dict[int | None, str] = {INVOCATIONS_PORT: "invocations"}
    for listener in _listeners(endpoint):
        name, number = listener.service.name, listener.number
        if number in taken:
            message = f"{name} and {taken[number]} would both use port {number}"
            yield Problem(_place(endpoint, listener), message, "give one of them another port")
        elif number is not None:
            taken[number] = name


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
        service, moved = listener.service, is_moved_by_image(listener, endpoint.settings)
        ends = "AWS's image uses one of these instead" if moved else "the server does not start"
        message = (
            f"{service.name} would use port {listener.number}; SageMaker lets a container bind"
            f" {ports[0]} to {ports[-1]}, and {ends}"
        )
        hint = f"choose a port from {ports[0]} to {ports[-1]}"
        if service.port is not None:
            hint += f", or leave it out to use {service.port}"
        yield Problem(_place(endpoint, listener), message, hint, certain=not moved)


def _listeners(endpoint: EndpointContext) -> list[Listener]:
    """All except those whose variable is empty, which is a mistake of its own."""
    found = listeners(service_arguments(endpoint.settings))
    return [each for each in found if each.is_given or not each.service.port_from]


def _flags(endpoint: EndpointContext) -> dict[str, str]:
    return flag_values(endpoint.settings.get(ADDITIONAL_ARGS, "").split())


def _place(endpoint: EndpointContext, listener: Listener) -> KeyPath:
    """Where the spec names the port, or else where it allows the service."""
    spec, service = endpoint.spec, listener.service
    named = (service.port_flag, service.port_from), (service.allow_flag, service.allowed_by)
    flag, variable = named[0] if listener.is_given else named[1]
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
