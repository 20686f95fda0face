"""Specs with raw CloudFormation properties, and what the rules about those say."""

from __future__ import annotations

from typing import Any

from triton_fleet.rules.example import REGION, Case
from triton_fleet.rules.registry import rules

CODES = ("FL223", "FL230", "FL231", "FL263", "FL264", "FL268", "FL269", "FL298", "FL299")


def case(cloudformation: dict[str, Any], **keys: Any) -> Case:
    """A spec with raw properties and further keys."""
    spec = {"cloudformation": cloudformation, **keys}
    return Case(spec=spec, region=REGION, models=None, archive_size=1 << 20)


def codes(cloudformation: dict[str, Any], **keys: Any) -> list[str]:
    """The codes of the rules about raw properties that the spec breaks, one for each problem."""
    return [code for code in CODES for _ in case(cloudformation, **keys).problems(rules()[code])]


def config(**properties: Any) -> list[str]:
    """The codes of a spec with raw properties of its endpoint configuration."""
    return codes({"EndpointConfig": properties})


def variant(name: str, value: object) -> list[dict[str, Any]]:
    """The ways to spell one property of the variant."""
    return [
        {f"ProductionVariants.0.{name}": value},
        {"ProductionVariants.0": {name: value}},
        {"ProductionVariants": {"0": {name: value}}},
        {"ProductionVariants": [{name: value}]},
    ]


def raw_message(code: str, cloudformation: dict[str, Any]) -> tuple[str, str]:
    """The message and the advice of a rule for the one problem that it finds."""
    (problem,) = case(cloudformation).problems(rules()[code])
    return problem.message, problem.hint
