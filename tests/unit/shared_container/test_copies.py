"""Code that the program of the container repeats, as it imports nothing of the product, is that of the product."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from fleet_client import client
from shared_container import routes, settings
from shared_container.nginx_config import SCRIPTS
from triton_fleet.context.shared_container import ROUTES, joined_value
from triton_fleet.local.triton.shared_container import MODULE, MODULES
from triton_fleet.spec.values import ModelName

NAMES = ["a", "_a", "a.b-c_d", "9", "-a", ".a", "a b", "a/b", "a;b", "", "a" * 255, "a" * 256]
VERSIONS = ["0", "1", "01", "-1", "1.5", "", "9" * 19, "9" * 20]


def in_script(file: str, name: str) -> re.Pattern[str]:
    """A pattern of a script, as its line declares it."""
    match = re.search(rf"^const {name} = /(.+)/;$", (SCRIPTS / file).read_text(), re.MULTILINE)
    assert match is not None
    return re.compile(match[1])


@pytest.mark.parametrize("file", ["router.js", "named_form.js"])
def test_a_route_and_a_version_are_the_same_to_all_who_read_them(file: str) -> None:
    (constraints,) = get_args(ModelName)[1:]
    spec: Any = re.compile(constraints.pattern)
    for text in NAMES:
        of_spec = spec.fullmatch(text) is not None and len(text) <= constraints.max_length
        other_matches = [
            routes.NAME.fullmatch(text),
            client._ROUTE.fullmatch(text),
            in_script(file, "NAME").search(text),
        ]
        assert [item is not None for item in other_matches] == [of_spec] * 3, text
    for text in VERSIONS:
        matches = [
            routes.VERSION.fullmatch(text),
            client._VERSION.fullmatch(text),
            in_script(file, "VERSION").search(text),
        ]
        assert len({item is not None for item in matches}) == 1, text


def test_njs_is_looked_for_where_the_program_looks() -> None:
    assert (MODULE, MODULES) == (settings.JS_MODULE, settings.JS_FOLDERS)


def test_a_value_that_was_cut_is_joined_alike() -> None:
    cut = {ROUTES: "a", f"{ROUTES}_1": "b", f"{ROUTES}_2": "c", f"{ROUTES}_4": "d"}
    assert joined_value(cut, ROUTES) == routes.joined_value(cut, ROUTES) == "abc"
