"""A report of many endpoints: what reads the same is written once, and what is unlike it comes first."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_changes import change, cost, fleet
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.templates import Change, Effect
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import InstanceNeed, Traffic
from triton_fleet.findings import Finding
from triton_fleet.review.document import report_document
from triton_fleet.review.markdown import markdown
from triton_fleet.review.page import page

MACHINES = ("ml.g5.xlarge", "ml.g6.xlarge")
ROLLOUT = Traffic(words="canary 50 %, 20 min + 20 min, rolled back on errors", shortest=2400, longest=5400)


def change_with_bake(
    number: int, effect: UpdateEffect = UpdateEffect.CONFIGURATION, **keys: Any
) -> EndpointChange:
    """One of many endpoints of thirty owners and two instance types, whose bake a profile changed."""
    name, text = f"endpoint-{number:04}", ("2.8", "2.2")[number % 2]
    known_values = {
        "owner": f"team-{number % 30:02}",
        "changes": ("rollout.bake 600s → 1200s",),
        "traffic": ROLLOUT,
        "need": InstanceNeed(type=MACHINES[number % 2], beside=2, max_instances=8),
        "min_cost": cost(text, text),
        "max_cost": cost(text, text),
        "warnings": (f"no alarm rolls {name} back: the spec has no `rollout`",),
        "permissions": (f"the endpoint's role is now allowed s3:GetObject on endpoints/{name}/*",),
        "resources": (
            Change(
                effect=Effect.REPLACED,
                type="AWS::SageMaker::EndpointConfig",
                logical_id=f"EndpointConfig24AD0A28{number:08X}",
            ),
        ),
    }
    return change(name, effect, **{**known_values, **keys})


MANY = tuple(map(change_with_bake, range(200)))


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")][2:]


class TestEqualChanges:
    def test_are_one_row_with_their_number_the_sum_of_costs_and_all_names_by_owner(self) -> None:
        (row,) = rows(markdown(fleet(*MANY), 0))
        assert row.startswith(
            "| <details><summary>200 endpoints of 30 owners</summary>team-00: endpoint-0000, "
        )
        assert sorted(re.findall(r"endpoint-\d{4}", row)) == [item.endpoint for item in MANY]
        assert row.endswith("rolled back on errors | 360,000.00 | 360,000.00 |")
        assert "rollout.bake 600s → 1200s" in row

    def test_of_200_endpoints_are_a_comment_of_at_most_8_kb(self) -> None:
        assert len(markdown(fleet(*MANY), 0).encode()) <= 8_000

    def test_of_200_endpoints_in_three_environments_are_named_once(self) -> None:
        change = fleet(*MANY)
        places = tuple(replace(change.environments[0], name=name) for name in ("dev", "staging", "prod"))
        text = markdown(replace(change, environments=places), 0)
        assert len(text.encode()) <= 8_000
        assert text.count("endpoint-0007") == 1
        assert text.count("| 200 endpoints of 30 owners, as above |") == 2

    def test_have_their_warnings_and_details_once(self) -> None:
        text = markdown(fleet(*MANY), 0)
        assert text.count("no alarm rolls") == 1
        assert "- ⚠ 200 endpoints of 30 owners: no alarm rolls NAME back: the spec has no `rollout`" in text
        assert (
            "100 endpoints of 15 owners need 2 × ml.g5.xlarge each beside the old fleet, up to 8 later"
            in text
        )
        assert text.count("replaced AWS::SageMaker::EndpointConfig EndpointConfig\n") == 1
        assert text.count("s3:GetObject on endpoints/NAME/") == 1
        assert "- reverted by: `fleet rollback NAME --env prod`" in text

    def test_of_a_few_endpoints_are_a_row_with_their_names(self) -> None:
        (row,) = rows(markdown(fleet(*MANY[:3]), 0))
        assert row.startswith("| endpoint-0000, endpoint-0001, endpoint-0002 |")

    def test_say_what_each_costs_more_beside_the_sum(self) -> None:
        equal = [change(name, min_cost=cost("1", "2"), max_cost=cost("1", "2")) for name in "ab"]
        (row,) = rows(markdown(fleet(*equal), 0))
        assert "| 2,880.00 (+1,440.00, +100 %), +720.00 each | 2,880.00 (+1,440.00), +720.00 each |" in row
        unlike = [
            change(name, min_cost=cost("1", after), max_cost=cost("1", after)) for name, after in ("a2", "b4")
        ]
        (row,) = rows(markdown(fleet(*unlike), 0))
        assert "+720.00 to +2,160.00 each" in row

    def test_whose_details_differ_count_those_that_have_each(self) -> None:
        slow = Traffic(words=ROLLOUT.words, shortest=2400, longest=9000)
        text = markdown(fleet(*MANY[:9], change_with_bake(9, traffic=slow)), 0)
        assert "- rollout (9 of 10): waits 40 min besides the start of instances; at most 1 h 30 min" in text
        assert "- rollout (1 of 10): waits 40 min besides the start of instances; at most 2 h 30 min" in text


class TestUnlikeChanges:
    @pytest.mark.parametrize(
        "keys",
        [
            {"changes": ("rollout.bake 600s → 1800s",)},
            {"content": ("labels/1/model.py 1.2 kB → 1.4 kB",)},
            {"warnings": ()},
            {"problem": "FL201: no image"},
            {"min_cost": cost("2", "3")},
            {"traffic": None},
            {"effect": UpdateEffect.IN_PLACE},
        ],
    )
    def test_have_a_row_of_their_own_before_the_many(self, keys: dict[str, Any]) -> None:
        text = markdown(fleet(*MANY[:7], *MANY[8:], change_with_bake(7, **keys)), 0)
        first, second = rows(text)
        assert first.startswith("| endpoint-0007 |")
        assert "199 endpoints" in second

    def test_are_below_what_interrupts(self) -> None:
        changes = [change(f"gone-{number}", UpdateEffect.REMOVED) for number in (1, 2)]
        first, second, third = rows(markdown(fleet(*MANY, *changes, change("other")), 0))
        assert first.startswith("| gone-1, gone-2 |")
        assert second.startswith("| other |")
        assert "200 endpoints" in third

    def test_of_a_warning_that_no_row_lists_name_their_endpoints(self) -> None:
        text = "callers have to change"
        changes = [
            change(f"a-{number}", changes=(f"scaling.max → {number}",), warnings=(text,))
            for number in range(5)
        ]
        assert (
            f"- ⚠ 5 endpoints: {text} <details><summary>which</summary>a-0, a-1, a-2, a-3, a-4</details>"
            in (markdown(fleet(*changes), 0))
        )


class TestFindings:
    def finding(self, name: str, message: str = "no image of 25.03") -> Finding:
        return Finding(code="FL201", message=message, file=Path(f"model_specs/{name}.yaml"), line=3)

    def test_of_many_endpoints_are_one_line_with_their_number(self) -> None:
        text = markdown(fleet(*MANY, new=tuple(self.finding(item.endpoint) for item in MANY)), 0)
        assert text.count("FL201") == 1
        assert (
            "model_specs/endpoint-0000.yaml:3: error FL201: no image of 25.03 (and 199 more places): "
            "200 endpoints of 30 owners\n```"
        ) in text

    def test_that_no_row_lists_have_their_endpoints_below_them(self) -> None:
        text = markdown(fleet(*MANY, new=tuple(self.finding(item.endpoint) for item in MANY[:60])), 0)
        assert (
            "no image of 25.03 (and 59 more places): 60 endpoints of 30 owners\n  team-00: endpoint-0000, endpoint-0030\n"
            in text
        )

    def test_of_a_shared_file_name_those_that_it_hits(self) -> None:
        names = tuple(item.endpoint for item in MANY[:2])
        shared_finding = Finding(
            code="FL201", message="no image", file=Path("profiles/base.yaml"), endpoints=names
        )
        assert "profiles/base.yaml: error FL201: no image: endpoint-0000, endpoint-0001" in markdown(
            fleet(*MANY, new=(shared_finding,)), 0
        )

    def test_that_name_their_own_endpoint_are_the_same(self) -> None:
        findings = [self.finding(item.endpoint, f"{item.endpoint} is too large") for item in MANY[:2]]
        text = markdown(fleet(*MANY, new=tuple(findings)), 0)
        assert "error FL201: NAME is too large (and 1 more place): endpoint-0000, endpoint-0001" in text


class TestOtherFormats:
    def test_the_page_has_one_row_one_box_and_one_bar_too_after_the_table(self) -> None:
        text = page(fleet(*MANY))
        table, _, rest = text.partition("</table>")
        assert table.count("<tr>") == 2
        assert 'class="w"' not in table.partition("<table>")[0]
        assert rest.count("no alarm rolls") == 1
        assert rest.count("200 endpoints of 30 owners</text>") == 1
        assert table.count("endpoint-0199") == 1

    def test_the_page_states_each_column_at_its_value_for_narrow_screens(self) -> None:
        text = page(fleet(change()))
        assert '<td class="n" data-h="USD a month, max">' in text
        assert "@media(max-width:" in text
        assert "min-width:44rem" not in text

    def test_json_keeps_each_endpoint_and_adds_the_groups(self) -> None:
        document: Any = report_document(fleet(*MANY, change("other")))
        (place,) = document["environments"]
        assert len(place["endpoints"]) == 201
        assert [group["label"] for group in place["groups"]] == ["other", "200 endpoints of 30 owners"]
        assert place["groups"][1]["endpoints"][199] == "endpoint-0199"
        assert place["groups"][1]["cost"]["min"]["after"] == "360000.00"


def test_a_name_that_is_part_of_another_word_stays() -> None:
    changes = [
        change(name, changes=(f"models.{name}.repository a → b/{name}.onnx", f"x-{name} {name}-y"))
        for name in ("ab", "cd")
    ]
    assert len(rows(markdown(fleet(*changes), 0))) == 2


def test_an_owner_is_neither_markup_nor_html_nor_another_cell() -> None:
    owner = "a|b <img src=x> @everyone"
    changes = [change(f"endpoint-{number}", owner=owner) for number in range(4)]
    (row,) = rows(markdown(fleet(*changes), 0))
    assert row.count(" | ") == 5
    assert "a\\|b \\<img" in row
    assert "@everyone" not in row
    assert "<img" not in page(fleet(*changes))
