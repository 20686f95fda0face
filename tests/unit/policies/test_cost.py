"""What an endpoint may cost at its most: pools, shadow variants and schedules count, an unknown price is said."""

from __future__ import annotations

import pytest

from fleet.catalog.prices import hosting_price
from fleet.findings import Severity
from policy_fleet import ASK, BY, POOLS, SHADOW, PolicyFleet


class TestCost:
    def test_the_largest_machine_a_hundred_times_is_refused_with_its_cost(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec("scaling: {min: 1, max: 100, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        (refused,) = fleet.findings()
        assert (refused.code, refused.line, refused.severity) == ("FL954", 6, Severity.ERROR)
        assert refused.message == (
            "at its maximum, 100 × ml.p5.48xlarge, the endpoint costs 4,557,600 USD a month;"
            f" policies/platform.yaml:5 allows 20,000 USD {BY}"
        )
        assert refused.hint == f"write another instance type{ASK}"

    def test_the_hint_has_the_number_of_instances_that_is_allowed(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 100000}")
        fleet.spec("scaling: {min: 1, max: 3, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        assert fleet.findings()[0].hint == f"write 2 or fewer, or another instance type{ASK}"
        fleet.spec("scaling: {min: 1, max: 2, gpu_utilization: 60}\n", instance="ml.p5.48xlarge")
        assert fleet.said() == []

    def test_exactly_the_limit_is_allowed_and_a_cent_more_is_not(self, fleet: PolicyFleet) -> None:
        price = hosting_price("ml.g5.xlarge")
        assert price is not None
        month = price.usd_per_hour * 720
        fleet.policy(f"monthly_cost: {{endpoint: {month}}}")
        assert fleet.said() == []
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
        (refused,) = fleet.findings()
        assert (refused.code, refused.line) == ("FL954", line)
        assert "× ml.p5.48xlarge" in refused.message

    def test_a_schedule_counts_at_its_most(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(
            'scaling:\n  min: 1\n  max: 2\n  schedules:\n    - {name: a, at: "rate(1 hours)", max: 90}\n'
        )
        assert fleet.said()[0].startswith("sentences.yaml:10 FL954 at its maximum, 90 × ml.g5.xlarge")

    def test_without_a_price_the_policy_cannot_be_checked_and_a_warning_says_so(
        self, fleet: PolicyFleet
    ) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(instance="ml.g99.xlarge")
        (warned,) = fleet.findings()
        assert (warned.code, warned.severity, warned.line) == ("FL994", Severity.WARNING, 3)
        assert warned.message == (
            "the catalog has no price of ml.g99.xlarge, so the cost is unknown;"
            f" policies/platform.yaml:5 allows 20,000 USD a month {BY}"
        )

    def test_a_type_without_a_price_hides_no_cost_of_the_others(self, fleet: PolicyFleet) -> None:
        fleet.policy("monthly_cost: {endpoint: 20000}")
        fleet.spec(POOLS.replace("ml.g5.xlarge", "ml.g99.xlarge"))
        assert fleet.codes() == ["FL954"]
