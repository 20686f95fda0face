"""The services of the container that answer beside the calls of models, and at which ports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from triton_fleet.catalog.variables import Service, safe_ports, services

ADDITIONAL_ARGS = "SAGEMAKER_TRITON_ADDITIONAL_ARGS"
TRUE = ("true", "on", "1")
"""What tritonserver reads as yes, in small or capital letters."""


@dataclass(frozen=True, kw_only=True)
class Listener:
    """A service that is allowed.

    Attributes:
        service: Which one.
        port: As it is given; Triton's own where none is.
        is_given: Whether anything names the port.
    """

    service: Service
    port: str
    is_given: bool

    @property
    def number(self) -> int | None:
        """The port as Triton reads it; None where it is not a number."""
        return int(self.port) if re.fullmatch(r"[0-9]{1,9}", self.port) else None

    @property
    def is_safe(self) -> bool:
        """Whether SageMaker lets a container bind the port."""
        return self.number in safe_ports()


def listeners(arguments: Iterable[str]) -> tuple[Listener, ...]:
    """The services that a command line of tritonserver allows; the last of a repeated flag counts.

    A service that no flag allows is off: the container's start script turns all of them off first.
    """
    given = flag_values(arguments)
    return tuple(
        Listener(
            service=service,
            port=given.get(service.port_flag, str(service.tritons_port)),
            is_given=service.port_flag in given,
        )
        for service in services()
        if given.get(service.allow_flag, "").lower() in TRUE
    )


def service_arguments(variables: Mapping[str, str]) -> Iterator[str]:
    """What the container's start script makes of the variables that allow services and name their ports."""
    for service in services():
        for variable, flag in (
            (service.allowed_by, service.allow_flag),
            (service.port_from, service.port_flag),
        ):
            if value := variables.get(variable):
                yield f"{flag}={value}"
    yield from variables.get(ADDITIONAL_ARGS, "").split()


def flag_values(arguments: Iterable[str]) -> dict[str, str]:
    """The last value of each flag, whether it stands behind `=` or is the next word."""
    values: dict[str, str] = {}
    last = ""
    for word in arguments:
        if word.startswith("--"):
            last, separator, value = word.partition("=")
            if separator:
                values[last], last = value, ""
        elif last:
            values[last], last = word, ""
    return values
