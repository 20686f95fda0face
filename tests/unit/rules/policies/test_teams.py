"""Costs of all endpoints of a team at the most, in one environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.policy_fleet import BY, TODAY, PolicyFleet
from triton_fleet.findings import Severity
from triton_fleet.project.project import open_project
from triton_fleet.rules.policies.check import policy_findings

MONTH = 1013.76
"""US dollars of an ml.g5.xlarge."""
UNPRICED_TYPE = "ml.p6-b200.48xlarge"
BUDGET = "monthly_cost: {owner: 5000}"


def own(fleet: PolicyFleet, name: str, maximum: int, team: str = "search", more: str = "") -> None:
    fleet.spec(
        f"owner: {{team: {team}}}\nscaling: {{min: 1, max: {maximum}, gpu_utilization: 60}}\n{more}", name
    )


@pytest.fixture
def team(fleet: PolicyFleet) -> PolicyFleet:
    """Three endpoints of a team, 2 + 3 + 1 instances at the most: 6,082.56 USD a month."""
    for name, maximum in (("sentences", 1), ("bert", 3), ("images", 2)):
        own(fleet, name, maximum)
    return fleet


def test_a_team_over_its_budget_is_one_finding_at_its_most_expensive_endpoint(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    (refused_finding,) = team.findings()
    assert (refused_finding.code, refused_finding.severity) == ("FL955", Severity.ERROR)
    assert (refused_finding.file, refused_finding.line) == (team.folder.root / "model_specs/bert.yaml", 7)
    assert refused_finding.message == (
        f"at their maximum, the endpoints of search in 'dev' cost {6 * MONTH:,.2f} USD a month"
        f" (bert {3 * MONTH:,.2f} USD, images {2 * MONTH:,.2f} USD, sentences {MONTH:,.2f} USD);"
        f" policies/platform.yaml:5 allows 5,000 USD {BY}"
    )


def test_those_that_are_not_checked_count_and_the_finding_stands_at_one_that_is(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    (refused_finding,) = team.findings("sentences")
    assert refused_finding.file == team.folder.root / "model_specs/sentences.yaml"
    assert f"cost {6 * MONTH:,.2f} USD a month" in refused_finding.message


def test_a_budget_is_that_of_each_team(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    own(team, "bert", 3, "ads")
    assert team.finding_lines() == []


def test_the_budget_of_another_team_is_nothing_to_an_endpoint(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    own(team, "other", 1, "ads")
    assert team.finding_lines("other") == []


def test_an_endpoint_without_an_owner_counts_for_nobody(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    team.spec("scaling: {min: 1, max: 3, gpu_utilization: 60}\n", "bert")
    assert team.finding_lines() == []


def test_only_endpoints_that_the_statement_is_about_count(team: PolicyFleet) -> None:
    team.folder.write("profiles/gpu.yaml", "logs: {retention_days: 7}\n")
    team.policy(f"{BUDGET}\nwhen: {{profile: gpu}}")
    own(team, "bert", 3, more="profile: gpu\n")
    assert team.finding_lines() == []


def test_the_sum_is_of_one_environment_with_its_overrides(team: PolicyFleet) -> None:
    team.policy(BUDGET)
    team.folder.environment("overrides: {bert: {scaling: {max: 1}}}\n")
    team.folder.environment(name="prod")
    assert team.codes() == []
    assert team.codes(environment="prod") == ["FL955"]


def test_an_endpoint_with_an_exception_is_left_out_of_the_sum(team: PolicyFleet) -> None:
    team.policy(
        BUDGET,
        "exceptions:\n  - {statement: affordable, endpoints: bert, reason: a test, until: 2027-03-31}\n",
    )
    assert team.finding_lines() == []
    own(team, "images", 5)
    assert [line.partition(" (")[0] for line in team.finding_lines()] == [
        f"images.yaml:7 FL955 at their maximum, the endpoints of search in 'dev' cost {6 * MONTH:,.2f} USD a month"
    ]


def test_an_exception_that_the_sum_does_not_need_is_unused(team: PolicyFleet) -> None:
    team.policy(
        "monthly_cost: {owner: 50000}",
        "exceptions:\n  - {statement: affordable, endpoints: bert, reason: a test, until: 2027-03-31}\n",
    )
    assert team.codes() == ["FL993"]


def test_an_endpoint_with_an_exception_is_not_refused_for_the_others_of_its_team(team: PolicyFleet) -> None:
    team.policy(
        "monthly_cost: {owner: 1500}",
        "exceptions:\n  - {statement: affordable, endpoints: bert, reason: a test, until: 2027-03-31}\n",
    )
    assert team.finding_lines("bert") == []
    assert team.codes("images") == ["FL955"]


def test_an_exception_that_ended_is_named(team: PolicyFleet) -> None:
    team.policy(
        BUDGET,
        "exceptions:\n  - {statement: affordable, endpoints: bert, reason: a test, until: 2026-03-31}\n",
    )
    over, _ = team.finding_lines()
    assert over.endswith("The exception in policies/platform.yaml:7 ended on 2026-03-31")


def test_a_draft_counts_in_place_of_the_spec_of_its_name(team: PolicyFleet, tmp_path: Path) -> None:
    team.policy(BUDGET)
    project = open_project(team.folder.root, "dev")
    draft = tmp_path / "draft.yaml"
    draft.write_text((team.folder.root / "model_specs/bert.yaml").read_text().replace("max: 3", "max: 1"))
    assert policy_findings(project, [project.draft(draft)], TODAY) == []
    draft.write_text((team.folder.root / "model_specs/bert.yaml").read_text().replace("max: 3", "max: 2"))
    (refused_finding,) = policy_findings(project, [project.draft(draft)], TODAY)
    assert refused_finding.file == draft


def test_an_endpoint_without_a_price_is_a_warning_beside_the_sum_of_the_others(team: PolicyFleet) -> None:
    team.policy("monthly_cost: {owner: 50000}")
    team.spec("owner: {team: search}\n", "bert", instance=UNPRICED_TYPE)
    (finding,) = team.findings()
    assert (finding.code, finding.severity, finding.line) == ("FL994", Severity.WARNING, 3)
    assert finding.message.startswith(
        f"the catalog has no price of {UNPRICED_TYPE} in us-east-1, so the cost of bert is unknown;"
        " search costs 3,041.28 USD a month, and 1 unknown; policies/platform.yaml:5 allows 50,000 USD"
    )


def test_an_unknown_cost_of_an_endpoint_that_is_not_checked_is_not_taken_for_0(team: PolicyFleet) -> None:
    team.policy("monthly_cost: {owner: 50000}")
    team.spec("owner: {team: search}\n", "bert", instance=UNPRICED_TYPE)
    (finding,) = team.findings("images")
    assert (finding.code, finding.file) == ("FL994", team.folder.root / "model_specs/images.yaml")
    assert (
        "so the cost of bert is unknown; search costs 3,041.28 USD a month, and 1 unknown" in finding.message
    )


def test_a_team_over_its_budget_has_the_number_of_unknown_costs_too(team: PolicyFleet) -> None:
    team.policy("monthly_cost: {owner: 3000}")
    team.spec("owner: {team: search}\n", "bert", instance=UNPRICED_TYPE)
    (refused_line,) = team.finding_lines()
    assert refused_line.startswith(
        "images.yaml:7 FL955 at their maximum, the endpoints of search in 'dev' cost 3,041.28 USD a month, and 1 unknown"
        " (images 2,027.52 USD, sentences 1,013.76 USD, bert unknown); policies/platform.yaml:5 allows 3,000 USD"
    )


def test_an_endpoint_that_cannot_be_read_is_a_warning_in_the_sum_of_others(team: PolicyFleet) -> None:
    team.policy("monthly_cost: {owner: 50000}")
    team.folder.write("model_specs/images.yaml", "endpoint: images\nowner: search\n")
    (finding,) = team.findings("bert")
    assert (finding.code, finding.severity, finding.line) == ("FL994", Severity.WARNING, 1)
    assert finding.hint == "run `fleet check --env dev images`"


def test_other_specs_are_read_only_where_a_team_has_a_budget(team: PolicyFleet) -> None:
    team.policy("max_instances: 100")
    team.folder.write("model_specs/images.yaml", "endpoint: images\nowner: search\n")
    assert team.finding_lines("bert") == []


@pytest.mark.parametrize(
    "raw",
    [
        "ProductionVariants.0.InstancePools: [{InstanceType: {Ref: Big}, Priority: 1}]",
        "ProductionVariants.0.InitialInstanceCount: {Ref: Count}",
    ],
)
def test_a_cost_that_cloudformation_computes_is_refused(team: PolicyFleet, raw: str) -> None:
    team.policy("monthly_cost: {owner: 100000}")
    own(team, "bert", 3, more=f"cloudformation: {{EndpointConfig: {{{raw}}}}}\n")
    (refused_finding,) = team.findings()
    assert (refused_finding.code, refused_finding.severity, refused_finding.line) == (
        "FL955",
        Severity.ERROR,
        8,
    )
    assert "that is not written out, so that no policy can check it" in refused_finding.message
