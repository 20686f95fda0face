"""Costs of endpoints: their instances at the fewest and at the most, to the cent of arithmetic by hand."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.context.cost import EndpointCost, FleetCost, fleet_cost
from triton_fleet.project.project import open_project

UNPRICED_TYPE = "ml.p6-b200.48xlarge"
"""No source states its price, and no stated price fits a factor of its family."""
RANGE = "scaling: {min: 2, max: 8, gpu_utilization: 60}\n"
NIGHTS = """\
scaling:
  min: 2
  max: 4
  schedules:
    - {name: morning, at: "cron(0 8 ? * * *)", min: 3, max: 6}
    - {name: evening, at: "cron(0 20 ? * * *)", min: 1, max: 4}
"""


def archives(count: int, instance: str = "ml.g4dn.4xlarge", text: str = "") -> str:
    """A multi-model endpoint."""
    entries = "".join(f"  - {{archive: a{index}, repository: ../repository}}\n" for index in range(count))
    return (
        "endpoint: sentences\nmode: multi-model\ntriton: '24.09'\n"
        f"instance: {{type: {instance}}}\nmodels:\n{entries}{text}"
    )


def costs(folder: FleetFolder, names: Sequence[str] = ()) -> FleetCost:
    project = open_project(folder.root, "dev", names)
    specs = [project.load(name).spec for name in project.endpoints]
    return fleet_cost(project.environment, specs, project.fleet.prices)


def cost(folder: FleetFolder, text: str = "", base: str = SPEC) -> EndpointCost:
    folder.spec(text, base=base)
    (endpoint,) = costs(folder).endpoints
    return endpoint


def monthly_costs(endpoint: EndpointCost) -> tuple[str, str]:
    assert endpoint.min_cost is not None
    assert endpoint.max_cost is not None
    return str(endpoint.min_cost.per_month), str(endpoint.max_cost.per_month)


class TestRange:
    def test_without_scaling_it_is_the_count_of_instances_all_the_time(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, base=SPEC.replace("ml.g5.xlarge", "ml.g5.xlarge, count: 3"))
        assert (actual_cost.min_instances, actual_cost.max_instances) == (3, 3)
        assert monthly_costs(actual_cost) == ("3041.28", "3041.28")  # 3 x 1.408 = 4.224, x 720

    def test_with_scaling_it_is_its_range_whatever_it_begins_with(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, RANGE, SPEC.replace("ml.g5.xlarge", "ml.g5.xlarge, count: 3"))
        assert (actual_cost.min_instances, actual_cost.max_instances) == (2, 8)
        assert monthly_costs(actual_cost) == ("2027.52", "8110.08")  # 2 x 1013.76, 8 x 1013.76

    def test_schedules_widen_it_to_both_sides(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, NIGHTS)
        assert (actual_cost.min_instances, actual_cost.max_instances, actual_cost.has_schedules) == (
            1,
            6,
            True,
        )
        assert monthly_costs(actual_cost) == ("1013.76", "6082.56")

    def test_no_instances_cost_nothing(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, RANGE.replace("min: 2", "min: 0"))
        assert (actual_cost.min_instances, monthly_costs(actual_cost)[0]) == (0, "0.00")

    def test_an_environment_overrides_the_spec(self, folder: FleetFolder) -> None:
        folder.environment("overrides: {sentences: {instance: {type: ml.g5.2xlarge}, scaling: {max: 3}}}\n")
        assert monthly_costs(cost(folder, RANGE)) == ("2181.60", "3272.40")  # 1.515 x 2 x 720, x 3 x 720

    def test_prices_are_exact_where_binary_numbers_are_not(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, base=SPEC.replace("ml.g5.xlarge", "ml.g6.xlarge, count: 3"))
        assert actual_cost.min_cost is not None
        assert actual_cost.min_cost.per_hour == Decimal("3.3801")  # 3 x 1.1267; as floats 3.3800999999999997
        assert actual_cost.min_cost.per_month == Decimal("2433.67")  # 2433.672


class TestSaving:
    def test_two_ensembles_on_one_endpoint_save_half_and_13183_80_a_year(self, folder: FleetFolder) -> None:
        saving = cost(folder, base=archives(2)).saving
        assert saving is not None
        assert (saving.separate_cost.per_hour, saving.own_cost.per_hour) == (
            Decimal("3.010"),
            Decimal("1.505"),
        )
        assert saving.percent == 50
        assert saving.cost.per_year == Decimal("13183.80")  # 1.505 x 8760

    def test_three_models_in_one_container_cost_676_80_a_month(self, folder: FleetFolder) -> None:
        actual_cost = cost(folder, base=SPEC.replace("ml.g5.xlarge", "ml.g4dn.2xlarge"))
        assert monthly_costs(actual_cost) == ("676.80", "676.80")  # 0.94 x 24 x 30
        assert actual_cost.saving is None

    def test_three_routes_on_one_instance_save_two_thirds_of_three_endpoints(
        self, folder: FleetFolder
    ) -> None:
        routes = "mode: shared-container\nroutes: {resnet: a, yolov5: b, bert_base: c}\n"
        actual_cost = cost(folder, routes, base=SPEC.replace("ml.g5.xlarge", "ml.g4dn.2xlarge"))
        assert monthly_costs(actual_cost) == ("676.80", "676.80")
        assert actual_cost.saving is not None
        assert actual_cost.saving.separate_cost.per_month == Decimal("2030.40")  # 3 x 0.94 x 24 x 30
        assert actual_cost.saving.percent == Decimal("66.67")
        assert (
            actual_cost.saving.hours == 8
        )  # 24 / 3: three endpoints that run a third of the day cost the same

    def test_more_instances_at_the_fewest_save_less(self, folder: FleetFolder) -> None:
        saving = cost(folder, RANGE, archives(3)).saving
        assert saving is not None
        assert saving.percent == Decimal("33.33")  # one instance of three
        assert saving.cost.per_year == Decimal("13183.80")

    def test_fewer_archives_than_instances_are_no_saving(self, folder: FleetFolder) -> None:
        saving = cost(folder, RANGE.replace("min: 2", "min: 3"), archives(2)).saving
        assert saving is not None
        assert (saving.percent, saving.cost.per_hour) == (Decimal(-50), Decimal("-1.505"))

    def test_each_copy_counts(self, folder: FleetFolder) -> None:
        base = archives(1).replace("../repository", "../repository, copies: 10000")
        saving = cost(folder, base=base).saving
        assert saving is not None
        assert saving.percent == Decimal("99.99")

    @pytest.mark.parametrize("base", [archives(1), archives(2, UNPRICED_TYPE)])
    def test_of_one_archive_or_without_a_price_none_is_told(self, folder: FleetFolder, base: str) -> None:
        assert cost(folder, base=base).saving is None


class TestFleet:
    def test_the_sum_is_of_all_that_have_a_price(self, folder: FleetFolder) -> None:
        folder.spec(RANGE)
        folder.spec(name="other", base=SPEC.replace("sentences", "other").replace("g5.x", "g6e.16x"))
        folder.spec(name="new", base=SPEC.replace("sentences", "new").replace("ml.g5.xlarge", UNPRICED_TYPE))
        cost = costs(folder)
        assert cost.min_cost is not None
        assert cost.max_cost is not None
        assert cost.min_cost.per_hour == Decimal("12.2875")  # 2 x 1.408 + 9.4715
        assert cost.max_cost.per_month == Decimal("14929.56")  # (8 x 1.408 + 9.4715) x 720
        assert [item.endpoint for item in cost.unpriced_endpoints] == ["new"]
        certain = {endpoint.endpoint: endpoint.certain for endpoint in cost.endpoints}
        assert certain == {"sentences": True, "other": False, "new": False}

    def test_where_nothing_has_a_price_there_is_no_sum(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("ml.g5.xlarge", UNPRICED_TYPE))
        assert (costs(folder).min_cost, costs(folder).max_cost) == (None, None)

    def test_a_computed_price_is_of_the_region_and_not_certain(self, folder: FleetFolder) -> None:
        file = folder.root / "environments/dev.yaml"
        file.write_text(file.read_text().replace("us-east-1", "eu-west-1"))
        (endpoint,) = costs(folder).endpoints
        assert endpoint.price is not None
        assert (endpoint.price.per_hour, endpoint.certain) == (Decimal("1.5722"), False)  # EC2's 1.123 x 1.4

    def test_no_instances_cost_nothing_whatever_one_costs(self, folder: FleetFolder) -> None:
        scaling = "scaling: {min: 0, max: 2, gpu_utilization: 60}\n"
        actual_cost = cost(folder, scaling, SPEC.replace("ml.g5.xlarge", UNPRICED_TYPE))
        assert actual_cost.min_cost is not None
        assert actual_cost.min_cost.per_hour == 0
        assert actual_cost.max_cost is None

    @pytest.mark.parametrize(("on", "count", "usd"), [("true", 1, "3.00"), ("false", 0, "0.00")])
    def test_dashboards_are_told_beside_the_sum(
        self, folder: FleetFolder, on: str, count: int, usd: str
    ) -> None:
        folder.environment(f"dashboards: {on}\n")
        cost = costs(folder)
        assert (cost.dashboards, str(cost.dashboards_per_month)) == (count, usd)
        assert cost.min_cost is not None
        assert cost.min_cost.per_hour == Decimal("1.408")
