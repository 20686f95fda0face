"""Each rule finds its mistake in the example that breaks it, and nothing in the one that does not."""

from __future__ import annotations

import pytest

from fleet.findings import Severity
from fleet.rules.example import examples
from fleet.rules.registry import rules

CODES = list(rules())


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_its_mistake_at_a_key_of_the_spec_and_says_what_to_write_instead(code: str) -> None:
    case, rule = examples()[code].wrong, rules()[code]

    problems = case.problems(rule)

    assert problems
    for problem in problems:
        assert problem.message and problem.hint
        assert problem.path[0] in type(case.decided().spec).model_fields
    assert rule.severity in {found.severity for found in case.findings(rule)} or not any(
        p.certain for p in problems
    )


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_nothing_where_its_mistake_is_put_right(code: str) -> None:
    assert examples()[code].right.problems(rules()[code]) == []


@pytest.mark.parametrize("code", CODES)
def test_what_puts_a_mistake_right_breaks_no_other_rule(code: str) -> None:
    case = examples()[code].right

    errors = [
        found.code
        for rule in rules().values()
        for found in rule.findings(case.decided())
        if found.severity is Severity.ERROR
    ]

    assert errors == []


def test_every_rule_has_a_name_a_summary_and_a_source() -> None:
    for rule in rules().values():
        assert rule.summary.endswith("."), rule.code
        assert rule.source, rule.code


def test_no_example_is_of_a_rule_that_is_gone() -> None:
    assert set(examples()) == set(CODES)
