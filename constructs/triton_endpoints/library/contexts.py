"""A spec in its environment, with each of the stand-ins for the values that the deploy decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from triton_endpoints.library.environment import EnvironmentSource
from triton_endpoints.library.network import VpcPlacement
from triton_endpoints.library.spec import FileSpec, PropsSpec
from triton_endpoints.library.values import Values
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layering
from triton_fleet.project.project import load_spec
from triton_fleet.project.spec_files import root_of
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import Source

T = TypeVar("T")


def runs_of(environment: EnvironmentSource) -> Sequence[tuple[Environment, Source]]:
    """The environment, with each of the stand-ins for its values."""
    return environment.runs or ((environment.environment, environment.source),)


def _of(runs: Sequence[T], run: int) -> T:
    """The item of a run; one that depends on no value of the deploy is of all runs."""
    return runs[run] if len(runs) > 1 else runs[0]


def contexts_of(
    spec: PropsSpec | FileSpec,
    environments: Sequence[tuple[Environment, Source]],
    values: Values,
    placement: VpcPlacement | None,
) -> list[EndpointContext]:
    """The spec in its environment, with each of the stand-ins for values of the deploy.

    Raises:
        FindingsError: what is wrong with the spec, or values that it cannot be read without.
    """
    sources = [_with_network(source, placement) for source in spec.sources(values)]
    root = root_of(sources[0].file)
    files = FleetFiles(root) if root else None
    spec_files = values.run(
        lambda run: load_spec(_of(sources, run), Layering(files, _of(environments, run)[1])),
        max(len(sources), len(environments)),
    )
    return [
        EndpointContext(
            loaded_spec=spec_file,
            environment=_with_allowed_network(_of(environments, run)[0], placement),
            lock=None,
        )
        for run, spec_file in enumerate(spec_files)
    ]


def computed_names(
    spec: PropsSpec | FileSpec,
    environment: EnvironmentSource,
    values: Values,
    placement: VpcPlacement | None,
    assemble: Callable[[EndpointContext], ResolvedEndpoint],
) -> list[str]:
    """The props of whose values something is computed, although all others have one stand-in."""
    names = []
    for name in values.names:
        own_values, runs = environment.values.copy(name), runs_of(environment)
        environments = runs if name in environment.values.names else runs[:1]
        try:
            own_values.put_back(*map(assemble, contexts_of(spec, environments, own_values, placement)[:2]))
        except FindingsError:
            names.append(name)
    return names


def _with_network(source: Source, placement: VpcPlacement | None) -> Source:
    if placement is None:
        return source
    value = source.data.get("network")
    network = {**(value if isinstance(value, dict) else {}), **placement.keys}
    return Source(source.file, {**source.data, "network": network}, source.marks)


def _with_allowed_network(environment: Environment, placement: VpcPlacement | None) -> Environment:
    """The environment, in which the VPC that the app's own code names is allowed."""
    if placement is None:
        return environment
    ids = (id for kind in placement.keys.values() for id in kind)
    return environment.model_copy(update={"allowed_networks": (*environment.allowed_networks, *ids)})
