"""The catalog's smaller data: prices, limits, metrics, and what every data file says of itself."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from botocore.model import ServiceModel

import triton_fleet.catalog
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import Processor, hosted_in, instance
from triton_fleet.catalog.limits import limit, limits
from triton_fleet.catalog.metrics import endpoint_metric, triton_metric, triton_series
from triton_fleet.catalog.prices import computed_price, hosting_price

FILES = sorted(path.name for path in (Path(triton_fleet.catalog.__path__[0]) / "data").iterdir())


@pytest.mark.parametrize("name", FILES)
def test_every_data_file_says_its_source_and_its_date(name: str) -> None:
    data = data_file(name)
    assert list(data)[:2] == ["source", "date"]
    assert len(data["source"]) > 10
    assert date.fromisoformat(str(data["date"])) > date(2026, 1, 1)


def test_a_stated_price_is_told_from_a_computed_one() -> None:
    price, computed_price = (
        hosting_price("ml.c5.large", "us-east-1"),
        hosting_price("ml.c5.large", "eu-west-1"),
    )
    assert price is not None
    assert computed_price is not None
    assert (price.per_hour, price.certain) == (Decimal("0.102"), True)
    assert (computed_price.per_hour, computed_price.certain) == (
        Decimal("0.1152"),
        False,
    )  # EC2's 0.096 x 1.2
    assert computed_price.origin == "computed from EC2's price of the same size and region"


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("ml.p3.2xlarge", "us-east-1"),
        ("ml.nothing", "us-east-1"),
        ("ml.inf2.xlarge", "eu-west-1"),  # no stated price fits a factor of its family
        ("ml.c5.large", "cn-north-1"),
    ],
)
def test_without_a_source_there_is_no_price(name: str, region: str) -> None:
    assert hosting_price(name, region) is None


def test_every_price_is_of_a_type_that_its_region_hosts() -> None:
    lines = {
        region: {f"ml.{family}.{size}" for family, sizes in families.items() for size in sizes}
        for region, families in data_file("ec2_prices.json")["regions"].items()
    }
    for region, names in [*data_file("prices.yaml")["stated"].items(), *lines.items()]:
        assert set(names) <= set(hosted_in(region)), region


def test_every_factor_fits_the_stated_prices() -> None:
    fits = {"cpu": 0, "g": 0, "p": 0}
    for region, statements in data_file("prices.yaml")["stated"].items():
        for name, price in statements.items():
            if (computed_values := computed_price(name, region)) is not None:
                assert abs(
                    computed_values.per_hour - Decimal(str(price))
                ) / computed_values.per_hour < Decimal("0.006"), name
                fits["cpu" if instance(name).kind is Processor.CPU else instance(name).family[0]] += 1
    assert fits == {"cpu": 6, "g": 37, "p": 1}


def test_the_page_counts_the_prices(root: Path) -> None:
    prices = [
        hosting_price(name, region)
        for region in data_file("availability.yaml")["regions"]
        for name in hosted_in(region)
    ]
    total = sum(price is not None and price.certain for price in prices)
    unknown = sum(price is None for price in prices)
    words = (
        f"There are {len(prices):,} pairs of an instance type and a region that hosts it: sources state the price"
        f" of {total}, {len(prices) - total - unknown:,} are computed, and {unknown} are unknown."
    )
    assert words in " ".join((root / "docs/add/catalog.md").read_text().split())


def test_every_cpu_type_has_a_price_where_ec2s_prices_are_known() -> None:
    regions = data_file("ec2_prices.json")["regions"]
    assert len(regions) == 34
    unknown = [
        (name, region)
        for region in regions
        for name in hosted_in(region)
        if instance(name).kind is Processor.CPU and hosting_price(name, region) is None
    ]
    assert unknown == []


def test_a_limit_is_in_one_file_and_positive() -> None:
    assert len(limits()) == len(data_file("limits.yaml")["limits"]) + len(
        data_file("documented_limits.yaml")["limits"]
    )
    assert [name for name in limits() if limit(name) <= 0] == []


@pytest.mark.parametrize("name", data_file("limits.yaml")["limits"])
def test_a_limit_of_an_api_is_the_one_of_botocores_model(name: str) -> None:
    service, shape, text = data_file("limits.yaml")["limits"][name]["source"].split()
    assert limit(name) == service_model(service).shape_for(shape).metadata[text]


@cache
def service_model(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


def test_limits_that_no_model_states() -> None:
    assert (limit("environment_bytes"), limit("stack_resources")) == (32768, 500)
    with pytest.raises(KeyError):
        limit("patience_seconds")


def test_a_metric_says_which_endpoints_have_it_and_by_what_it_is_found() -> None:
    assert endpoint_metric("invocations").kinds == ("all",)
    assert endpoint_metric("loaded_model_count").kinds == ("multi-model",)
    assert endpoint_metric("gpu_utilization").kinds == ("gpu",)
    assert endpoint_metric("gpu_utilization").dimensions == ("EndpointName", "VariantName")
    assert endpoint_metric("model_latency").unit == "Microseconds"


def test_every_metric_has_a_unit_a_namespace_and_a_name_of_its_own() -> None:
    metrics = [endpoint_metric(measure) for measure in data_file("metrics.yaml")["metrics"]]
    assert len({(metric.namespace, metric.name) for metric in metrics}) == len(metrics)
    assert {metric.unit for metric in metrics} == {"Microseconds", "None", "Percent"}
    assert {metric.namespace for metric in metrics} == {"AWS/SageMaker", "/aws/sagemaker/Endpoints"}


def test_tritons_own_metrics_have_its_prefix() -> None:
    measures = data_file("metrics.yaml")["triton"]
    assert [measure for measure in measures if not triton_metric(measure).startswith("nv_")] == []
    assert len(measures) == len({triton_metric(measure) for measure in measures})


def test_the_metrics_that_the_local_endpoint_can_publish_are_those_that_its_code_names() -> None:
    code = "".join(
        path.read_text() for path in (Path(triton_fleet.catalog.__file__).parents[1] / "local").rglob("*.py")
    )
    measures = data_file("metrics.yaml")["metrics"]
    assert {measure for measure in measures if endpoint_metric(measure).local} == {
        measure for measure in measures if f'"{measure}"' in code
    }
    tritons = data_file("metrics.yaml")["triton"]
    assert {triton for triton in tritons if not triton_series(triton).local} == {
        triton for triton in tritons if "gpu" in triton_series(triton).kinds
    }
