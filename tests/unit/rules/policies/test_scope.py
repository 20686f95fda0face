"""Which endpoints a statement is about: by environment, owner and profile, by name or by pattern."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC
from tests.support.policy_fleet import PolicyFleet
from triton_fleet.rules.policies.file import matches

NO_INSTANCE = "instances: ml.p3.*\n"


@pytest.mark.parametrize(
    ("patterns", "name", "is_expected"),
    [
        (("search",), "search", True),
        (("search",), "search-eu", False),
        (("search-*",), "search-eu", True),
        (("*-eu",), "search-eu", True),
        (("s*-*u",), "search-eu", True),
        (("ads", "se*"), "search", True),
        (("a.c",), "abc", False),
        (("*",), "", True),
    ],
)
def test_a_star_stands_for_any_text_and_nothing_else_for_another(
    patterns: tuple[str, ...], name: str, is_expected: bool
) -> None:
    assert matches(patterns, name) is is_expected


def test_a_pattern_of_many_stars_is_answered_whatever_the_name() -> None:
    assert not matches(("*a" * 20 + "*b",), "a" * 63)  # by backtracking, this takes longer than a life


def test_a_statement_without_when_is_about_every_endpoint(fleet: PolicyFleet) -> None:
    fleet.policy(NO_INSTANCE)
    fleet.spec(name="other")
    assert fleet.codes() == ["FL950", "FL950"]


@pytest.mark.parametrize(
    ("environment", "codes"), [("dev", ["FL950"]), ("[dev, prod]", ["FL950"]), ("prod", []), ("p*", [])]
)
def test_by_environment(fleet: PolicyFleet, environment: str, codes: list[str]) -> None:
    fleet.folder.environment(name="prod")
    fleet.policy(f"{NO_INSTANCE}when: {{environment: {environment}}}")
    assert fleet.codes() == codes


@pytest.mark.parametrize(("owner", "codes"), [("search", ["FL950"]), ("[ads, sea*]", ["FL950"]), ("ads", [])])
def test_by_owner(fleet: PolicyFleet, owner: str, codes: list[str]) -> None:
    fleet.policy(f"{NO_INSTANCE}when: {{owner: {owner}}}")
    fleet.spec("owner: {team: search}\n")
    assert fleet.codes() == codes


def test_one_about_owners_is_not_about_an_endpoint_without(fleet: PolicyFleet) -> None:
    fleet.policy(f"{NO_INSTANCE}when: {{owner: '*'}}")
    assert fleet.codes() == []


def test_an_owner_may_come_from_a_layer_below_the_spec(fleet: PolicyFleet) -> None:
    fleet.policy(f"{NO_INSTANCE}when: {{owner: search}}")
    fleet.folder.write("model_specs/_folder.yaml", "owner: {team: search}\n")
    assert fleet.codes() == ["FL950"]


@pytest.mark.parametrize(("profile", "codes"), [("gpu", ["FL950"]), ("base", ["FL950"]), ("cpu", [])])
def test_by_profile_directly_or_through_another_one(
    fleet: PolicyFleet, profile: str, codes: list[str]
) -> None:
    for name, text in (("base", "logs: {retention_days: 7}\n"), ("gpu", "profile: base\n"), ("cpu", "")):
        fleet.folder.write(f"profiles/{name}.yaml", text or "logs: {retention_days: 7}\n")
    fleet.policy(f"{NO_INSTANCE}when: {{profile: {profile}}}")
    fleet.spec("profile: gpu\n")
    assert fleet.codes() == codes


def test_all_keys_have_to_match(fleet: PolicyFleet) -> None:
    fleet.policy(f"{NO_INSTANCE}when: {{environment: dev, owner: ads}}")
    fleet.spec("owner: {team: search}\n")
    assert fleet.codes() == []


def test_what_a_layer_of_several_sets_is_one_finding_there_with_its_endpoints(fleet: PolicyFleet) -> None:
    fleet.policy(NO_INSTANCE)
    fleet.folder.write("model_specs/_folder.yaml", "instance: {type: ml.g6.xlarge}\n")
    for name in ("a", "b"):
        fleet.folder.spec(name=name, base=SPEC.replace("sentences", name).replace("instance: ", "#"))
    fleet.spec("owner: {team: x}\n", "c")
    findings = [finding for finding in fleet.findings("a", "b") if finding.code == "FL950"]
    assert [(finding.file, finding.endpoints) for finding in findings] == [
        (fleet.folder.root / "model_specs/_folder.yaml", ("a", "b"))
    ]


def test_of_overlapping_statements_each_holds(fleet: PolicyFleet) -> None:
    fleet.policy("instances: ml.g5.*\nmax_instances: 20", "  - {name: small, max_instances: 5}\n")
    fleet.policy("max_instances: 3", name="security")
    fleet.spec("scaling: {min: 1, max: 10, gpu_utilization: 60}\n")
    assert [line.split("; ")[1].split(",")[0] for line in fleet.finding_lines()] == [
        "policies/platform.yaml:7 allows 5 instances (`small`",
        "policies/security.yaml:5 allows 3 instances (`affordable`",
    ]


def test_without_policies_everything_is_allowed(fleet: PolicyFleet) -> None:
    fleet.spec("scaling: {min: 1, max: 100, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
    assert fleet.finding_lines() == []
