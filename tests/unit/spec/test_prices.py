"""`prices.yaml`: a fleet's own prices over the catalog's, in one currency, and what is refused in it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from triton_fleet.project.fleet_files import read_prices
from triton_fleet.spec.prices import PriceBook

DATE = "date: 2026-11-01\n"
OWN = "prices: {eu-west-1: {ml.c5.large: 0.09}}\n"


def book(folder: Path, text: str) -> PriceBook:
    (folder / "prices.yaml").write_text(text)
    return read_prices(folder)


def hourly_price(book: PriceBook, name: str, region: str = "eu-west-1") -> Decimal | None:
    price = book.price(name, region)
    return None if price is None else price.per_hour


def test_without_the_file_prices_are_the_catalogs(tmp_path: Path) -> None:
    book = read_prices(tmp_path)
    assert (book.currency, hourly_price(book, "ml.c5.large")) == ("USD", Decimal("0.1152"))
    assert book.words == "on-demand list prices of 2026-11-27"


def test_a_price_of_the_file_is_certain_and_the_others_are_the_catalogs(tmp_path: Path) -> None:
    actual_book = book(tmp_path, DATE + OWN)
    price = actual_book.price("ml.c5.large", "eu-west-1")
    assert price is not None
    assert (price.per_hour, price.certain) == (Decimal("0.09"), True)
    assert price.origin == "prices.yaml of 2026-11-01 states it"
    assert hourly_price(actual_book, "ml.m5.xlarge") == Decimal("0.257")
    assert hourly_price(actual_book, "ml.c5.large", "us-east-1") == Decimal("0.102")


def test_a_discount_is_of_the_catalogs_prices_alone(tmp_path: Path) -> None:
    actual_book = book(tmp_path, f"{DATE}discount: 12%\n{OWN}")
    assert hourly_price(actual_book, "ml.c5.large") == Decimal("0.09")
    assert hourly_price(actual_book, "ml.g5.12xlarge") == Decimal("6.9608")  # 7.91 x 0.88
    assert (
        actual_book.words == "prices.yaml of 2026-11-01, else on-demand list prices of 2026-11-27, less 12 %"
    )


def test_in_another_currency_the_catalogs_prices_are_unknown_without_a_rate(tmp_path: Path) -> None:
    actual_book = book(tmp_path, f"{DATE}currency: EUR\n{OWN}")
    assert hourly_price(actual_book, "ml.c5.large") == Decimal("0.09")
    assert (hourly_price(actual_book, "ml.m5.xlarge"), actual_book.dashboards(1)) == (None, None)
    assert actual_book.absence("ml.m5.xlarge", "eu-west-1") == (
        "the catalog has the price of ml.m5.xlarge in eu-west-1 in USD only",
        "write `usd_rate`, the EUR for one dollar, into prices.yaml",
    )


def test_a_rate_converts_the_catalogs_prices(tmp_path: Path) -> None:
    actual_book = book(tmp_path, f"{DATE}currency: EUR\nusd_rate: 0.9\ndiscount: 10%\n")
    assert hourly_price(actual_book, "ml.m5.xlarge") == Decimal("0.2082")  # 0.257 x 0.9 x 0.9
    assert actual_book.dashboards(2) == Decimal("5.40")


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("discount: 10%\n", 1, "the key `date` is missing", "Day on which the prices were agreed"),
        (f"{DATE}currency: euro\n{OWN}", 2, 'is "euro"', ""),
        (f"{DATE}discount: 12\n", 2, "write a number above 0 and up to 100 with its sign", ""),
        (f"{DATE}usd_rate: 0.9\n{OWN}", 1, "`currency` is USD", "leave it out"),
        (DATE, 1, "it states no price", "write `prices`, `discount` or `usd_rate`"),
        (
            f"{DATE}prices: {{eu-west-7: {{}}}}\n",
            2,
            "hosts no endpoints in such a region",
            "did you mean `eu-",
        ),
        (
            f"{DATE}prices:\n  eu-west-1:\n    ml.c5.larg: 1\n",
            4,
            "SageMaker hosting has no such instance type",
            "did you mean `ml.c5.large`?",
        ),
        (f"{DATE}prices: {{eu-west-1: {{ml.c5.large: 0}}}}\n", 2, "it must be more than 0", ""),
    ],
)
def test_a_mistake_has_its_line_and_its_remedy(
    tmp_path: Path, text: str, line: int, message: str, hint: str
) -> None:
    actual_book = book(tmp_path, text)
    (finding,) = actual_book.findings
    assert (finding.file, finding.line) == (tmp_path / "prices.yaml", line)
    assert message in finding.message
    assert hint in finding.hint


AMOUNTS = (".nan", ".inf", "-.inf", "1e308", "1e400", "-1", "0", "true", '"1"', "[]")


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("key", ["prices: {{eu-west-1: {{ml.c5.large: {}}}}}", "usd_rate: {}\ncurrency: EUR"])
def test_a_price_and_a_rate_are_numbers_above_0_that_something_can_cost(
    tmp_path: Path, key: str, amount: str
) -> None:
    actual_book = book(tmp_path, f"{DATE}{key.format(amount)}\n")
    assert [(finding.file, finding.line) for finding in actual_book.findings] == [
        (tmp_path / "prices.yaml", 2)
    ]
    assert hourly_price(actual_book, "ml.c5.large") is None


@pytest.mark.parametrize("discount", ["100%", "100.0%", "101%", "0%", "-5%", "1e2%", ".nan", "true", "5"])
def test_a_discount_is_above_0_and_below_100_percent(tmp_path: Path, discount: str) -> None:
    actual_book = book(tmp_path, f"{DATE}discount: {discount}\n{OWN}")
    assert [(finding.file, finding.line) for finding in actual_book.findings] == [
        (tmp_path / "prices.yaml", 2)
    ]


@pytest.mark.parametrize("key", ["discount: 99.999999999%", "usd_rate: 1e-300\ncurrency: EUR"])
def test_no_discount_and_no_rate_makes_a_price_0(tmp_path: Path, key: str) -> None:
    assert hourly_price(book(tmp_path, f"{DATE}{key}\n"), "ml.c5.large") == Decimal("0.0001")


def test_a_huge_file_is_refused_with_few_words(tmp_path: Path) -> None:
    rows = "".join(f"  region-{number}: {{ml.c5.large: 1}}\n" for number in range(2000))
    actual_book = book(tmp_path, f"{DATE}prices:\n{rows}")
    assert {finding.file for finding in actual_book.findings} == {tmp_path / "prices.yaml"}
    assert all(
        finding.line and finding.line > 2 and len(finding.message) < 500 for finding in actual_book.findings
    )
    (finding,) = book(tmp_path, f"{DATE}prices: {'{a: ' * 5000}1{'}' * 5000}\n").findings
    assert finding.file == tmp_path / "prices.yaml"


def test_with_a_mistake_no_price_is_known(tmp_path: Path) -> None:
    actual_book = book(tmp_path, f"{DATE}discout: 10%\n")
    assert hourly_price(actual_book, "ml.c5.large") is None
    assert actual_book.absence("ml.c5.large", "eu-west-1")[0] == "prices.yaml cannot be read"


def test_prices_are_read_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(DATE + OWN)
    (tmp_path / "prices.yaml").symlink_to("other.yaml")
    assert [finding.code for finding in read_prices(tmp_path).findings] == ["FL105"]
