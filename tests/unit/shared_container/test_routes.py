"""The routes of the shared container: what the variable may contain, and what the router reads of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_container.routes import ROUTES, Route, Routes, SettingsError, read_routes

RESNET = {"model": "resnet_image", "versions": ["1", "2"]}
MAX_CHARACTERS = 1024
"""Of one variable of a container, by SageMaker."""


def routes(value: Any) -> Routes:
    return read_routes({ROUTES: value if isinstance(value, str) else json.dumps(value)})


def cut(text: str) -> dict[str, str]:
    """A variable with its continuations."""
    parts = [text[start : start + MAX_CHARACTERS] for start in range(0, len(text), MAX_CHARACTERS)]
    return {ROUTES if index == 0 else f"{ROUTES}_{index}": part for index, part in enumerate(parts)}


def test_a_route_is_a_model_and_its_versions() -> None:
    actual_routes = routes({"default": "resnet", "routes": {"resnet": RESNET}})
    assert actual_routes == Routes({"resnet": Route("resnet_image", ("1", "2"))}, "resnet")


def test_a_default_is_optional() -> None:
    assert routes({"routes": {"resnet": RESNET}}).default is None


@given(st.integers(min_value=1, max_value=60))
def test_a_long_variable_is_joined_from_its_continuations(count: int) -> None:
    value = {"routes": {f"model-{index}": RESNET for index in range(count)}}
    assert len(read_routes(cut(json.dumps(value))).routes) == count


def test_a_model_of_two_routes_has_to_be_ready_once() -> None:
    actual_routes = routes({"routes": {"a": RESNET, "b": {"model": "resnet_image", "versions": ["2", "3"]}}})
    assert actual_routes.models() == [("resnet_image", "1"), ("resnet_image", "2"), ("resnet_image", "3")]


def test_the_router_reads_names_that_no_object_has() -> None:
    read = json.loads(routes({"routes": {"constructor": RESNET}}).text())
    assert read["routes"] == {"/constructor": RESNET}
    assert json.loads(read["models"]) == {"constructor": ["1", "2"]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"routes": {"a": {}, "a": {}}}', "a key is repeated"),
        ({"routes": {}}, "name at least one model"),
        ({"routes": {"a": RESNET}, "default": "b"}, "default is 'b', which is not one of a"),
        ({"routes": {"a": RESNET}, "more": 1}, "has unknown keys: more"),
        ({"default": "a"}, "lacks routes"),
        ({"routes": {"a": {"model": "a"}}}, "lacks versions"),
        ({"routes": {"-a": RESNET}}, "a route's name matches"),
        ({"routes": {"a" * 256: RESNET}}, "a route's name matches"),
        ({"routes": {"a/b": RESNET}}, "a route's name matches"),
        ({"routes": {"a\n": RESNET}}, "a route's name matches"),
        ({"routes": {"a": {"model": "..", "versions": ["1"]}}}, "a model's name matches"),
        ({"routes": {"a": {"model": "a b", "versions": ["1"]}}}, "a model's name matches"),
        ({"routes": {"a": {"model": 1, "versions": ["1"]}}}, "a model's name matches"),
        ({"routes": {"a": {"model": "a", "versions": []}}}, "list at least one version"),
        ({"routes": {"a": {"model": "a", "versions": [1]}}}, "a version is a text"),
        ({"routes": {"a": {"model": "a", "versions": ["01"]}}}, "a version is a text"),
    ],
)
def test_what_no_request_could_reach_is_refused(value: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        routes(value)


def test_the_routes_are_required() -> None:
    with pytest.raises(SettingsError, match=f"{ROUTES} is not set"):
        read_routes({})
