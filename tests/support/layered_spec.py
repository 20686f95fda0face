"""The spec of the fleet folder's endpoint, merged, and where its values come from."""

from __future__ import annotations

from tests.support.fleet_folder import FleetFolder
from triton_fleet.explain.effective_spec import effective_spec
from triton_fleet.project.project import LoadedSpec, open_project
from triton_fleet.spec.endpoint import EndpointSpec


def load_spec(folder: FleetFolder, environment: str = "dev") -> LoadedSpec:
    return open_project(folder.root, environment).load("sentences")


def spec(folder: FleetFolder, environment: str = "dev") -> EndpointSpec:
    return load_spec(folder, environment).spec


def origins(folder: FleetFolder, environment: str = "dev") -> dict[str, str]:
    """Where each value that is written somewhere stands, by its key."""
    actual_origins = effective_spec(load_spec(folder, environment)).origins
    return {
        ".".join(map(str, path)): f"{origin.file.relative_to(folder.root)}:{origin.line} {origin.layer}"
        for path, origin in actual_origins.items()
        if origin.file
    }
