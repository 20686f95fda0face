"""The routes of the endpoint: public names, and the model and versions that each leads to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ROUTES = "TRITON_FLEET_ROUTES"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}")
MODEL = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")
VERSION = re.compile(r"0|[1-9][0-9]{0,18}")


class SettingsError(Exception):
    """The environment or the command line has settings that cannot be served."""


@dataclass(frozen=True)
class Route:
    """A model of Triton's repository, and the versions that callers may name."""

    model: str
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Routes:
    """Every route by its public name; requests without a name take the default."""

    routes: Mapping[str, Route]
    default: str | None = None

    def models(self) -> list[tuple[str, str]]:
        """Each model and version that has to be ready before the container takes requests."""
        return sorted(
            {(route.model, version) for route in self.routes.values() for version in route.versions}
        )

    def text(self) -> str:
        """The routes as router.js reads them. Names begin with a slash there, as no inherited name does."""
        routes = {
            f"/{name}": {"model": route.model, "versions": list(route.versions)}
            for name, route in self.routes.items()
        }
        models = {name: list(route.versions) for name, route in sorted(self.routes.items())}
        return json.dumps({"default": self.default, "routes": routes, "models": json.dumps(models)})


def joined_value(environment: Mapping[str, str], name: str) -> str | None:
    """A variable with its continuations NAME_1, NAME_2, ... in their order; None where it is not set."""
    if name not in environment:
        return None
    parts = [environment[name]]
    while (part := environment.get(f"{name}_{len(parts)}")) is not None:
        parts.append(part)
    return "".join(parts)


def read_routes(environment: Mapping[str, str]) -> Routes:
    """The routes of the container.

    Raises:
        SettingsError: the variable is missing, not JSON, or names what no request could reach.
    """
    text = joined_value(environment, ROUTES)
    if text is None:
        raise SettingsError(f"{ROUTES} is not set: set it to the routes as JSON")
    try:
        data = json.loads(text, object_pairs_hook=_unique_keys)
    except ValueError as error:
        raise SettingsError(f"{ROUTES} is not JSON: {error}") from None
    data = _object(data, ROUTES, required_keys={"routes"}, optional={"default"})
    routes = _object(data["routes"], f"{ROUTES}.routes")
    if not routes:
        raise SettingsError(f"{ROUTES}.routes is empty: name at least one model")
    default = data.get("default")
    if default is not None and default not in routes:
        raise SettingsError(
            f"{ROUTES}.default is {default!r}, which is not one of {', '.join(sorted(routes))}"
        )
    return Routes({name: _route(name, value) for name, value in routes.items()}, default)


def _route(name: str, value: Any) -> Route:
    key = f"{ROUTES}.routes[{name!r}]"
    if not NAME.fullmatch(name):
        raise SettingsError(f"{key}: a route's name matches {NAME.pattern}")
    value = _object(value, key, required_keys={"model", "versions"})
    model, versions = value["model"], value["versions"]
    if not isinstance(model, str) or not MODEL.fullmatch(model):
        raise SettingsError(f"{key}.model is {model!r}: a model's name matches [A-Za-z0-9._-]+")
    if not isinstance(versions, list) or not versions:
        raise SettingsError(f"{key}.versions is {versions!r}: list at least one version")
    for version in versions:
        if not isinstance(version, str) or not VERSION.fullmatch(version):
            raise SettingsError(f'{key}.versions has {version!r}: a version is a text such as "1"')
    return Route(model, tuple(versions))


def _object(
    value: Any,
    key: str,
    required_keys: set[str] | None = None,
    optional: frozenset[str] | set[str] = frozenset(),
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SettingsError(f"{key} is not a JSON object")
    if required_keys is not None:
        if missing_keys := required_keys - set(value):
            raise SettingsError(f"{key} lacks {', '.join(sorted(missing_keys))}")
        if unknown := set(value) - required_keys - optional:
            raise SettingsError(f"{key} has unknown keys: {', '.join(sorted(unknown))}")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError(f"a key is repeated among {', '.join(keys)}")
    return dict(pairs)
