"""`make catalog PRICES=FILE QUOTAS=FILE`: what AWS's own lists state, as somebody saved them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.catalog_samples import CatalogSamples

ORIGIN = "AWS price list AmazonSageMaker 20261120000000"


def test_the_price_of_hosting_is_that_of_the_list_on_the_day_of_its_publication(
    catalog: CatalogSamples,
) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["1.4200000000"]}))
    assert run.lines == [
        f"prices.yaml: ml.g5.xlarge: 1.408 USD is now 1.42 USD in us-east-1 ({ORIGIN}, 2026-11-20)"
    ]
    assert catalog.read("prices.yaml") == {
        "source": f"{ORIGIN}, on demand, hosting, us-east-1",
        "date": catalog.read("prices.yaml")["date"],
        "stated": {"us-east-1": {"ml.g5.xlarge": 1.42}},
    }
    assert catalog.read("prices.yaml")["date"].isoformat() == "2026-11-20"


def test_prices_are_in_the_order_of_the_instance_types(catalog: CatalogSamples) -> None:
    catalog.refresh("--prices", catalog.price_list({"ml.g5.2xlarge": ["1.515"], "ml.g5.xlarge": ["1.42"]}))
    text = (catalog.data / "prices.yaml").read_text()
    assert text.endswith("stated:\n  us-east-1: {ml.g5.xlarge: 1.42, ml.g5.2xlarge: 1.515}\n")


def test_the_same_list_again_is_no_news(catalog: CatalogSamples) -> None:
    path = catalog.price_list({"ml.g5.xlarge": ["1.42"]})
    catalog.refresh("--prices", path)
    assert catalog.refresh("--prices", path).lines == ["no news"]


def test_a_free_tier_is_no_price(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["0.0000000000", "1.42"]}))
    assert catalog.read("prices.yaml")["stated"]["us-east-1"] == {"ml.g5.xlarge": 1.42}
    assert run.code == 0


def test_several_prices_of_one_type_are_left_to_people(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["1.42", "1.5"]}))
    text = f"ml.g5.xlarge stays 1.408 USD: {ORIGIN} has several prices, 1.42, 1.5 USD"
    assert run.lines[-1] == f"by hand: prices.yaml: {text}"


def test_a_price_that_the_list_lacks_stays(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.2xlarge": ["1.515"]}))
    assert f"by hand: prices.yaml: ml.g5.xlarge stays 1.408 USD: {ORIGIN} does not have it" in run.lines
    assert catalog.read("prices.yaml")["stated"]["us-east-1"] == {
        "ml.g5.2xlarge": 1.515,
        "ml.g5.xlarge": 1.408,
    }


def test_a_list_of_another_region_leaves_the_other_prices_as_they_are(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["1.57"]}, region="eu-west-1"))
    assert run.lines == [f"prices.yaml: ml.g5.xlarge: new, 1.57 USD in eu-west-1 ({ORIGIN}, 2026-11-20)"]
    assert catalog.read("prices.yaml")["stated"] == {
        "us-east-1": {"ml.g5.xlarge": 1.408},
        "eu-west-1": {"ml.g5.xlarge": 1.57},
    }


def test_a_price_of_a_type_that_nobody_has_described_is_not_taken(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["1.408"], "ml.g9.xlarge": ["2"]}))
    assert run.lines[-1].startswith("by hand: instances.yaml: ml.g9.xlarge has a price in ")
    assert "ml.g9.xlarge" not in catalog.read("prices.yaml")["stated"]["us-east-1"]


def test_an_older_list_is_not_read(catalog: CatalogSamples) -> None:
    run = catalog.refresh("--prices", catalog.price_list({"ml.g5.xlarge": ["1.3"]}, day="2026-05-01"))
    text = f"it is of captures, 2026-08-21; {ORIGIN}, 2026-05-01 is older and was not read"
    assert run.lines == [f"by hand: prices.yaml: {text}"]
    assert catalog.read("prices.yaml")["stated"]["us-east-1"] == {"ml.g5.xlarge": 1.408}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"offerCode": "AmazonEC2"},
            "is not the price list of AmazonSageMaker: `offerCode` does not name it",
        ),
        ({"products": {}}, "has hosting prices of 0 regions, and not of one"),
        ({"terms": []}, "has no `products` or no `terms`"),
        ({"publicationDate": "soon"}, "has no `publicationDate`"),
    ],
)
def test_another_file_is_refused_with_its_name(
    catalog: CatalogSamples, changes: dict[str, Any], problem: str
) -> None:
    path = catalog.price_list({"ml.g5.xlarge": ["1.42"]}, **changes)
    run = catalog.refresh("--prices", path)
    assert (run.code, run.errors) == (2, [f"not read: {path} {problem}"])


@pytest.mark.parametrize("option", ["--prices", "--quotas"])
@pytest.mark.parametrize("content", [None, "sku,price\n", "[]"])
def test_a_file_that_is_no_list_is_named_without_a_traceback(
    catalog: CatalogSamples, tmp_path: Path, option: str, content: str | None
) -> None:
    folder = tmp_path / "saved"
    if content is not None:
        folder.write_text(content)
    run = catalog.refresh(option, folder)
    assert run.code == 2
    (error,) = run.errors
    assert error.startswith(f"not read: {folder} is not ")


def test_names_of_quotas_that_the_list_has_are_no_news(catalog: CatalogSamples) -> None:
    path = catalog.quota_list(
        "ml.g5.xlarge for endpoint usage", "Number of instances across active endpoints"
    )
    assert catalog.refresh("--quotas", path).lines == ["no news"]


def test_a_name_of_a_quota_that_the_list_lacks_is_named(catalog: CatalogSamples) -> None:
    path = catalog.quota_list("ml.g5.xlarge for endpoint usage")
    text = "`Number of instances across active endpoints` is not among the quotas of sagemaker in quotas.json"
    assert catalog.refresh("--quotas", path).lines == [f"by hand: quotas.yaml: {text}"]
    saved_path = catalog.quota_list("Something else", service="codebuild")
    text = "`Concurrently running builds` is not among the quotas of codebuild in quotas.json"
    assert catalog.refresh("--quotas", saved_path).lines == [f"by hand: codebuild.yaml: {text}"]


def test_quotas_of_another_service_are_refused(catalog: CatalogSamples) -> None:
    path = catalog.quota_list("Buckets", service="s3")
    assert catalog.refresh("--quotas", path).errors == [f"not read: {path} has quotas of s3 alone"]
