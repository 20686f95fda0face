"""Overrides, endpoints and locks that no environment has are warnings."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.run import all_findings
from triton_fleet.findings import Severity
from triton_fleet.project.project import open_project

CODES = ("FL575", "FL576", "FL842")


def warnings(folder: FleetFolder, environment: str = "dev", *endpoints: str) -> list[str]:
    findings = [item for item in folder.check(environment, *endpoints) if item.code in CODES]
    assert all(item.severity is Severity.WARNING for item in findings)
    return [
        f"{item.file.name if item.file else ''}:{item.line} {item.code} {item.message} | {item.hint}"
        for item in findings
    ]


@pytest.fixture
def fleet(folder: FleetFolder) -> FleetFolder:
    """Two endpoints and two environments."""
    folder.environment(name="prod", account=4)
    folder.spec(name="images", base=SPEC.replace("sentences", "images"))
    folder.lock()
    return folder


def test_what_is_used_is_not_warned_of(fleet: FleetFolder) -> None:
    fleet.environment("overrides: {images: {tags: {a: b}}}\nendpoints: [images, sent*]\n")
    fleet.spec("environments: [dev, prod]\noverrides: {prod: {tags: {a: b}}, local: {tags: {a: b}}}\n")
    assert warnings(fleet) == []


def test_overrides_for_an_environment_without_the_endpoint(fleet: FleetFolder) -> None:
    fleet.spec("environments: [dev]\noverrides: {prod: {tags: {a: b}}}\n")
    assert warnings(fleet) == [
        "sentences.yaml:7 FL575 `overrides` for prod has no effect: the endpoint's `environments` has dev"
        " | remove it, or add the endpoint there"
    ]
    fleet.spec("overrides: {prod: {tags: {a: b}}}\n")
    fleet.environment("endpoints: [images]\n", "prod", account=4)
    assert warnings(fleet, "dev", "sentences") == [
        "sentences.yaml:6 FL575 `overrides` for prod has no effect: `endpoints` of environments/prod.yaml"
        " does not include sentences | remove it, or add the endpoint there"
    ]


def test_overrides_of_an_environment_for_an_endpoint_that_it_does_not_have(fleet: FleetFolder) -> None:
    fleet.environment("overrides: {images: {tags: {a: b}}}\nendpoints: [sentences]\n")
    (fleet.root / "locks/dev/images.lock.yaml").unlink()
    assert warnings(fleet) == [
        "dev.yaml:4 FL575 these `overrides` have no effect: 'images' is not in dev: its `endpoints` do not"
        " include it | remove them"
    ]


def test_a_choice_of_endpoints_that_leave_the_environment_out(fleet: FleetFolder) -> None:
    fleet.environment("endpoints: [images, sentences]\n")
    fleet.spec("environments: [prod]\n")
    (fleet.root / "locks/dev/sentences.lock.yaml").unlink()
    assert warnings(fleet) == [
        "dev.yaml:4 FL576 'sentences' has no effect: 'sentences' is not in dev: its `environments` has prod"
        " | remove it, or add the environment there"
    ]


@pytest.mark.parametrize("place", ["spec", "environments"])
def test_an_endpoint_that_no_environment_has(fleet: FleetFolder, place: str) -> None:
    (fleet.root / "locks/dev/sentences.lock.yaml").unlink()
    if place == "spec":
        fleet.spec("environments: []\n")
    else:
        fleet.environment("endpoints: [images]\n")
        fleet.environment("endpoints: [images]\n", "prod", account=4)
    line = 6 if place == "spec" else 1
    expected_text = (
        f"sentences.yaml:{line} FL576 no environment but local has 'sentences', so nothing deploys it"
        " | name environments in `environments`, or remove the spec"
    )
    assert warnings(fleet) == warnings(fleet, "prod") == [expected_text]
    fleet.environment(name="local", account=5)
    assert warnings(fleet, "local") == []


def test_an_endpoint_that_waits_for_its_promotion_is_used(fleet: FleetFolder) -> None:
    fleet.environment("promoted_from: dev\noverrides: {images: {tags: {a: b}}}\n", "prod", account=4)
    assert warnings(fleet) == warnings(fleet, "prod") == []


def test_locks_of_an_environment_without_a_file(fleet: FleetFolder) -> None:
    fleet.write("locks/old/sentences.lock.yaml", "")
    fleet.write("locks/notes/README.md", "")
    assert warnings(fleet) == [
        "old:1 FL842 these are locks of an environment that has no file: 'old'"
        " | `git rm -r locks/old`, or write environments/old.yaml"
    ]


TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("at(2026-11-18T08:00:00)", "2026-11-18"),
        ("at(2026-11-19T23:00:00)", ""),
        ("at(2027-01-01T00:00:00)", ""),
        ("cron(0 8 ? * MON 2024-2025)", "2025-12-31"),
        ("cron(0 8 ? * MON 2024,2026)", ""),
        ("cron(0 8 ? * MON *)", ""),
        ("rate(1 day)", ""),
    ],
)
def test_a_schedule_that_never_fires_again_is_told_from_the_day_after(
    folder: FleetFolder, at: str, day: str
) -> None:
    schedule = f'{{name: sale, at: "{at}", min: 2}}'
    folder.spec(f"scaling: {{min: 1, max: 4, gpu_utilization: 60, schedules: [{schedule}]}}\n")
    findings = all_findings(open_project(folder.root, "dev"), today=TODAY)
    messages = [finding.message for finding in findings if finding.code == "FL577"]
    text = f"the schedule 'sale' never fires again: its last day was {day}"
    assert messages == ([text] if day else [])
    assert "FL577" not in {finding.code for finding in folder.check()}
