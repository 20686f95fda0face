"""Endpoints that arguments select in the environment `dev`, and for which environments all specs are read."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Fleet, Project
from triton_fleet.selection import selector
from triton_fleet.selection.paths import FleetInputs, Selection
from triton_fleet.selection.selector import Selector


def selection(fleet: FleetFolder, *arguments: str, drafts: bool = False) -> Selection:
    return Selector(Fleet(fleet.root), "dev", drafts=drafts).select(arguments)


def refusal(fleet: FleetFolder, *arguments: str) -> Finding:
    """The one finding with which arguments are refused."""
    with pytest.raises(FindingsError) as refusal_info:
        selection(fleet, *arguments)
    (finding,) = refusal_info.value.findings
    return finding


def environments_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that gets an environment each time that its specs are read to find who uses a path."""
    read = list[str]()

    class CommandCounts(FleetInputs):
        def __init__(self, project: Project) -> None:
            super().__init__(project)
            read.append(project.environment.environment)

    monkeypatch.setattr(selector, FleetInputs.__name__, CommandCounts)
    return read
