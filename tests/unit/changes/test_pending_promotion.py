"""The promotions that a change adds to those that wait, as reviewers read them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_changes import change, cost, fleet
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.money_change import FREE, CostChange
from triton_fleet.changes.pending_promotion import PendingPromotion, PromotionState, added_promotions
from triton_fleet.changes.promotion_lines import pending_line, pending_lines, pending_texts
from triton_fleet.changes.spec_changes import KeyChange
from triton_fleet.context.cost import Cost
from triton_fleet.findings import Finding
from triton_fleet.review.document import report_document
from triton_fleet.review.markdown import markdown
from triton_fleet.review.page import page

MAX_CHANGE = KeyChange(("scaling", "max"), 6, 12)
GPUS = Finding(code="FL951", message="it has 8 GPUs", file=Path("model_specs/simple.yaml"), line=6)
WAITS = "waits for promotion: prod would change"


def pending_promotion(name: str = "simple", **keys: Any) -> PendingPromotion:
    known_values: dict[str, Any] = {
        "endpoint": name,
        "environment": "prod",
        "state": PromotionState.CHANGED,
        "changes": (MAX_CHANGE,),
        "min_cost": cost("1", "1"),
        "max_cost": cost("4", "8"),
    }
    return PendingPromotion(**{**known_values, **keys})


def heading(change: FleetChange) -> str:
    return markdown(change, 0).splitlines()[1]


class TestTheLine:
    @pytest.mark.parametrize(
        ("minimum", "maximum", "words"),
        [
            (cost("1", "1"), cost("4", "8"), "the same cost at min, +2,880.00 USD a month at max"),
            (cost("1", "2"), cost("4", "8"), "+720.00 USD a month at min, +2,880.00 at max"),
            (cost("2", "1"), cost("4", "4"), "−720.00 USD a month at min, the same at max"),
            (cost("1", "2"), cost("1", "2"), "+720.00 USD a month"),
            (cost("1", "1"), cost("1", "1"), "the same cost"),
            (cost(None, "1"), cost(None, "1"), "cost unknown"),
        ],
    )
    def test_has_the_cost_at_both_ends(self, minimum: CostChange, maximum: CostChange, words: str) -> None:
        assert (
            pending_line(pending_promotion(min_cost=minimum, max_cost=maximum))
            == f"{WAITS} simple: scaling.max 6 → 12, {words}"
        )

    def test_marks_a_price_that_no_source_states_for_the_region(self) -> None:
        assert pending_line(pending_promotion(certain_price=False)).endswith(
            "12, the same cost at min, ~+2,880.00 USD a month at max"
        )

    def test_names_who_would_refuse_it(self) -> None:
        assert pending_line(pending_promotion(by_rules=(GPUS,))).endswith(
            "; its rules would refuse it: FL951"
        )
        pair = pending_promotion(by_rules=(GPUS,), by_policies=(GPUS,))
        assert pending_line(pair).endswith("; its rules and policies would refuse it: FL951")

    def test_counts_the_keys_beyond_four(self) -> None:
        many = tuple(KeyChange(("tags", str(number)), 1, 2) for number in range(6))
        assert "tags.3 1 → 2; 2 more, the same" in pending_line(pending_promotion(changes=many))

    def test_shortens_a_long_value(self) -> None:
        assert len(pending_line(pending_promotion(changes=(KeyChange(("x",), "", "y" * 999),)))) < 250


class TestEqualChanges:
    def test_are_one_line_with_the_sum_of_their_costs(self) -> None:
        promotions = [pending_promotion(f"e{number}") for number in range(5)]
        assert list(pending_texts([*promotions, pending_promotion("other", content=("image: a → b",))])) == [
            f"{WAITS} e0, e1, e2 and 2 more endpoints: scaling.max 6 → 12, the same cost at min, +14,400.00 USD a month at max",
            f"{WAITS} other: scaling.max 6 → 12; image: a → b, the same cost at min, +2,880.00 USD a month at max",
        ]

    def test_count_an_unknown_price_beside_the_sum(self) -> None:
        (line,) = pending_lines([pending_promotion("a"), pending_promotion("b", min_cost=cost(None, "1"))])
        assert (
            line.text
            == f"{WAITS} a, b: scaling.max 6 → 12, the same cost at min, +2,880.00 USD a month at max, and 1 unknown"
        )

    def test_with_a_computed_price_have_its_sign_and_the_report_its_formula(self) -> None:
        text = markdown(fleet(promotions=(pending_promotion(certain_price=False),)), 0)
        assert "+2,880.00 USD a month at max" in text
        assert "~: computed from EC2's price of the same size and region times" in text

    def test_that_one_is_refused_for_are_a_line_of_their_own(self) -> None:
        assert (
            len(list(pending_lines([pending_promotion("a"), pending_promotion("b", by_policies=(GPUS,))])))
            == 2
        )

    def test_may_have_the_endpoints_own_names(self) -> None:
        promotions = [
            pending_promotion(f"ep-{index}", content=(f"archive ep-{index}: other files",))
            for index in range(2)
        ]
        (line,) = pending_lines(promotions)
        assert line.text.startswith(f"{WAITS} ep-0, ep-1: scaling.max 6 → 12; archive NAME: other files, ")

    def test_are_folded_by_owner_in_a_comment_and_a_page(self) -> None:
        owners = ["search", "search", "images", None]
        change = fleet(
            promotions=tuple(pending_promotion(f"e{at}", owner=owner) for at, owner in enumerate(owners))
        )
        text = markdown(change, 0)
        assert f"- {WAITS} 4 endpoints of 2 owners: scaling.max 6 → 12, " in text
        names = "<details><summary>which</summary>e3<br>images: e2<br>search: e0, e1</details>"
        assert names in text
        assert names in page(change)

    def test_beyond_the_limit_are_counted(self) -> None:
        promotions = [
            pending_promotion(f"e{number}", content=(f"image: a → {number}",)) for number in range(4)
        ]
        assert [line.text for line in pending_lines(promotions, 2)][2:] == [
            "and 2 more endpoints: `fleet diff --env prod`"
        ]

    def test_are_not_those_whose_long_values_only_begin_alike(self) -> None:
        old = "x" * 150
        values = {"a": f"{old}harmless", "b": f"https://evil.example/{old}"}
        first, second = pending_lines(
            [
                pending_promotion(name, changes=(KeyChange(("environment", "A"), old, new),))
                for name, new in values.items()
            ]
        )
        assert first.text.startswith(f"{WAITS} a: environment.A …{'x' * 20} → …{'x' * 20}harmless, ")
        assert f"environment.A {'x' * 60}… → https://evil.example/{'x' * 39}…" in second.text


class TestWhatAChangeAdds:
    def test_is_nothing_where_the_same_waited_before(self) -> None:
        assert added_promotions([pending_promotion()], [pending_promotion()], {}) == ()

    def test_is_all_that_waits_where_nothing_waited(self) -> None:
        assert added_promotions([], [pending_promotion()], {}) == (pending_promotion(),)

    def test_is_a_key_without_those_that_waited_and_its_own_cost(self) -> None:
        bake = KeyChange(("rollout", "bake"), "600s", "1200s")
        head = pending_promotion(changes=(MAX_CHANGE, bake))
        (promotion,) = added_promotions([pending_promotion()], [head], {})
        assert pending_line(promotion) == f"{WAITS} simple: rollout.bake 600s → 1200s, the same cost"

    def test_is_a_key_whose_value_waited_with_another_one(self) -> None:
        base = pending_promotion(changes=(KeyChange(("scaling", "max"), 6, 8),), max_cost=cost("4", "5"))
        (promotion,) = added_promotions([base], [pending_promotion()], {})
        assert (
            pending_line(promotion)
            == f"{WAITS} simple: scaling.max 6 → 12 (so far 6 → 8), the same cost at min, +2,160.00 USD a month at max"
        )

    def test_is_the_end_of_a_spec(self) -> None:
        removed_promotion = PendingPromotion(
            endpoint="simple", environment="prod", state=PromotionState.REMOVED
        )
        (promotion,) = added_promotions([pending_promotion()], [removed_promotion], {})
        assert (
            pending_line(promotion)
            == "simple: main no longer has it; `fleet destroy simple --env prod` removes it"
        )

    def test_is_a_refusal_of_what_waited_before(self) -> None:
        (promotion,) = added_promotions([pending_promotion()], [pending_promotion(by_policies=(GPUS,))], {})
        assert (
            pending_line(promotion) == "waits for promotion: prod's policies would now refuse simple: FL951"
        )

    def test_is_not_what_no_longer_waits(self) -> None:
        assert added_promotions([pending_promotion()], [], {}) == ()


class TestTheReport:
    def test_counts_it_in_the_heading(self) -> None:
        change = fleet(promotions=(pending_promotion(), pending_promotion("b", by_policies=(GPUS,))))
        assert heading(change) == (
            "### prod: 2 endpoints wait for promotion, the same cost at min, +5,760.00 USD a month at max; 1 would be refused: FL951"
        )

    def test_counts_what_cannot_be_compared_apart(self) -> None:
        wrong = pending_promotion("b", problem="unknown key `scalling`")
        assert heading(fleet(promotions=(wrong,))) == "### prod: 1 endpoint cannot be compared"
        assert heading(fleet(promotions=(pending_promotion(), wrong))).endswith(
            "at max; 1 endpoint cannot be compared"
        )

    def test_counts_what_is_no_longer_refused(self) -> None:
        (promotion,) = added_promotions([pending_promotion(by_policies=(GPUS,))], [pending_promotion()], {})
        assert heading(fleet(promotions=(promotion,))) == (
            "### prod: 1 endpoint waits for promotion, the same cost; 1 would no longer be refused: FL951"
        )

    def test_has_it_after_what_changes_at_once(self) -> None:
        actual_change = fleet(change(), promotions=(pending_promotion("b"),))
        assert heading(actual_change).endswith(
            "no interruption · 1 endpoint waits for promotion, the same cost at min, +2,880.00 USD a month at max"
        )

    def test_does_not_call_it_a_promotion_where_main_has_no_spec(self) -> None:
        removed_promotion = PendingPromotion(
            endpoint="simple", environment="prod", state=PromotionState.REMOVED
        )
        assert (
            heading(fleet(promotions=(removed_promotion,))) == "### prod: 1 endpoint without a spec in main"
        )

    def test_reports_that_nothing_changes_only_where_nothing_waits(self) -> None:
        assert "nothing changes" in markdown(fleet(), 0)
        assert "nothing changes" not in markdown(fleet(promotions=(pending_promotion(),)), 0)

    def test_has_a_line_and_the_findings_in_a_comment(self) -> None:
        text = markdown(fleet(promotions=(pending_promotion(by_policies=(GPUS,)),)), 0)
        assert (
            f"- {WAITS} simple: scaling.max 6 → 12, the same cost at min, +2,880.00 USD a month at max"
            in text
        )
        assert "<summary>findings against a promotion</summary>" in text
        assert "model_specs/simple.yaml:6: error FL951: it has 8 GPUs" in text

    def test_stays_short_where_many_wait_for_the_same(self) -> None:
        change = fleet(promotions=tuple(pending_promotion(f"endpoint-{number}") for number in range(200)))
        text = markdown(change, 1000)
        assert len(text) < 1000
        assert f"- {WAITS} 200 endpoints: scaling.max 6 → 12, " in text

    def test_has_them_in_a_page(self) -> None:
        text = page(fleet(promotions=(pending_promotion(by_policies=(GPUS,)),)))
        assert (
            f"<div>{WAITS} simple: scaling.max 6 → 12, the same cost at min, +2,880.00 USD a month at max; its policies"
            in text
        )
        assert "findings against a promotion" in text

    def test_has_them_in_json(self) -> None:
        change = fleet(promotions=(pending_promotion(by_policies=(GPUS,)),))
        document: Any = report_document(change)
        assert document["environments"][0]["pending"] == [
            {
                "endpoint": "simple",
                "state": "changed",
                "changes": [{"key": "scaling.max", "change": "`scaling.max`: 6 → 12"}],
                "content": [],
                "cost": {
                    "certain": True,
                    "min": {"before": "720.00", "after": "720.00", "difference": "0.00"},
                    "max": {"before": "2880.00", "after": "5760.00", "difference": "2880.00"},
                },
                "refused_by": ["FL951"],
                "permitted": [],
                "problem": None,
            }
        ]


def test_a_new_endpoint_costs_all_that_it_costs() -> None:
    new = pending_promotion(
        state=PromotionState.NEW,
        changes=(),
        machines="2 to 6 × ml.g5.xlarge",
        min_cost=CostChange(before=FREE, after=Cost(per_hour=Decimal(2))),
        max_cost=CostChange(before=FREE, after=Cost(per_hour=Decimal(6))),
    )
    assert pending_line(new) == (
        "waits for promotion: prod would get simple: 2 to 6 × ml.g5.xlarge,"
        " +1,440.00 USD a month at min, +4,320.00 at max"
    )
