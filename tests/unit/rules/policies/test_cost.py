"""Costs of an endpoint at its most: pools, shadow variants and schedules count, an unknown price is said."""

from __future__ import annotations

import pytest

from tests.support.policy_fleet import ASK, BY, POOLS, SHADOW, PolicyFleet
from triton_fleet.catalog.prices import hosting_price
from triton_fleet.findings import Severity

UNPRICED_TYPE = "ml.p6-b200.48xlarge"


class TestCost:
    def test_the_largest_machine_a_hundred_times_is_refused_with_its_cost(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec("scaling: {min: 1, max: 100, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        (refused_finding,) = fleet.findings()
        assert (refused_finding.code, refused_finding.line, refused_finding.severity) == (
            "FL954",
            6,
            Severity.ERROR,
        )
        assert refused_finding.message == (
            "at its maximum, 100 × ml.p5.48xlarge, the endpoint costs ~4,557,312 USD a month"
            " (~: computed from EC2's price of the same size and region);"
            f" policies/platform.yaml:5 allows 20,000 USD {BY}"
        )
        assert refused_finding.hint == f"write another instance type{ASK}"

    def test_the_hint_has_the_number_of_instances_that_is_allowed(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 100000}")
        fleet.spec("scaling: {min: 1, max: 3, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        assert fleet.findings()[0].hint == f"write 2 or fewer, or another instance type{ASK}"
        fleet.spec("scaling: {min: 1, max: 2, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        assert fleet.finding_lines() == []

    def test_exactly_the_limit_is_allowed_and_a_cent_more_is_not(self, fleet: PolicyFleet) -> None:
        price = hosting_price("ml.g5.xlarge", "us-east-1")
        assert price is not None
        month = price.per_hour * 720
        fleet.policy(f"monthly_cost: {{endpoint: {month}}}")
        assert fleet.finding_lines() == []
        fleet.policy(f"monthly_cost: {{endpoint: {float(month) - 0.01}}}")
        assert fleet.codes() == ["FL954"]

    def test_nothing_at_all_may_be_allowed(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 0}")
        assert fleet.codes() == ["FL954"]

    @pytest.mark.parametrize(("raw", "line"), [(POOLS, 10), (SHADOW, 9)])
    def test_pools_and_shadow_variants_count_at_their_most_expensive_type_and_are_pointed_at(
        self, fleet: PolicyFleet, raw: str, line: int
    ) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(raw)
        (refused_finding,) = fleet.findings()
        assert (refused_finding.code, refused_finding.line) == ("FL954", line)
        assert "× ml.p5.48xlarge" in refused_finding.message

    def test_a_schedule_counts_at_its_most(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(
            'scaling:\n  min: 1\n  max: 2\n  schedules:\n    - {name: a, at: "rate(1 hours)", max: 90}\n'
        )
        assert fleet.finding_lines()[0].startswith(
            "sentences.yaml:10 FL954 at its maximum, 90 × ml.g5.xlarge"
        )

    def test_without_a_price_the_policy_cannot_be_checked_and_a_warning_says_so(
        self, fleet: PolicyFleet
    ) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(instance=UNPRICED_TYPE)
        (finding,) = fleet.findings()
        assert (finding.code, finding.severity, finding.line) == ("FL994", Severity.WARNING, 3)
        assert finding.message == (
            f"the catalog has no price of {UNPRICED_TYPE} in us-east-1, so the cost is unknown;"
            f" policies/platform.yaml:5 allows 20,000 USD a month {BY}"
        )
        assert finding.hint == (
            "write its price per hour into prices.yaml at the top of the fleet, with a `date` and"
            f" `prices: {{us-east-1: {{{UNPRICED_TYPE}: PRICE}}}}`{ASK}"
        )

    def test_what_the_hint_names_ends_the_warning(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(instance=UNPRICED_TYPE)
        own = f"date: 2026-11-01\nprices: {{us-east-1: {{{UNPRICED_TYPE}: 20}}}}\n"
        fleet.folder.write("prices.yaml", own)
        assert fleet.finding_lines() == []
        fleet.folder.write("prices.yaml", own.replace(": 20}", ": 30}"))
        (refused_finding,) = fleet.findings()
        assert "the endpoint costs 21,600 USD a month;" in refused_finding.message

    def test_a_limit_is_in_the_currency_of_the_fleets_prices(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 900}")
        fleet.folder.write("prices.yaml", "date: 2026-11-01\ncurrency: EUR\nusd_rate: 0.9\n")
        (refused_finding,) = fleet.findings()  # 1,013.76 USD
        assert "costs 912.38 EUR a month; policies/platform.yaml:5 allows 900 EUR" in refused_finding.message

    def test_a_mistake_in_the_prices_is_reported_and_no_cost_is_known(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 900}")
        fleet.folder.write("prices.yaml", "date: 2026-11-01\ndiscout: 10%\n")
        wrong, unknown = fleet.findings()
        assert (wrong.code, wrong.line, wrong.hint) == ("FL110", 2, "did you mean `discount`?")
        assert unknown.message.startswith("prices.yaml cannot be read, so the cost is unknown")

    def test_an_instance_type_that_the_catalog_lacks_gets_no_price(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(instance="ml.g99.xlarge")
        (finding,) = fleet.findings()
        assert finding.message.startswith("the catalog does not have ml.g99.xlarge, so the cost is unknown")
        assert finding.hint == f"write an instance type that it has{ASK}"

    def test_a_type_without_a_price_hides_no_cost_of_the_others(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(POOLS.replace("ml.g5.xlarge", "ml.g99.xlarge"))
        (refused_finding,) = fleet.findings()
        assert refused_finding.code == "FL954"
        assert "a month, and 1 unknown" in refused_finding.message
