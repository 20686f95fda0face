"""A proposed spec has prices of a region that the endpoint is in, or states that there are none."""

from __future__ import annotations

import pytest

from fleet.catalog.prices import price_list
from new_specs import NewSpecs


def test_a_price_is_that_of_a_region_that_the_endpoint_is_in(new: NewSpecs) -> None:
    new.onnx("embed")
    assert f" an hour in {price_list().region}, as of {price_list().date})" in " ".join(new.text().split())


@pytest.mark.parametrize("local", ["us-east-1", "eu-central-1"])
def test_without_prices_of_the_region_there_are_none(new: NewSpecs, local: str) -> None:
    for file in (new.fleet.root / "environments").iterdir():
        file.write_text(file.read_text().replace("us-east-1", "eu-central-1"))
    here = f'environment: local\naccount: "123456789012"\nregion: {local}\n'
    new.fleet.write("environments/local.yaml", here)
    new.onnx("embed")
    words = " ".join(new.text().replace("\n#", "").split())
    assert (
        "(the catalog has no prices of eu-central-1, us-west-2): the cheapest by us-east-1's prices of"
        in words
    )
    assert "an hour" not in words
