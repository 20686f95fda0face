"""How what runs is compared with what is declared, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.aws.drift.declaration import UNKNOWN, AnyCase
from triton_fleet.aws.drift.difference import ABSENT, DELETION, Whole, differences


def drift_lines(declared_values: Any, actual: Any) -> list[str]:
    return [str(difference) for difference in differences(declared_values, actual)]


@pytest.mark.parametrize(
    ("declared_values", "actual"),
    [
        ({"Threshold": 1}, {"Threshold": 1.0}),
        ({"Period": "60"}, {"Period": 60}),
        ({"ReturnData": "true"}, {"ReturnData": True}),
        ({"Action": "s3:GetObject"}, {"Action": ["s3:GetObject"]}),
        ({"Action": ["a", "b"]}, {"Action": ["b", "a"]}),
        ({"Dimensions": []}, {}),
        (
            {"Metrics": [{"Id": "a", "Period": 1}, {"Id": "b"}]},
            {"Metrics": [{"Id": "b"}, {"Id": "a", "Period": 1}]},
        ),
        ({"Threshold": 1}, {"Threshold": 1, "StateValue": "ALARM"}),
        ({"ModelName": AnyCase("model-ab")}, {"ModelName": "Model-AB"}),
        ({"Environment": {"A": "caf?"}}, {"Environment": {"A": "caf\N{LATIN SMALL LETTER E WITH ACUTE}"}}),
        ({"AlarmActions": UNKNOWN}, {"AlarmActions": ["topic"]}),
        ({"AlarmActions": [UNKNOWN]}, {"AlarmActions": ["topic"]}),
    ],
    ids=str,
)
def test_what_differs_in_form_alone_or_was_never_declared_is_the_same(
    declared_values: Any, actual: Any
) -> None:
    assert drift_lines(declared_values, actual) == []


@pytest.mark.parametrize(
    ("declared_values", "actual", "words"),
    [
        ({"MaxCapacity": 4}, {"MaxCapacity": 20}, ["max instances 4 → 20"]),
        ({"ActionsEnabled": True}, {"ActionsEnabled": False}, ["actions on → off"]),
        ({"ModelName": AnyCase("model-ab")}, {"ModelName": "model-b"}, ["ModelName model-ab → model-b"]),
        ({"MinCapacity": 0}, {}, ["min instances 0 → none"]),
        ({"PermissionsBoundary": ABSENT}, {"PermissionsBoundary": "b"}, ["permissions boundary none → b"]),
        ({"AlarmActions": ["a"]}, {"AlarmActions": []}, ['AlarmActions ["a"] → []']),
        ({"Policies": Whole()}, {"Policies": {"mine": "x"}}, ["inline policy mine none → x"]),
        (
            {"Metrics": [{"Id": "a", "Stat": "p99"}]},
            {"Metrics": [{"Id": "a", "Stat": "p50"}]},
            ["Metrics a Stat p99 → p50"],
        ),
        ({"Statement": [{"Sid": "A"}]}, {"Statement": [{"Sid": "A"}, {"Sid": "B"}]}, None),
        ({"A": "x" * 100}, {"A": "y"}, [f"A {'x' * 59}… → y"]),
    ],
    ids=str,
)
def test_each_difference_is_named_by_its_property_with_both_values(
    declared_values: Any, actual: Any, words: list[str] | None
) -> None:
    lines = drift_lines(declared_values, actual)
    assert lines == (['Statement B none → {"Sid": "B"}'] if words is None else words)


def test_what_was_deleted_is_named_so() -> None:
    assert str(DELETION) == "deleted"
