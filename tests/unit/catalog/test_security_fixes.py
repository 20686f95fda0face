"""Which release of Triton has which security fix of the SageMaker front end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import releases
from triton_fleet.catalog.security_fixes import FixSeverity, SecurityFix, missing_fixes, security_fixes
from triton_fleet.catalog.variables import flags
from triton_fleet.spec.endpoint import Mode

PAGE = Path(__file__).resolve().parents[3] / "docs/images.md"
RESTRICTED_OPTIONS = ["--http-restricted-api"]
FACTS = data_file("security_fixes.yaml")["fixes"]
FIXES = {fix.id: fix for fix in security_fixes()}


def lacking_fixes(release: str, mode: str, *name: str) -> list[str]:
    return sorted(fix.id for fix in missing_fixes(release, mode, name))


@pytest.mark.parametrize("fix", security_fixes(), ids=lambda item: item.id)
def test_a_fix_has_a_release_or_the_earliest_that_may_have_it(fix: SecurityFix) -> None:
    assert (fix.first is None) == bool(fix.not_before)
    assert fix.since < (fix.first or fix.not_before)
    assert set(fix.modes) <= {mode.value for mode in Mode}
    assert set(fix.flags) <= flags()
    assert fix.pulls


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
def test_a_severity_is_this_projects_own_only_without_a_cve(facts: dict[str, Any]) -> None:
    assert facts["rating"] in {"stated", "inferred", "own"}
    assert (facts["rating"] == "own") == ("cves" not in facts)
    assert facts["reach"] in {"caller", "container"}


@pytest.mark.parametrize(
    ("fix", "release"),
    [
        ("chunked-request", "25.07"),
        ("load-race", "26.01"),
        ("path-traversal", "26.03"),
        ("restricted-load", "26.03"),
        ("load-path", "26.06"),
        ("restricted-invoke", "26.07"),
        ("header-length", None),
    ],
)
def test_the_first_release_with_a_fix_is_that_of_the_servers_tags(fix: str, release: str | None) -> None:
    assert FIXES[fix].first == release


def test_only_a_multi_model_endpoint_lacks_fixes_of_the_load_api() -> None:
    of_loads = {"load-race", "path-traversal", "null-target", "load-path"}
    assert of_loads <= set(lacking_fixes("25.04", "multi-model"))
    for mode in ("single", "shared-container"):
        assert of_loads.isdisjoint(lacking_fixes("25.04", mode))


def test_the_newest_image_of_aws_has_every_fix_of_a_single_endpoint_and_lacks_one_of_loads() -> None:
    assert releases()[-1] == "26.05"
    assert lacking_fixes("26.05", "single") == lacking_fixes("26.05", "shared-container") == []
    assert lacking_fixes("26.05", "multi-model") == ["load-path"]


def test_a_fix_of_a_flag_is_lacked_only_where_the_flag_is_given() -> None:
    assert "restricted-load" not in lacking_fixes("25.04", "single")
    assert "restricted-load" in lacking_fixes("25.04", "single", *RESTRICTED_OPTIONS)
    assert lacking_fixes("26.05", "multi-model", *RESTRICTED_OPTIONS) == ["load-path", "restricted-invoke"]


def test_a_mistake_that_came_with_a_release_is_not_in_older_ones() -> None:
    assert "header-length" not in lacking_fixes("26.05", "single")
    assert lacking_fixes("26.06", "single") == lacking_fixes("26.08", "single") == ["header-length"]


def test_the_worst_comes_first() -> None:
    ranks = [
        fix.severity.rank for fix in missing_fixes("25.04", "multi-model", frozenset(RESTRICTED_OPTIONS))
    ]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == FixSeverity.CRITICAL.rank


@pytest.mark.parametrize("fix", security_fixes(), ids=lambda item: item.id)
def test_the_page_about_images_lists_each_fix_as_the_catalog_has_it(fix: SecurityFix) -> None:
    (row,) = (line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{fix.id}` |"))
    facts = FACTS[fix.id]
    assert f"| {fix.severity}, {facts['rating']} | {fix.release_text}" in row
    assert all(f"`{mode}`" in row for mode in (*fix.modes, *fix.flags))
    assert row.endswith(f"| {facts['title']}: {facts['effect']} |")
