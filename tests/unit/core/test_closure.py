"""Names with all that they lead to."""

from __future__ import annotations

from triton_fleet.core.reads import closure

STEPS = {"a": ["c", "b"], "b": ["d", "a"], "c": ["d", "elsewhere"]}


def test_the_nearest_come_first_and_each_once() -> None:
    assert closure(["a", "b", "a"], lambda name: STEPS.get(name, ())) == ["a", "b", "c", "d", "elsewhere"]


def test_a_name_that_leads_nowhere_is_a_member_itself() -> None:
    assert closure(["elsewhere"], lambda name: STEPS.get(name, ())) == ["elsewhere"]
