"""Facts grow old: `make lint` warns of those that nobody has verified for 180 days, by name."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from catalog_refresh.ages import ages, stale_facts
from tests.support.catalog_samples import CatalogSamples
from tests.support.fleet_folder import ROOT

DATA = ROOT / "triton_fleet/catalog/data"


@pytest.mark.parametrize(("today", "warned_lines"), [("2027-02-17", []), ("2027-02-18", ["limits.yaml"])])
def test_a_fact_is_old_after_180_days(tmp_path: Path, today: str, warned_lines: list[str]) -> None:
    (tmp_path / "limits.yaml").write_text("source: people\ndate: 2026-08-21\nlimits: {tags: 1}\n")
    assert [age.file for age in stale_facts(tmp_path, date.fromisoformat(today))] == warned_lines


def test_the_warning_has_names_day_and_age_and_is_no_error(tmp_path: Path) -> None:
    run = CatalogSamples(tmp_path).refresh("--ages", "--today", "2027-03-01")
    assert run.code == 0
    assert "warning: limits.yaml: tags: last verified on 2026-08-21, 192 days ago" in run.errors
    assert "warning: other_prices.yaml: cpu: last verified on 2026-08-21, 192 days ago" in run.errors
    assert run.errors[-1] == "  remedy: docs/add/catalog.md lists how each file is verified"
    assert not [line for line in run.errors if "availability.yaml" in line]


def test_without_an_old_fact_nothing_is_printed(tmp_path: Path) -> None:
    run = CatalogSamples(tmp_path).refresh("--ages")
    assert (run.code, run.lines, run.errors) == (0, [], [])


def test_a_long_list_of_names_is_cut() -> None:
    (variables,) = (age for age in ages(DATA, date(2027, 4, 1)) if age.file == "variables.yaml")
    assert len(variables.facts) > 20
    assert f" and {len(variables.facts) - 5} more: last verified on " in str(variables)


def test_every_file_of_the_catalog_has_an_age() -> None:
    assert {age.file for age in ages(DATA, date(2026, 11, 23))} == {file.name for file in DATA.iterdir()}


def test_all_ages_can_be_listed(tmp_path: Path) -> None:
    run = CatalogSamples(tmp_path).refresh("--ages", "--older-than", "30")
    assert (
        "warning: availability.yaml: usual_sizes, regions: last verified on 2026-10-20, 34 days ago"
        in run.errors
    )


def test_the_page_lists_every_file_once() -> None:
    matches = re.findall(
        r"^\| `([a-z0-9_]+\.(?:yaml|json))` \|", (ROOT / "docs/add/catalog.md").read_text(), re.MULTILINE
    )
    assert sorted(matches) == sorted(file.name for file in DATA.iterdir())
