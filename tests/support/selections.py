"""What arguments select in the environment `dev` of a fleet."""

from __future__ import annotations

import pytest

from fleet.findings import Finding, FindingsError
from fleet.selection.paths import Selection
from fleet.selection.selector import Selector
from fleet_folder import FleetFolder


def selection(fleet: FleetFolder, *arguments: str, drafts: bool = False) -> Selection:
    return Selector(fleet.root, "dev", drafts=drafts).select(arguments)


def refusal(fleet: FleetFolder, *arguments: str) -> Finding:
    """The one finding with which arguments are refused."""
    with pytest.raises(FindingsError) as refused:
        selection(fleet, *arguments)
    (found,) = refused.value.findings
    return found
