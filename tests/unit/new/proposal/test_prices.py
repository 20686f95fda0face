"""A proposed spec has the price of its instance in each region that the endpoint is in, or says unknown."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.new_specs import NAME, NewSpecs
from triton_fleet.project.project import open_project
from triton_fleet.rules.policies.check import policy_findings


def words(new: NewSpecs) -> str:
    return " ".join(new.text().replace("\n#", "").split())


def test_a_price_is_that_of_each_region_that_the_endpoint_is_in(new: NewSpecs) -> None:
    new.onnx("embed")
    text = words(new)
    assert (
        "ml.g4dn.xlarge (an hour: 0.7364 USD in us-east-1, ~0.7364 USD in us-west-2; on-demand list" in text
    )
    assert "the cheapest in us-east-1 of g4dn, g5, g6" in text


@pytest.mark.parametrize("local", ["us-east-1", "eu-central-1"])
def test_the_region_of_this_machine_has_no_price(new: NewSpecs, local: str) -> None:
    for file in (new.fleet.root / "environments").iterdir():
        file.write_text(file.read_text().replace("us-east-1", "eu-central-1"))
    text = f'environment: local\naccount: "123456789012"\nregion: {local}\n'
    new.fleet.write("environments/local.yaml", text)
    new.onnx("embed")
    assert "(an hour: ~0.9212 USD in eu-central-1, ~0.7364 USD in us-west-2;" in words(new)


def test_where_no_price_is_known_the_smallest_is_proposed(new: NewSpecs) -> None:
    for file in (new.fleet.root / "environments").iterdir():
        file.write_text(file.read_text().replace("us-east-1", "cn-north-1"))
    new.onnx("embed")
    text = words(new)
    assert "(an hour: ~0.7364 USD in us-west-2, unknown in cn-north-1; on-demand list" in text
    assert "the smallest of g4dn, g5, g6" in text


def test_the_fleets_own_prices_decide_what_is_cheapest(new: NewSpecs) -> None:
    new.fleet.write("prices.yaml", "date: 2026-11-01\nprices: {us-east-1: {ml.g6.xlarge: 0.5}}\n")
    new.onnx("embed")
    assert "ml.g6.xlarge (an hour: 0.5 USD in us-east-1, ~1.1267 USD in us-west-2; prices.yaml of" in words(
        new
    )


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1", "ap-south-1"])
def test_the_policy_of_a_new_fleet_allows_the_proposal_for_a_cpu_model(new: NewSpecs, region: str) -> None:
    for file in (new.fleet.root / "environments").iterdir():
        file.write_text(file.read_text().replace("us-east-1", region))
    new.fleet.write("policies/platform.yaml", (ROOT / "policies/platform.yaml").read_text())
    new.python("embed", "instance_group [ { kind: KIND_CPU } ]")
    assert "type: ml.c5.large" in new.text()
    for name in ("dev", "prod"):
        project = open_project(new.fleet.root, name, [NAME])
        assert policy_findings(project, project.readable_specs(), date(2026, 11, 27)) == []
