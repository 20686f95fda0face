"""Each rule finds its mistake in the example that breaks it, and nothing in the one that does not."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.codes import other_codes
from triton_fleet.rules.example import examples, examples_of
from triton_fleet.rules.registry import rules, rules_of
from triton_fleet.rules.rule import Problem, Rule, rule

CODES = list(rules())


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_its_mistake_at_a_key_of_the_spec_and_says_what_to_write_instead(code: str) -> None:
    case, rule = examples()[code].wrong, rules()[code]

    problems = case.problems(rule)

    assert problems
    for problem in problems:
        assert problem.message and problem.hint
        assert problem.path[0] in type(case.context().spec).model_fields
    assert rule.severity in {result.severity for result in case.findings(rule)} or not any(
        p.certain for p in problems
    )


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_nothing_where_its_mistake_is_put_right(code: str) -> None:
    assert examples()[code].right.problems(rules()[code]) == []


@pytest.mark.parametrize("code", CODES)
def test_what_puts_a_mistake_right_breaks_no_other_rule(code: str) -> None:
    context = examples()[code].right.context()

    errors = [
        finding.code
        for rule in rules().values()
        for finding in rule.findings(context.source, rule.scope.subjects(context))
        if finding.severity is Severity.ERROR
    ]

    assert errors == []


def test_every_rule_has_a_name_a_summary_and_a_source() -> None:
    for some_rule in rules().values():
        assert some_rule.summary.endswith("."), some_rule.code
        assert some_rule.source, some_rule.code


def test_no_example_is_of_a_rule_that_is_gone() -> None:
    assert set(examples()) == set(CODES)


def _module(name: str, code: str) -> ModuleType:
    """A module with one rule of a code."""

    def check(endpoint: EndpointContext) -> Iterator[Problem]:
        """A sentence."""
        yield Problem((), endpoint.region)

    check.__module__, check.__name__ = name, f"of_{name}"
    module = ModuleType(name)
    module.__dict__["only"] = rule(code, source="a source")(check)
    return module


class TestOneMeaning:
    def test_two_rules_of_one_code_are_refused_with_both_modules(self) -> None:
        with pytest.raises(ValueError, match="FL999 is the code of two rules: first.of_first and second.of_"):
            rules_of([_module("first", "FL999"), _module("second", "FL999")])

    def test_two_rules_of_one_code_in_one_module_are_refused(self) -> None:
        module = _module("first", "FL999")
        module.__dict__["other"] = _module("first", "FL999").__dict__["only"]
        with pytest.raises(ValueError, match="FL999 is the code of two rules: first.of_first"):
            rules_of([module])

    def test_a_rule_that_another_module_imports_is_one_rule(self) -> None:
        module, other_type = _module("first", "FL999"), ModuleType("other")
        other_type.__dict__["same"] = module.__dict__["only"]
        rules = rules_of([module, other_type])
        assert list(rules) == ["FL999"]
        assert isinstance(rules["FL999"], Rule)

    def test_a_rule_with_the_code_of_what_is_no_rule_is_refused(self) -> None:
        code = next(iter(other_codes()))
        with pytest.raises(ValueError, match=rf"{code} .*first.of_first and stands in other_codes.yaml"):
            rules_of([_module("first", code)])

    def test_two_examples_of_one_code_are_refused_with_both_places(self) -> None:
        entry = "FL999: {wrong: {}, right: {}}\n"
        with pytest.raises(ValueError, match="FL999 has two examples: a.yaml:1 and b.yaml:2"):
            examples_of({"b.yaml": f"FL998: {{wrong: {{}}, right: {{}}}}\n{entry}", "a.yaml": entry})

    def test_two_examples_of_one_code_in_one_file_are_refused(self) -> None:
        entry = "FL999: {wrong: {}, right: {}}\n"
        with pytest.raises(ValueError, match="FL999 has two examples: a.yaml:1 and a.yaml:2"):
            examples_of({"a.yaml": entry * 2})
