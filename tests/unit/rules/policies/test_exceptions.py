"""Exceptions of a policy: what they excuse, until when, and which are to be cleared away."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.policy_fleet import BY, PolicyFleet
from triton_fleet.findings import Severity


def exception(text: str = "", until: str = "2027-03-31", endpoints: str = "sentences") -> str:
    return (
        f"exceptions:\n  - statement: affordable\n    endpoints: {endpoints}\n"
        f"    reason: the index is rebuilt\n    until: {until}\n{text}"
    )


LARGE = "max_instances: 2\nmonthly_cost: {endpoint: 2000}"
MANY = "scaling: {min: 1, max: 9, gpu_utilization: 60}\n"


class TestDays:
    @pytest.mark.parametrize(
        ("day", "codes"),
        [
            (date(2027, 3, 23), []),
            (date(2027, 3, 24), ["FL992"]),
            (date(2027, 3, 31), ["FL992"]),
            (date(2027, 4, 1), ["FL953", "FL954", "FL991"]),
        ],
    )
    def test_it_holds_until_its_last_day_and_warns_for_a_week_before(
        self, fleet: PolicyFleet, day: date, codes: list[str]
    ) -> None:
        fleet.policy(LARGE, exception())
        fleet.spec(MANY)
        assert fleet.codes(today=day) == codes

    @pytest.mark.parametrize(
        ("day", "remaining_text"),
        [
            (date(2027, 3, 24), "7 days are left"),
            (date(2027, 3, 30), "1 day is left"),
            (date(2027, 3, 31), "today is its last day"),
        ],
    )
    def test_the_warning_stands_at_its_day_and_names_who_needs_it(
        self, fleet: PolicyFleet, day: date, remaining_text: str
    ) -> None:
        fleet.policy(LARGE, exception())
        fleet.spec(MANY)
        (finding,) = fleet.findings(today=day)
        assert (finding.severity, finding.line) == (Severity.WARNING, 11)
        assert (
            finding.message
            == f"the exception for sentences from `affordable` ends on 2027-03-31: {remaining_text}"
        )
        assert finding.hint == "change sentences, or set another day; the reason was: the index is rebuilt"

    def test_afterwards_the_refusal_names_it_and_it_is_to_be_taken_out(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 2", exception())
        fleet.spec(MANY)
        refused_finding, finding = fleet.findings(today=date(2027, 4, 1))
        assert refused_finding.message == (
            f"`scaling.max` is 9; policies/platform.yaml:5 allows 2 instances {BY}."
            " The exception in policies/platform.yaml:7 ended on 2027-03-31"
        )
        assert (finding.severity, finding.line) == (Severity.WARNING, 10)
        assert finding.message == "the exception for sentences from `affordable` ended on 2027-03-31"
        assert finding.hint == "remove it, or set another day"

    def test_one_that_ends_soon_and_that_nobody_needs_is_unused(self, fleet: PolicyFleet) -> None:
        fleet.policy(LARGE, exception())
        assert fleet.codes(today=date(2027, 3, 31)) == ["FL993"]


class TestExtent:
    @pytest.mark.parametrize(
        ("allows", "codes"),
        [
            ("[max_instances]", ["FL954"]),
            ("[monthly_cost]", ["FL953"]),
            ("[monthly_cost.endpoint]", ["FL953"]),
            ("[monthly_cost.owner]", ["FL953", "FL954", "FL993"]),
            ("[max_instances, monthly_cost]", []),
        ],
    )
    def test_it_excuses_the_keys_that_it_names_or_all(
        self, fleet: PolicyFleet, allows: str, codes: list[str]
    ) -> None:
        fleet.policy(LARGE, exception(f"    allows: {allows}\n"))
        fleet.spec(MANY)
        assert fleet.codes() == codes

    def test_one_requirement_may_be_excused_alone(self, fleet: PolicyFleet) -> None:
        fleet.policy("require: {samples: 1, owner: true}", exception("    allows: [require.samples]\n"))
        assert [line.split(";")[0] for line in fleet.finding_lines()] == [
            "sentences.yaml:1 FL990 `owner` is missing"
        ]

    def test_it_is_of_the_endpoints_whose_names_match(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 2", exception(endpoints="[sent*, bert-1]"))
        for name in ("sentences", "bert-1", "bert-12"):
            fleet.spec(MANY, name)
        assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
            "bert-12.yaml:6 FL953 `scaling.max` is 9"
        ]

    @pytest.mark.parametrize(("environment", "codes"), [("dev", []), ("'*'", []), ("prod", ["FL953"])])
    def test_it_may_be_of_some_environments(
        self, fleet: PolicyFleet, environment: str, codes: list[str]
    ) -> None:
        fleet.folder.environment(name="prod")
        fleet.policy("max_instances: 2", exception(f"    environment: {environment}\n"))
        fleet.spec(MANY)
        assert fleet.codes() == codes

    def test_it_is_of_its_own_statement_and_its_own_policy(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 2", "  - {name: other, max_instances: 3}\n" + exception())
        fleet.policy("max_instances: 2", name="security")
        fleet.spec(MANY)
        assert [line.partition("; ")[2].split(",")[0] for line in fleet.finding_lines()] == [
            "policies/platform.yaml:6 allows 3 instances (`other`",
            "policies/security.yaml:5 allows 2 instances (`affordable`",
        ]

    def test_what_stands_in_the_environments_file_is_refused_for_the_others(self, fleet: PolicyFleet) -> None:
        fleet.policy("regions: eu-*", exception())
        fleet.spec(name="bert")
        assert fleet.findings()[0].endpoints == ()
        fleet.policy("regions: eu-*", exception(endpoints="'*'"))
        assert fleet.finding_lines() == []

    def test_no_spec_can_allow_itself_what_a_policy_refuses(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 2")
        fleet.spec(f"{MANY}allow: {{too-many-instances: we want to, FL953: we want to}}\n")
        assert fleet.codes() == ["FL953"]


class TestUnused:
    def test_one_that_excuses_nothing_is_a_warning(self, fleet: PolicyFleet) -> None:
        fleet.policy(LARGE, exception())
        (finding,) = fleet.findings()
        assert (finding.code, finding.severity, finding.line) == ("FL993", Severity.WARNING, 8)
        assert finding.message == "the exception from `affordable` for sentences excuses nothing in 'dev'"

    def test_one_for_an_endpoint_that_does_not_exist_is_a_warning(self, fleet: PolicyFleet) -> None:
        fleet.policy(LARGE, exception(endpoints="[sentense, bert-*]"))
        assert fleet.finding_lines() == [
            "platform.yaml:8 FL993 the exception from `affordable` names sentense or bert-*, which matches no"
            " endpoint of this fleet"
        ]

    def test_one_of_a_statement_about_other_environments_is_not(self, fleet: PolicyFleet) -> None:
        fleet.folder.environment(name="prod")
        fleet.policy(f"{LARGE}\nwhen: {{environment: prod}}", exception())
        assert fleet.finding_lines() == []

    def test_one_from_a_statement_about_another_team_is_a_warning(self, fleet: PolicyFleet) -> None:
        fleet.policy(f"{LARGE}\nwhen: {{owner: search}}", exception())
        fleet.spec("owner: {team: ads}\n")
        assert fleet.finding_lines() == [
            "platform.yaml:9 FL993 the exception from `affordable` is for sentences, to which the statement does"
            " not apply"
        ]

    def test_one_for_an_endpoint_of_another_environment_is_not(self, fleet: PolicyFleet) -> None:
        fleet.folder.environment(name="prod")
        fleet.policy(LARGE, exception(endpoints="other"))
        fleet.spec("environments: [prod]\n", name="other")
        assert fleet.finding_lines() == []

    @pytest.mark.parametrize(("environment", "codes"), [("dev", []), ("prod", ["FL991"])])
    def test_the_end_of_one_is_reported_where_its_statement_applies(
        self, fleet: PolicyFleet, environment: str, codes: list[str]
    ) -> None:
        fleet.folder.environment(name="prod")
        fleet.policy(f"{LARGE}\nwhen: {{environment: prod}}", exception())
        assert fleet.codes(environment=environment, today=date(2027, 4, 1)) == codes

    def test_it_is_not_where_only_some_endpoints_are_checked(self, fleet: PolicyFleet) -> None:
        fleet.policy(LARGE, exception())
        fleet.spec(name="other")
        assert fleet.finding_lines("other") == []
        assert fleet.codes() == ["FL993"]
