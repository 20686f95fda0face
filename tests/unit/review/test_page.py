"""The page: nothing is loaded, nothing of others is markup, bars are as long as what they show."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from tests.support.fleet_changes import change, cost, fleet
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import Phase, Traffic
from triton_fleet.findings import Finding
from triton_fleet.review.page import page


def widths(text: str) -> list[Decimal]:
    return [
        Decimal(match)
        for match in re.findall(r'<rect class="[a-z ]+" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', text)
    ]


def test_it_is_one_file_that_may_load_nothing() -> None:
    text = page(fleet(change()))
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href|url)\s*[=(]|https?:", text)


def test_what_others_wrote_is_escaped() -> None:
    wrong = Finding(code="FL1", message="<script>alert(1)</script>")
    text = page(fleet(change(changes=("tags.a <b> → </td>",)), new=(wrong,)))
    assert "<script>" not in text
    assert "tags.a &lt;b&gt; → &lt;/td&gt;" in text


@pytest.mark.parametrize("value", ["``a`b``{}`", "`a` {}", "`{}`", "`{}", "``` {}"])
def test_backticks_in_what_others_wrote_do_not_end_its_escaping(value: str) -> None:
    text = page(fleet(change(warnings=(value.format("<img src=x> </code><b>&"),))))
    assert "&lt;img src=x&gt; &lt;/code&gt;&lt;b&gt;&amp;" in text
    assert "<img" not in text
    assert text.count("<code>") == text.count("</code>")


def test_one_backtick_alone_starts_no_code() -> None:
    assert "a ` b</div>" in page(fleet(change(warnings=("a ` b",))))


def test_bars_are_as_long_as_the_costs() -> None:
    actual_change = change(min_cost=cost("1", "2"), max_cost=cost("4", "8"))
    decimal, before_least_decimal, after_most_decimal, after_least_decimal = widths(
        page(fleet(actual_change))
    )
    assert after_most_decimal == 2 * decimal == 4 * after_least_decimal == 8 * before_least_decimal


def test_each_endpoint_with_a_price_is_named_beside_its_bars_a_new_one_too() -> None:
    names = {"old": (cost("1", "2"), cost("4", "8")), "new": (cost(None, "2"), cost(None, "8"))}
    changes = [change(name, min_cost=minimum, max_cost=maximum) for name, (minimum, maximum) in names.items()]
    assert re.findall(r'<text x="0" y="\d+">(\w+)</text>', page(fleet(*changes))) == ["old", "new"]


def test_a_rollout_has_a_part_for_each_phase_as_long_as_it_takes() -> None:
    phases = (Phase(share=50, seconds=600), Phase(share=100, seconds=600), Phase(share=100, seconds=300))
    traffic = Traffic(words="canary 50 %", shortest=1500, longest=4800, phases=phases)
    text = page(fleet(change(effect=UpdateEffect.CONFIGURATION, traffic=traffic)))
    assert "25 min, at most 1 h 20 min" in text
    *_, canary, rest, wait = widths(text)
    assert canary == rest == 2 * wait
    opacities = [float(match) for match in re.findall(r'fill-opacity="([\d.]+)"', text)]
    assert 0 < opacities[0] < opacities[1] == opacities[2] == 1
    assert re.findall(r">(\d+)\u2009%<", text) == ["50", "100", "100"]


def test_no_change_is_a_page_with_its_verdict() -> None:
    assert "<h1>nothing changes in prod</h1>" in page(fleet())
