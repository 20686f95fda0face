"""The public API by names and parameters: what breaks for its users is written in the changelog.

`python -m pytest -n0 tests/synth/library/test_public_api.py` tells what differs; public_api.yaml is then changed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.support.constructs_page import public_api
from tests.support.fleet_folder import ROOT

FILE = Path(__file__).parent / "public_api.yaml"
Api = Mapping[str, Mapping[str, str]]


def breaks(before: Api, after: Api) -> list[str]:
    """Changes that users of the API before would have to make."""
    names = [name for name in before if name not in after]
    for name in before.keys() & after.keys():
        names += [f"{name}({item})" for item in before[name] if item not in after[name]]
        names += [
            f"{name}({item})"
            for item, default in after[name].items()
            if default == "required" and before[name].get(item) != "required"
        ]
    return sorted(names)


def test_the_api_is_as_it_is_listed() -> None:
    document, current_public_api = yaml.safe_load(FILE.read_text()), public_api()
    broken_breaks = breaks(document, current_public_api)
    changelog = (ROOT / "CHANGELOG.md").read_text()
    unsaid = [broken_break for broken_break in broken_breaks if f"`{broken_break}`" not in changelog]
    assert unsaid == [], "users of these must change: name each in CHANGELOG.md, as `NAME(PARAMETER)`"
    assert current_public_api == document, f"write what is new or changed into {FILE.name}"


@pytest.mark.parametrize(
    ("after", "broken_lines"),
    [
        ({"A": {"x": "required", "y": "`1`"}}, []),
        ({"A": {"x": "required", "y": "`2`", "z": "`3`"}, "B": {}}, []),
        ({}, ["A"]),
        ({"A": {"x": "required"}}, ["A(y)"]),
        ({"A": {"x": "required", "y": "required"}}, ["A(y)"]),
        ({"A": {"x": "required", "y": "`1`", "z": "required"}}, ["A(z)"]),
    ],
)
def test_a_name_or_parameter_that_goes_and_one_that_is_required_anew_are_breaks(
    after: Api, broken_lines: list[str]
) -> None:
    assert breaks({"A": {"x": "required", "y": "`1`"}}, after) == broken_lines
