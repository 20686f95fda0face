"""The container's environment: settings, metrics, default model; and services with their ports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from triton_fleet.catalog.variables import Service, safe_ports, services, variables_of
from triton_fleet.context.metrics import triton_metrics
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.source import KeyPath

PREFIX = "SAGEMAKER_TRITON_"
DEFAULT_MODEL = f"{PREFIX}DEFAULT_MODEL_NAME"
# Both: the start script assigns the first but never exports it, so only one that is set already is changed.
# In mode "ready" one archive that cannot be loaded would fail every later ping, and so the whole instance.
LIVE_PING = {f"{PREFIX}PING_MODE": "live", f"{PREFIX}OVERRIDE_PING_MODE": "live"}

ALLOW_METRICS = f"{PREFIX}ALLOW_METRICS"
PUBLISH_METRICS = f"{PREFIX}PUBLISH_METRICS_TO_CLOUDWATCH"


@dataclass(frozen=True)
class VariableSetting:
    """A variable's value, and the key of the spec that it follows from."""

    value: str
    key: str


def decided_settings(spec: EndpointSpec, default_model: str | None) -> dict[str, VariableSetting]:
    """The variables that follow from the spec's keys; `environment` stands above defaults of `container`."""
    container_settings = spec.container.model_dump(exclude_none=True, exclude={"additional_args"})
    settings = {
        f"{PREFIX}{key.upper()}": VariableSetting(_text(value), f"container.{key}")
        for key, value in container_settings.items()
        if key in spec.container.model_fields_set or f"{PREFIX}{key.upper()}" not in spec.environment
    }
    if spec.mode is Mode.MULTI_MODEL:
        settings |= {name: VariableSetting(value, "mode") for name, value in LIVE_PING.items()}
    elif default_model is not None:
        settings[DEFAULT_MODEL] = VariableSetting(default_model, "default_model")
    if flags := spec.container.additional_args:
        settings[ADDITIONAL_ARGS] = VariableSetting(" ".join(flags), "container.additional_args")
    if metrics := triton_metrics(spec):
        values = {ALLOW_METRICS: "true"}
        if spec.mode is not Mode.SHARED_CONTAINER:
            values[PUBLISH_METRICS] = "true"
            values |= dict.fromkeys(variables_of("log group"), metrics.log_group)
            values |= dict.fromkeys(variables_of("namespace"), metrics.namespace)
        settings |= {name: VariableSetting(value, "metrics.triton") for name, value in values.items()}
    return settings | _safe_ports(settings, spec.environment)


def _safe_ports(
    settings: Mapping[str, VariableSetting], environment: Mapping[str, str]
) -> dict[str, VariableSetting]:
    """A port for each service that is allowed and has none: SageMaker blocks those of Triton itself."""
    values = {**{name: setting.value for name, setting in settings.items()}, **environment}
    ports = {}
    for listener in listeners(service_arguments(values)):
        service = listener.service
        if service.port_from and service.port_from not in values and not listener.is_given:
            variable = service.allowed_by if service.allowed_by in values else ADDITIONAL_ARGS
            key = "environment" if variable in environment else settings[variable].key
            ports[service.port_from] = VariableSetting(str(service.port), key)
    return ports


def publishes_metrics(variables: Mapping[str, str]) -> bool:
    """Whether the container with these variables publishes Triton's metrics to CloudWatch."""
    return all(variables.get(name, "").lower() in TRUE for name in (ALLOW_METRICS, PUBLISH_METRICS))


def is_moved_by_image(listener: Listener, variables: Mapping[str, str]) -> bool:
    """Whether AWS's image takes a free port for the service if the named one is blocked.

    AWS documents it of METRICS_PORT, where metrics are published. A flag comes after what the image decides.
    """
    flags = flag_values(variables.get(ADDITIONAL_ARGS, "").split())
    service = listener.service
    is_metrics = service.allowed_by == ALLOW_METRICS
    return is_metrics and service.port_flag not in flags and publishes_metrics(variables)


def set_by_spec(spec: EndpointSpec) -> dict[str, KeyPath]:
    """Where the spec sets variables one by one: in `environment`, or by a key of `container`."""
    settings = spec.container.model_dump(exclude_unset=True, exclude_none=True)
    places: dict[str, KeyPath] = {name: ("environment", name) for name in spec.environment}
    return places | {f"{PREFIX}{key.upper()}": ("container", key) for key in sorted(settings)}


def all_variables(spec: EndpointSpec, settings: Mapping[str, VariableSetting]) -> dict[str, str]:
    """The whole environment of the container, sorted by name; `decided` are its decided settings."""
    values = {name: setting.value for name, setting in settings.items()}
    return dict(sorted((values | spec.environment).items()))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
    values = flag_values(arguments)
    return tuple(
        Listener(
            service=service,
            port=values.get(service.port_flag, str(service.tritons_port)),
            is_given=service.port_flag in values,
        )
        for service in services()
        if values.get(service.allow_flag, "").lower() in TRUE
    )


def service_arguments(variables: Mapping[str, str]) -> Iterator[str]:
    """Triton's arguments that the start script makes of the variables of services and their ports."""
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
