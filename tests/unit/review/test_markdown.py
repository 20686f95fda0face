"""The comment: its first line, its rows by risk, what others wrote, and what does not fit."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.support.fleet_changes import change, cost, fleet
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import InstanceNeed, Traffic
from triton_fleet.findings import Finding
from triton_fleet.review.document import report_document
from triton_fleet.review.markdown import MARKER, inline, inline_code, markdown
from triton_fleet.spec.prices import PriceBook


def lines(change: FleetChange, limit: int = 0) -> list[str]:
    return markdown(change, limit).splitlines()


class TestWhatIsSeenFirst:
    def test_a_marker_and_then_the_verdict(self) -> None:
        text = lines(fleet(change()))
        assert text[0] == MARKER
        assert text[1] == (
            "### prod: 1 endpoint updated in place, the same cost at min, +11,520.00 USD a month at max · no interruption"
        )

    def test_no_change_is_one_line(self) -> None:
        assert lines(fleet()) == [MARKER, f"### nothing changes in prod compared with `{'a' * 12}`"]

    def test_of_several_environments_a_line_about_all(self) -> None:
        first_environment = fleet(change()).environments[0]
        other_change = EnvironmentChange(name="dev", region="us-east-1", notes=("dev is a new environment",))
        actual_change = FleetChange(
            reference="main",
            commit="a" * 40,
            environments=(other_change, first_environment),
            prices=PriceBook(),
        )
        assert lines(actual_change)[1].startswith(
            "## dev: 0 endpoints change, the same cost · no interruption; prod: 1"
        )

    def test_errors_and_interruptions_are_in_it(self) -> None:
        wrong = Finding(code="FL204", message="too small", file=Path("model_specs/a.yaml"), line=3)
        actual_change = fleet(change(effect=UpdateEffect.REPLACED), new=(wrong,))
        assert lines(actual_change)[1].endswith("1 new error: a deploy is refused · interrupts sentences")
        assert "model_specs/a.yaml:3: error FL204: too small" in markdown(actual_change, 0)


def test_a_row_is_in_the_form_of_the_table() -> None:
    traffic = Traffic(
        words="canary 50 %, 10 min + 10 min, rolled back on errors", shortest=1200, longest=4200
    )
    actual_change = fleet(
        change(
            effect=UpdateEffect.CONFIGURATION,
            changes=("ml.g5.xlarge (A10G) → ml.g6.xlarge (L4)",),
            traffic=traffic,
            min_cost=cost("2.816", "2.2534"),
            max_cost=cost("11.264", "9.0136"),
            need=InstanceNeed(type="ml.g6.xlarge", beside=2, max_instances=8),
        )
    )
    text = markdown(actual_change, 0)
    assert (
        "| sentences | ml.g5.xlarge (A10G) → ml.g6.xlarge (L4) | new configuration, **endpoint stays** | canary 50 %, "
        "10 min + 10 min, rolled back on errors | 1,622.45 (−405.07, −20 %) | 6,489.79 (−1,620.29) |"
    ) in text
    assert (
        "- ⚠ sentences needs 2 × ml.g6.xlarge beside the old fleet, up to 8 later: "
        "`fleet preflight --env prod sentences`"
    ) in text
    assert "- rollout: waits 20 min besides the start of instances; at most 1 h 10 min" in text


def test_the_sign_of_computed_costs_strikes_nothing_through() -> None:
    actual_change = fleet(
        change(certain_price=False, min_cost=cost("1", "2"), max_cost=cost("1", "2")),
        change("b", certain_price=False, min_cost=cost("1", "2"), max_cost=cost("1", "2")),
    )
    html = MarkdownIt("gfm-like", {"linkify": False}).render(markdown(actual_change, 0)).replace("\u2060", "")
    assert "~2,880.00 (~+1,440.00, +100 %), ~+720.00 each" in html
    (row,) = (line for line in lines(actual_change) if line.startswith("| b, sentences"))
    assert row.count("~") == row.count("\\~") == 6


def test_what_interrupts_is_above_what_does_not() -> None:
    actual_change = fleet(
        change("a"), change("b", UpdateEffect.REMOVED), change("c", UpdateEffect.CONFIGURATION)
    )
    rows = [line.split(" | ")[0] for line in lines(actual_change) if line.startswith("| ")]
    assert rows == ["| endpoint", "| ---", "| b", "| c", "| a"]


def test_the_same_change_is_the_same_bytes() -> None:
    actual_change = fleet(change("b"), change("a"))
    assert markdown(actual_change, 0) == markdown(fleet(change("a"), change("b")), 0)


class TestWhatOthersWrote:
    def test_a_value_is_neither_markup_nor_html_nor_a_mention_nor_another_cell(self) -> None:
        value = "tags.team a|b → <img src=x> [x](https://evil) @everyone `--> \n### ok"
        (row,) = (line for line in lines(fleet(change(changes=(value,)))) if line.startswith("| sentences"))
        assert row.count(" | ") == 5
        assert "<img" not in row.replace("\\<", "")
        assert "@everyone" not in row
        assert "](" not in row.replace("\\]", "")

    def test_a_finding_cannot_leave_its_block(self) -> None:
        wrong = Finding(code="FL1", message="```\n</details>\n# merged", hint="")
        text = lines(fleet(new=(wrong,)))
        assert text.count("```text") == 1
        assert text.count("```") == 1
        assert "</details>" in text
        assert "# merged" not in text


class TestALimit:
    MANY = tuple(
        change(
            f"endpoint-{number:03}",
            UpdateEffect.REMOVED if number == 250 else UpdateEffect.IN_PLACE,
            changes=(f"scaling.max 4 → {number}",),
        )
        for number in range(300)
    )

    def test_is_kept_and_what_is_left_out_is_counted_the_least_risk_first(self) -> None:
        whole = markdown(fleet(*self.MANY), 0)
        text = markdown(fleet(*self.MANY), 50_000)
        assert len(text.encode()) <= 50_000 < len(whole.encode())
        number, told_number = text.count("\n| endpoint-"), text.count("\n**endpoint-")
        assert number == 300
        assert 0 < told_number < 300
        assert "**endpoint-250**" in text
        remaining_text = f"Left out for length, the least risk first: {300 - told_number} endpoints' details."
        assert remaining_text in text

    def test_takes_rows_away_when_details_are_not_enough(self) -> None:
        text = markdown(fleet(*self.MANY), 4_000)
        assert len(text.encode()) <= 4_000
        number = text.count("\n| endpoint-")
        assert 0 < number < 300
        assert "| endpoint-250 |" in text
        assert f"{300 - number} endpoints, {number} endpoints' details, findings and shared stacks." in text

    def test_leaves_the_verdict_at_least(self) -> None:
        long = [change(f"e{number}-{'x' * 55}", warnings=("w" * 290,) * 9) for number in range(4)]
        text = markdown(fleet(*long, notes=("n" * 290,) * 9), 1_000)
        assert len(text.encode()) <= 1_000
        assert text.startswith(f"{MARKER}\n### prod: 4 endpoints updated in place")


def test_json_has_money_as_text_and_the_verdict() -> None:
    document: Any = report_document(fleet(change()))
    assert document["verdict"].startswith("prod: 1 endpoint updated in place")
    (endpoint,) = document["environments"][0]["endpoints"]
    assert endpoint["cost"]["max"] == {"before": "2880.00", "after": "14400.00", "difference": "11520.00"}
    assert endpoint["effect"] == "in place"


LINKS = [
    r"(?i)\bwww\.",
    r"(?i)\b(?:https?|ftp)://",
    r"(?i)\b(?:mailto|xmpp):[\w.+-]+@\w",
    r"[\w.+-]+@[\w-]+\.",
    r"@\w",
    r"#\d",
    r"\bGH-\d",
    r"\b[0-9a-f]{7,40}\b",
    r"[!$%&~]\d",
    r"~[\w\"]",
]
"""What readers' tools make links of in plain text.

Source: GitHub Flavored Markdown Spec, "Autolinks (extension)"; GitHub Docs, "Autolinked references and URLs"; GitLab
Docs, "GitLab-specific references". Both look for references in the text that Markdown leaves, so that a backslash
does not stop them.
"""


@pytest.mark.parametrize(
    "text",
    [
        "www.evil.example",
        "see WWW.evil.example/a?b",
        "(www.evil.example)",
        "https://evil.example",
        "ftp://evil.example",
        "mail a.b+c@evil.example",
        "mailto:a@evil.example",
        "xmpp:a@evil.example/b",
        "@org/team",
        "#1",
        "org/other#26",
        "GH-26",
        "gh-26",
        "a5c3785ed8d6a35868bc169f07e40e889087fd2e",
        "org/other@a5c3785ed8d6a35868bc169f07e40e889087fd2e",
        "sha256:a5c3785",
        "fa5c3785",
        "!12 $34 %56 &78 ~90",
        "~bug",
        '~"a bug"',
    ],
)
def test_plain_text_becomes_no_link_and_no_reference_and_reads_the_same(text: str) -> None:
    html = str(MarkdownIt("commonmark").render(inline(text)))
    content = unescape(html.removeprefix("<p>").removesuffix("</p>\n"))
    assert not [link for link in LINKS if re.search(link, content)]
    assert content.replace("\u2060", "") == text


class TestTextInBackticks:
    ATTACK = "<img src=https://attacker.example/p.png> [x](https://attacker.example) @org/team <!--"

    def render(self, text: str) -> str:
        return str(MarkdownIt("commonmark").render(f"- {inline_code(text)}"))

    @pytest.mark.parametrize(
        "value",
        [
            f"``a`b``{ATTACK}`",
            f"```{ATTACK}```{ATTACK}`",
            f"`a``b`{ATTACK}``",
            f"``{ATTACK}",
            f"`{ATTACK}",
            f"`a` {ATTACK} `b`",
            f"`a\\` {ATTACK} \\`b`",
            f"\\`a` {ATTACK} `b\\`",
            f"`\0`a` {ATTACK}",
            f"a`{ATTACK}` {ATTACK}",
            f"`a` `b {ATTACK}{'x' * 400}`",
        ],
    )
    def test_has_no_html_no_link_and_no_mention_outside_code(self, value: str) -> None:
        html = self.render(f"`environment.B1`: none → {value}")
        assert not re.search(r"<(?!/?(?:ul|li|code)>)", html)
        assert "@org" not in re.sub(r"<code>.*?</code>", "", html)

    def test_is_code_between_single_backticks(self) -> None:
        assert "<li><code>a.b</code>: 1 &lt; 2, then <code>c &lt; d</code></li>" in self.render(
            "`a.b`: 1 < 2, then `c < d`"
        )

    def test_code_of_nothing_but_a_pipe_does_not_become_two_backticks(self) -> None:
        assert self.render("`|` a `b` `|`").count("<code>") == 3

    @pytest.mark.parametrize("text", ["`a", "``a``", "`a` ``", "``", "`a``b`", "`a` `b` `"])
    def test_is_plain_where_backticks_are_not_in_single_pairs(self, text: str) -> None:
        html = self.render(text)
        assert "<code>" not in html
        assert text in html
