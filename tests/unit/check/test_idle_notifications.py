"""A team whose topics no endpoint uses is a warning, where all endpoints are checked."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.run import all_findings
from triton_fleet.findings import Severity
from triton_fleet.project.project import open_project

TOPICS = "notifications:\n  owners:\n    search: {critical: [search@example.com]}\n"


def idle(folder: FleetFolder, *endpoints: str, environment: str = "dev") -> list[str]:
    findings = all_findings(open_project(folder.root, environment, endpoints))
    return [
        f"{finding.line} {finding.message} | {finding.hint}"
        for finding in findings
        if finding.code == "FL518"
    ]


@pytest.fixture
def fleet(folder: FleetFolder) -> FleetFolder:
    """A team of topics whose only spec misspells it."""
    folder.environment(TOPICS)
    folder.spec("owner: {team: serch}\n")
    return folder


def test_a_team_that_owns_nothing_is_reported_with_the_likely_team(fleet: FleetFolder) -> None:
    (finding,) = [finding for finding in fleet.check() if finding.code == "FL518"]
    assert finding.severity is Severity.WARNING
    assert idle(fleet) == [
        "6 `notifications.owners` has 'search', which owns no endpoint of dev"
        " | did you mean `serch`? otherwise remove it"
    ]


def test_a_team_with_an_endpoint_is_right(fleet: FleetFolder) -> None:
    fleet.spec("owner: {team: search}\n")
    assert idle(fleet) == []


def test_without_any_owner_there_is_nothing_to_mean(fleet: FleetFolder) -> None:
    fleet.spec()
    assert idle(fleet)[0].endswith(" | remove it: no spec has an `owner`")


def test_nothing_is_reported_where_not_all_endpoints_are_checked(fleet: FleetFolder) -> None:
    fleet.write("model_specs/other.yaml", SPEC.replace("sentences", "other"))
    assert idle(fleet, "sentences") == []


def test_nothing_is_reported_where_a_spec_cannot_be_read(fleet: FleetFolder) -> None:
    fleet.write("model_specs/other.yaml", "a: [")
    assert idle(fleet) == []


def test_nothing_is_reported_where_endpoints_are_still_to_be_promoted(fleet: FleetFolder) -> None:
    fleet.environment(f"promoted_from: dev\n{TOPICS}", "prod")
    fleet.write("locks/prod/ranking.spec.yaml", SPEC.replace("sentences", "ranking"))
    assert idle(fleet, environment="prod") == []
