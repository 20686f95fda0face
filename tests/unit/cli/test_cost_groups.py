"""Costs of endpoints by owner, tag, profile or environment: sums to the cent."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.cli.cost.document import cost_groups, labels_by
from triton_fleet.context.cost import fleet_cost
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project


def groups(folder: FleetFolder, by: str, *environments: str) -> dict[str, tuple[int, str]]:
    """By name: how many endpoints, and a month at most."""
    fleets = []
    for name in environments or ("dev",):
        project = open_project(folder.root, name)
        specs = [project.load(endpoint) for endpoint in project.endpoints]
        fleets.append(
            (fleet_cost(project.environment, [spec.spec for spec in specs], project.fleet.prices), specs)
        )
    return {
        group.name: (len(group.endpoints), str(group.max_cost.per_month) if group.max_cost else "unknown")
        for group in cost_groups(fleets, labels_by(by))
    }


@pytest.fixture
def three(folder: FleetFolder) -> FleetFolder:
    """One g5.xlarge each, 1.408 an hour: 1,013.76 a month."""
    folder.write("profiles/gpu.yaml", "instance: {type: ml.g5.xlarge}\n")
    folder.write("profiles/tagged.yaml", "tags: {cost-centre: '42'}\n")
    short = SPEC.replace("instance: {type: ml.g5.xlarge}\n", "")
    keys = {
        "sentences": "profile: gpu\nowner: {team: search}\n",
        "images": "profile: [gpu, tagged]\nowner: {team: search}\ninstance: {count: 2}\n",
        "texts": "profile: gpu\n",
    }
    for name, text in keys.items():
        folder.spec(text, name, base=short.replace("endpoint: sentences", f"endpoint: {name}"))
    return folder


def test_by_owner_those_without_one_are_a_group(three: FleetFolder) -> None:
    assert groups(three, "owner") == {"search": (2, "3041.28"), "(none)": (1, "1013.76")}


def test_by_profile_an_endpoint_of_two_is_in_both(three: FleetFolder) -> None:
    assert groups(three, "profile") == {"gpu": (3, "4055.04"), "tagged": (1, "2027.52")}


def test_by_tag_the_tags_of_spec_environment_and_product_count(three: FleetFolder) -> None:
    assert groups(three, "tag:cost-centre") == {"42": (1, "2027.52"), "(none)": (2, "2027.52")}
    assert groups(three, "tag:triton-fleet:owner") == {"search": (2, "3041.28"), "(none)": (1, "1013.76")}
    three.environment("tags: {cost-centre: '7'}\n")
    assert groups(three, "tag:cost-centre") == {"42": (1, "2027.52"), "7": (2, "2027.52")}


def test_by_environment_each_is_a_group(three: FleetFolder) -> None:
    three.environment("defaults: {instance: {count: 3}}\n", "prod")
    assert groups(three, "environment", "dev", "prod") == {"prod": (3, "8110.08"), "dev": (3, "4055.04")}


def test_a_group_without_prices_has_no_sum(three: FleetFolder) -> None:
    three.environment("overrides: {texts: {instance: {type: ml.p6-b200.48xlarge}}}\n")
    assert groups(three, "owner")["(none)"] == (1, "unknown")


@pytest.mark.parametrize(("by", "meant_text"), [("ownr", "owner"), ("tag:", "tag:NAME"), ("team", "known:")])
def test_another_key_is_refused_with_the_known_ones(by: str, meant_text: str) -> None:
    with pytest.raises(FindingsError, match=meant_text):
        labels_by(by)
