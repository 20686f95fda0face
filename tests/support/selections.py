"""What arguments select in the environment `dev` of a fleet, and for which environments all specs are read."""

from __future__ import annotations

import pytest

from fleet.findings import Finding, FindingsError
from fleet.selection import selector
from fleet.selection.inputs import FleetInputs
from fleet.selection.paths import Selection
from fleet.selection.selector import Selector
from fleet.spec.project import Fleet, Project
from tests.support.fleet_folder import FleetFolder


def selection(fleet: FleetFolder, *arguments: str, drafts: bool = False) -> Selection:
    return Selector(Fleet(fleet.root), "dev", drafts=drafts).select(arguments)


def refusal(fleet: FleetFolder, *arguments: str) -> Finding:
    """The one finding with which arguments are refused."""
    with pytest.raises(FindingsError) as refused:
        selection(fleet, *arguments)
    (found,) = refused.value.findings
    return found


def environments_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that gets an environment each time that its specs are read to find who uses a path."""
    read = list[str]()

    class Counted(FleetInputs):
        def __init__(self, project: Project) -> None:
            super().__init__(project)
            read.append(project.environment.environment)

    monkeypatch.setattr(selector, FleetInputs.__name__, Counted)
    return read
