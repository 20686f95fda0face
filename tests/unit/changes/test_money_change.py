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
GONE_COST = cost(None, "0")
"""Of an endpoint whose price is unknown, and that is removed."""


@pytest.mark.parametrize(
    ("minimum", "maximum", "words"),
    [
        (("2", "1"), ("4", "20"), "−720.00 USD a month at min, +11,520.00 at max"),
        (("1", "2"), ("1", "2"), "+720.00 USD a month"),
        (("1", "1"), ("4", "20"), "the same cost at min, +11,520.00 USD a month at max"),
        (("2", "1"), ("4", "4"), "−720.00 USD a month at min, the same at max"),
        (("1", "1"), ("4", "4"), "the same cost"),
    ],
)
def test_the_first_line_names_both_ends(
    minimum: tuple[str, str], maximum: tuple[str, str], words: str
) -> None:
    actual_change = fleet(change(min_cost=cost(*minimum), max_cost=cost(*maximum)))
    assert f"updated in place, {words} · " in actual_change.verdict


def test_a_price_that_nobody_states_is_marked_at_both_ends() -> None:
    actual_change = fleet(change(min_cost=cost("2", "1"), certain_price=False))
    assert "~−720.00 USD a month at min, ~+11,520.00 at max" in actual_change.verdict


def test_an_unknown_cost_is_counted_beside_those_that_are_known() -> None:
    gone_change = change("addsub", UpdateEffect.REMOVED, min_cost=GONE_COST, max_cost=GONE_COST)
    actual_change = fleet(gone_change, change(min_cost=cost("1", "2"), max_cost=cost("1", "2")))
    assert ", +720.00 USD a month, and 1 unknown · " in actual_change.verdict
    document: Any = report_document(actual_change)
    (place,) = document["environments"]
    assert place["difference"] == {"min": "720.00", "max": "720.00", "unknown": 1}
    assert place["not_in_difference"] == ["addsub"]


def test_unknown_beside_no_difference_is_not_the_same_cost() -> None:
    actual_change = fleet(change("new", min_cost=UNKNOWN, max_cost=UNKNOWN), change(max_cost=cost("1", "1")))
    assert ", the same cost, and 1 unknown · " in actual_change.verdict


def test_where_nothing_is_known_the_cost_is_unknown() -> None:
    assert ", cost unknown · " in fleet(change(min_cost=UNKNOWN, max_cost=UNKNOWN)).verdict


def test_the_same_instances_cost_the_same_whatever_that_is() -> None:
    same = CostChange(before=None, after=None, same=True)
    assert ", the same cost · " in fleet(change(min_cost=same, max_cost=same)).verdict


def test_the_sums_of_owners_count_what_is_unknown() -> None:
    mine = change("mine", owner="search", min_cost=cost("1", "2"), max_cost=cost("1", "2"))
    actual_change = fleet(mine, change("new", owner="search", min_cost=UNKNOWN, max_cost=UNKNOWN))
    assert "by owner: search: +720.00 USD a month, and 1 unknown" in markdown(actual_change, 0)


def test_the_sum_of_an_owner_is_marked_where_a_price_in_it_is_computed() -> None:
    more = cost("1", "2")
    ours = change("ours", owner="search", certain_price=False, min_cost=more, max_cost=more)
    actual_change = fleet(ours, change("theirs", owner="ads", min_cost=more, max_cost=more))
    text = markdown(actual_change, 0).replace("\\~", "~")
    assert "by owner: ads: +720.00 USD a month; search: ~+720.00 USD a month" in text


def test_a_report_says_what_its_sign_for_computed_prices_means_and_by_which_formula() -> None:
    legend = "~: computed from EC2's price of the same size and region times 1.2 (cpu), 1.25 (g),"
    computed_change, stated_change = fleet(change(certain_price=False)), fleet(change())
    for text in (markdown(computed_change, 0), unescape(page(computed_change))):
        assert legend in text
    for text in (markdown(stated_change, 0), page(stated_change)):
        assert "~" not in text


def test_other_prices_stand_in_each_environment_and_never_beside_nothing_changes() -> None:
    note = "`prices.yaml` differs (discount 10 → 20): all costs here are at the new prices"
    for actual_change in (fleet(price_note=note), fleet(change(), price_note=note)):
        assert actual_change.environments_to_review
        assert "prices.yaml differs" in actual_change.verdict
        assert "nothing changes" not in actual_change.verdict
        for limit in (0, 300):
            assert "prices.yaml" in markdown(actual_change, limit)
        assert "discount 10 → 20" in markdown(actual_change, 0)
        assert "discount 10 → 20" in page(actual_change)
        document: Any = report_document(actual_change)
        assert document["environments"][0]["price_note"] == note


def test_the_row_of_a_removed_endpoint_does_not_hide_what_it_cost() -> None:
    gone_change = change("addsub", UpdateEffect.REMOVED, min_cost=GONE_COST, max_cost=GONE_COST)
    assert "| 0.00 (before: unknown) | 0.00 (before: unknown) |" in markdown(fleet(gone_change), 0)


def test_the_chart_has_a_word_for_what_is_unknown_and_no_bar() -> None:
    gone_change = change("addsub", UpdateEffect.REMOVED, min_cost=GONE_COST, max_cost=GONE_COST)
    (chart,) = re.findall(r"<svg.*?</svg>", page(fleet(gone_change)))
    assert re.findall(r">([^<>]+)</text>", chart) == ["addsub", "unknown before", "0.00 to 0.00"]
    pair = change("new", min_cost=UNKNOWN, max_cost=UNKNOWN)
    (chart,) = re.findall(r"<svg.*?</svg>", page(fleet(pair)))
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
    other_change = endpoint_change(
        "sentences", before, revision(folder, "logs: {retention_days: 7}\n"), prices
    )
    assert other_change.min_cost.difference == FREE
    scaled_text = "scaling: {min: 0, max: 2, gpu_utilization: 60}\n"
    more = endpoint_change("sentences", before, revision(folder, scaled_text), prices)
    assert (more.min_cost.difference, more.max_cost.difference) == (None, None)
    change = endpoint_change("sentences", before, None, prices)
    assert (change.min_cost.before, change.min_cost.after, change.min_cost.difference) == (None, FREE, None)


def test_every_sum_is_in_the_fleets_currency() -> None:
    actual_change = fleet(change(min_cost=cost("1", "2"), max_cost=cost("1", "2")), currency="EUR")
    assert "+720.00 EUR a month" in actual_change.verdict
    for text in (markdown(actual_change, 0), page(actual_change)):
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
