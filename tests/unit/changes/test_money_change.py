"""The costs of a change in words: both ends of the range, and nothing unknown taken for 0."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from tests.support.fleet_changes import change, cost, fleet
from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.changes.endpoint_change import Revision, endpoint_change
from triton_fleet.changes.money_change import FREE, CostChange, price_changes
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.project.project import open_project
from triton_fleet.review.document import report_document
from triton_fleet.review.markdown import markdown
from triton_fleet.review.page import page
from triton_fleet.spec.prices import FleetPrices, PriceBook

UNKNOWN = CostChange(before=None, after=None)
GONE = cost(None, "0")
"""Of an endpoint whose price is unknown, and that is removed."""


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (("2", "1"), ("4", "20"), "−720.00 USD a month at min, +11,520.00 at max"),
        (("1", "2"), ("1", "2"), "+720.00 USD a month"),
        (("1", "1"), ("4", "20"), "the same cost at min, +11,520.00 USD a month at max"),
        (("2", "1"), ("4", "4"), "−720.00 USD a month at min, the same at max"),
        (("1", "1"), ("4", "4"), "the same cost"),
    ],
)
def test_the_first_line_names_both_ends(least: tuple[str, str], most: tuple[str, str], words: str) -> None:
    found = fleet(change(min_cost=cost(*least), max_cost=cost(*most)))
    assert f"updated in place, {words} · " in found.verdict


def test_a_price_that_nobody_states_is_marked_at_both_ends() -> None:
    found = fleet(change(min_cost=cost("2", "1"), certain_price=False))
    assert "~−720.00 USD a month at min, ~+11,520.00 at max" in found.verdict


def test_an_unknown_cost_is_counted_beside_those_that_are_known() -> None:
    gone = change("addsub", UpdateEffect.REMOVED, min_cost=GONE, max_cost=GONE)
    found = fleet(gone, change(min_cost=cost("1", "2"), max_cost=cost("1", "2")))
    assert ", +720.00 USD a month, and 1 unknown · " in found.verdict
    document: Any = report_document(found)
    (place,) = document["environments"]
    assert place["difference"] == {"min": "720.00", "max": "720.00", "unknown": 1}
    assert place["not_in_difference"] == ["addsub"]


def test_unknown_beside_no_difference_is_not_the_same_cost() -> None:
    found = fleet(change("new", min_cost=UNKNOWN, max_cost=UNKNOWN), change(max_cost=cost("1", "1")))
    assert ", the same cost, and 1 unknown · " in found.verdict


def test_where_nothing_is_known_the_cost_is_unknown() -> None:
    assert ", cost unknown · " in fleet(change(min_cost=UNKNOWN, max_cost=UNKNOWN)).verdict


def test_the_same_instances_cost_the_same_whatever_that_is() -> None:
    same = CostChange(before=None, after=None, same=True)
    assert ", the same cost · " in fleet(change(min_cost=same, max_cost=same)).verdict


def test_the_sums_of_owners_count_what_is_unknown() -> None:
    mine = change("mine", owner="search", min_cost=cost("1", "2"), max_cost=cost("1", "2"))
    found = fleet(mine, change("new", owner="search", min_cost=UNKNOWN, max_cost=UNKNOWN))
    assert "by owner: search: +720.00 USD a month, and 1 unknown" in markdown(found, 0)


def test_the_sum_of_an_owner_is_marked_where_a_price_in_it_is_computed() -> None:
    more = cost("1", "2")
    ours = change("ours", owner="search", certain_price=False, min_cost=more, max_cost=more)
    found = fleet(ours, change("theirs", owner="ads", min_cost=more, max_cost=more))
    text = markdown(found, 0).replace("\\~", "~")
    assert "by owner: ads: +720.00 USD a month; search: ~+720.00 USD a month" in text


def test_a_report_says_what_its_sign_for_computed_prices_means_and_by_which_formula() -> None:
    legend = "~: computed from EC2's price of the same size and region times 1.2 (cpu), 1.25 (g),"
    computed, stated = fleet(change(certain_price=False)), fleet(change())
    for text in (markdown(computed, 0), unescape(page(computed))):
        assert legend in text
    for text in (markdown(stated, 0), page(stated)):
        assert "~" not in text


def test_other_prices_stand_in_each_environment_and_never_beside_nothing_changes() -> None:
    note = "`prices.yaml` differs (discount 10 → 20): all costs here are at the new prices"
    for found in (fleet(price_note=note), fleet(change(), price_note=note)):
        assert found.environments_to_review
        assert "prices.yaml differs" in found.verdict
        assert "nothing changes" not in found.verdict
        for limit in (0, 300):
            assert "prices.yaml" in markdown(found, limit)
        assert "discount 10 → 20" in markdown(found, 0)
        assert "discount 10 → 20" in page(found)
        document: Any = report_document(found)
        assert document["environments"][0]["price_note"] == note


def test_the_row_of_a_removed_endpoint_does_not_hide_what_it_cost() -> None:
    gone = change("addsub", UpdateEffect.REMOVED, min_cost=GONE, max_cost=GONE)
    assert "| 0.00 (before: unknown) | 0.00 (before: unknown) |" in markdown(fleet(gone), 0)


def test_the_chart_has_a_word_for_what_is_unknown_and_no_bar() -> None:
    gone = change("addsub", UpdateEffect.REMOVED, min_cost=GONE, max_cost=GONE)
    (chart,) = re.findall(r"<svg.*?</svg>", page(fleet(gone)))
    assert re.findall(r">([^<>]+)</text>", chart) == ["addsub", "unknown before", "0.00 to 0.00"]
    both = change("new", min_cost=UNKNOWN, max_cost=UNKNOWN)
    (chart,) = re.findall(r"<svg.*?</svg>", page(fleet(both)))
    assert "<rect" not in chart
    assert re.findall(r">([^<>]+)</text>", chart) == ["new", "unknown before", "unknown after"]


def revision(folder: FleetFolder, text: str = "") -> Revision:
    folder.spec(text, base=SPEC.replace("ml.g5.xlarge", "ml.p6-b200.48xlarge"))
    project = open_project(folder.root, "dev")
    return Revision(root=folder.root, environment=project.environment, loaded_spec=project.load("sentences"))


def test_a_change_of_instances_without_a_price_is_unknown_and_any_other_costs_nothing(
    folder: FleetFolder,
) -> None:
    before, prices = revision(folder), PriceBook()
    other = endpoint_change("sentences", before, revision(folder, "logs: {retention_days: 7}\n"), prices)
    assert other.min_cost.difference == FREE
    scaled = "scaling: {min: 0, max: 2, gpu_utilization: 60}\n"
    more = endpoint_change("sentences", before, revision(folder, scaled), prices)
    assert (more.min_cost.difference, more.max_cost.difference) == (None, None)
    gone = endpoint_change("sentences", before, None, prices)
    assert (gone.min_cost.before, gone.min_cost.after, gone.min_cost.difference) == (None, FREE, None)


def test_every_sum_is_in_the_fleets_currency() -> None:
    found = fleet(change(min_cost=cost("1", "2"), max_cost=cost("1", "2")), currency="EUR")
    assert "+720.00 EUR a month" in found.verdict
    for text in (markdown(found, 0), page(found)):
        assert "EUR a month, min" in text
        assert "USD" not in text


def test_other_prices_are_a_note_with_the_first_of_them() -> None:
    before = PriceBook(FleetPrices.model_validate({"date": "2026-11-01", "discount": "10%"}))
    own = {"date": "2026-11-20", "currency": "EUR", "prices": {"eu-west-1": {"ml.c5.large": 0.09}}}
    after = PriceBook(FleetPrices.model_validate(own))
    assert price_changes(before, after) == (
        "`prices.yaml` differs (currency USD → EUR, discount 10 → not given, ml.c5.large in eu-west-1 not given"
        " → 0.09): all costs here are at the new prices"
    )
    assert price_changes(after, after) == ""
