"""The catalog's CloudFormation properties, found by their path."""

from __future__ import annotations

from datetime import date

import pytest

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.properties import Property, properties_date, property_at

VARIANT = ("ProductionVariants", "0")


def test_the_catalog_has_the_resources_of_an_endpoint_and_their_day() -> None:
    assert list(data_file("properties.json")["resources"]) == ["Model", "EndpointConfig", "Endpoint"]
    assert date.fromisoformat(properties_date()) >= date(2026, 10, 20)


def test_a_property_is_found_through_lists_and_types() -> None:
    path = property_at("EndpointConfig", (*VARIANT, "VolumeSizeInGB"))
    assert path.rest == ()
    assert path.property == Property(types=("integer",), minimum=1, maximum=512)


def test_where_a_path_leaves_the_schema_the_names_that_are_there_are_known() -> None:
    path = property_at("EndpointConfig", (*VARIANT, "RoutingConfig", "Strategy", "X"))
    assert path.rest == ("Strategy", "X")
    assert path.property.names == {"RoutingStrategy", "PrefixAwareRoutingConfig"}


@pytest.mark.parametrize("place", ["-1", "00", "first", "1.0"])
def test_only_a_whole_number_from_0_is_a_place_in_a_list(place: str) -> None:
    assert property_at("EndpointConfig", ("ProductionVariants", place)).rest == (place,)


def test_below_a_mapping_without_names_everything_is_known_and_nothing_limited() -> None:
    assert property_at("Model", ("PrimaryContainer", "Environment", "A", "B")).property == Property()


def test_what_cloudformation_sets_itself_is_read_only() -> None:
    assert property_at("Endpoint", ("EndpointArn",)).property.is_read_only
    assert not property_at("Endpoint", ("EndpointName",)).property.is_read_only


def test_an_unknown_resource_is_not_found() -> None:
    with pytest.raises(KeyError):
        property_at("Notebook", ())


WHOLE = Property(types=("integer",), minimum=1, maximum=512)
NAME = Property(types=("string",), shortest=1, longest=3, pattern="^[a-z]+$")
LIST = Property(types=("array",), fewest=1, most_items=2)
CHOICE = Property(types=("integer",), allowed_values=(10, 30))
SHARE = Property(types=("number",), minimum=0)


@pytest.mark.parametrize(
    ("known_property", "value"),
    [
        (WHOLE, 1),
        (WHOLE, "512"),
        (NAME, "abc"),
        (LIST, [1, 2]),
        (LIST, {"0": 1}),
        (CHOICE, "30"),
        (SHARE, 0),
        (SHARE, 0.5),
        (Property(types=("boolean",)), False),
        (Property(types=("boolean",)), "True"),
        (Property(types=("string",)), 25.04),
        (Property(types=("object", "string")), {}),
        (Property(), [None]),
    ],
)
def test_a_value_within_the_limits_is_taken_and_read_from_text_too(
    known_property: Property, value: object
) -> None:
    assert known_property.takes(value)


@pytest.mark.parametrize(
    ("known_property", "value", "taken_text"),
    [
        (WHOLE, 0, "a whole number of 1 to 512"),
        (WHOLE, 513, "a whole number of 1 to 512"),
        (WHOLE, 1.5, "a whole number of 1 to 512"),
        (WHOLE, True, "a whole number of 1 to 512"),
        (WHOLE, None, "a whole number of 1 to 512"),
        (NAME, "", "text of 1 to 3 characters that matches ^[a-z]+$"),
        (NAME, "abcd", "text of 1 to 3 characters that matches ^[a-z]+$"),
        (NAME, "A", "text of 1 to 3 characters that matches ^[a-z]+$"),
        (NAME, ["a"], "text of 1 to 3 characters that matches ^[a-z]+$"),
        (LIST, [], "a list of 1 to 2 items"),
        (LIST, "a", "a list of 1 to 2 items"),
        (CHOICE, 20, "one of 10, 30"),
        (SHARE, -0.5, "a number of at least 0"),
        (SHARE, float("inf"), "a number of at least 0"),
        (Property(types=("boolean",)), "yes", "true or false"),
        (Property(types=("object",), names=frozenset("ba")), [], "a mapping of a, b"),
        (Property(types=("string",), longest=3), "abcd", "text of at most 3 characters"),
    ],
)
def test_a_value_outside_the_limits_is_not_taken(
    known_property: Property, value: object, taken_text: str
) -> None:
    assert not known_property.takes(value)
    assert known_property.accepted_values == taken_text
