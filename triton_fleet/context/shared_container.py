"""Parameters of a shared container: the names that callers use, and the options of its tritonserver.

Its program is in containers/shared; it reads these variables and none of AWS's start script.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from triton_fleet.catalog.limits import limit
from triton_fleet.catalog.variables import variables
from triton_fleet.context.metrics import triton_metrics
from triton_fleet.context.variables import ADDITIONAL_ARGS, PREFIX, VariableSetting
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.lock import LockedModel

OWN_PREFIX = "TRITON_FLEET_"
ROUTES, OPTIONS = f"{OWN_PREFIX}ROUTES", f"{OWN_PREFIX}OPTIONS"
NAMESPACE, ACCESS_LOG = f"{OWN_PREFIX}METRICS_NAMESPACE", f"{OWN_PREFIX}ACCESS_LOG"


@dataclass(frozen=True)
class Route:
    """The model behind a name, and the versions that it answers with, the newest last."""

    model: str
    versions: tuple[str, ...]


def routed_models(spec: EndpointSpec, models: Iterable[str]) -> dict[str, str]:
    """The model behind each route: those of `routes`, else every model under its own name."""
    return spec.routes or {name: name for name in models}


def shared_routes(spec: EndpointSpec, models: Mapping[str, LockedModel]) -> dict[str, Route]:
    """The routes by name: those of `routes`, else one of every model that the lock has."""
    versions = {name: facts.versions or () for name, facts in models.items()}
    return {
        route: Route(model, versions.get(model, ()))
        for route, model in sorted(routed_models(spec, models).items())
    }


def default_route(spec: EndpointSpec, routes: Collection[str]) -> str | None:
    """The route of calls that name none; None where there are several and none is named."""
    return spec.default_model or (next(iter(routes)) if len(routes) == 1 else None)


def shared_variables(
    spec: EndpointSpec, routes: Mapping[str, Route], settings: Mapping[str, str], gpus: int
) -> dict[str, VariableSetting]:
    """The variables of the container.

    Args:
        spec: The endpoint's.
        routes: As `shared_routes` has them.
        settings: What AWS's start script would read; its variables become options of tritonserver.
        gpus: How many the instance has.
    """
    default = default_route(spec, routes)
    document = {
        **({"default": default} if default in routes else {}),
        "routes": {
            name: {"model": route.model, "versions": list(route.versions)} for name, route in routes.items()
        },
    }
    variables = _parts(ROUTES, document, "routes")
    variables |= _parts(OPTIONS, list(_options(settings, gpus)), "container")
    if spec.container.log_verbose:
        variables[ACCESS_LOG] = VariableSetting("all", "container.log_verbose")
    if metrics := triton_metrics(spec):
        variables[NAMESPACE] = VariableSetting(metrics.namespace, "metrics.triton")
    return variables


def joined_value(variables: Mapping[str, str], name: str) -> str:
    """The text that was cut into NAME, NAME_1, NAME_2 and so on; empty where there is none."""
    parts = [variables.get(name, "")]
    while (part := variables.get(f"{name}_{len(parts)}")) is not None:
        parts.append(part)
    return "".join(parts)


def passed_on(spec: EndpointSpec) -> dict[str, str]:
    """The part of `environment` that reaches the container as it is: all but what its options are made of."""
    return {name: value for name, value in spec.environment.items() if not name.startswith(PREFIX)}


def _options(settings: Mapping[str, str], gpus: int) -> Iterator[str]:
    for variable in variables().values():
        option = variable.option if variable.shared_option is None else variable.shared_option
        value = settings.get(variable.name) or variable.default
        if option is None or value is None or Mode.SHARED_CONTAINER not in variable.modes:
            continue
        if variable.for_each_gpu:
            yield from (f"{option}{number}:{value}" for number in range(gpus))
        else:
            yield from value.split() if variable.name == ADDITIONAL_ARGS else [f"{option}{value}"]


def _parts(name: str, document: object, key: str) -> dict[str, VariableSetting]:
    """A document as JSON in as many variables as it takes: NAME, NAME_1, NAME_2 and so on."""
    text, limit_characters = (
        json.dumps(document, separators=(",", ":")),
        limit("environment_value_characters"),
    )
    parts = [text[start : start + limit_characters] for start in range(0, len(text), limit_characters)]
    return {
        f"{name}_{index}" if index else name: VariableSetting(part, key) for index, part in enumerate(parts)
    }
