"""The page: nothing is loaded, nothing of others is markup, bars are as long as what they show."""

from __future__ import annotations

import re
from decimal import Decimal

from fleet.findings import Finding
from fleet.report.page import page
from fleet.report.traffic import Traffic
from fleet.report.update_effect import UpdateEffect
from fleet_changes import change, cost, fleet


def widths(text: str) -> list[Decimal]:
    return [
        Decimal(each)
        for each in re.findall(r'<rect class="[a-z ]+" x="\d+" y="[\d.]+" width="([\d.]+)"', text)
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


def test_bars_are_as_long_as_the_costs() -> None:
    found = change(least=cost("1", "2"), most=cost("4", "8"))
    before_most, before_least, after_most, after_least = widths(page(fleet(found)))
    assert after_most == 2 * before_most == 4 * after_least == 8 * before_least


def test_a_rollout_has_a_bar_from_its_waits_to_its_time_out() -> None:
    traffic = Traffic(words="canary 50 %", shortest=1200, longest=4800)
    found = change(effect=UpdateEffect.CONFIGURATION, traffic=traffic)
    text = page(fleet(found))
    assert "20 min to 1 h 20 min" in text
    *_, longest, shortest = widths(text)
    assert longest == 4 * shortest


def test_no_change_is_a_page_with_its_verdict() -> None:
    assert "<h1>nothing changes in prod</h1>" in page(fleet())
