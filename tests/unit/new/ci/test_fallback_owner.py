"""Files that no line of a CODEOWNERS file has are the platform's: a deploy executes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.fleet_folder import FleetFolder
from triton_fleet.cli.commands import app

PLATFORM = 'policy: platform\nowner: {team: platform, contact: "@example/platform"}\n'


def run(folder: FleetFolder, *options: str) -> str:
    result = CliRunner().invoke(app, ["ci", "codeowners", *options], catch_exceptions=False)
    assert result.exit_code == 0
    return " ".join(f"{result.output} {result.stderr}".split())


@pytest.fixture
def fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """A fleet with an owned spec, at the top of its repository."""
    folder.spec('owner: {team: search, contact: "@example/search"}\n')
    folder.write("policies/platform.yaml", PLATFORM)
    (folder.root / ".git").mkdir()
    monkeypatch.chdir(folder.root)
    return folder


def rows(folder: FleetFolder, file: str = ".github/CODEOWNERS") -> list[str]:
    return (folder.root / file).read_text().splitlines()


def test_it_is_the_first_line_so_that_every_other_one_wins(fleet: FleetFolder) -> None:
    assert "FL573" not in run(fleet)
    assert rows(fleet)[1:4] == [
        "* @example/platform",
        "/.github/ @example/platform",
        "/model_specs/sentences.yaml @example/search",
    ]
    assert "is up to date" in run(fleet, "--check")


def test_it_does_not_override_lines_of_others_above_it(fleet: FleetFolder) -> None:
    fleet.write(".github/CODEOWNERS", "* @example/all\n/web/ @example/web\n")
    assert "FL573" not in run(fleet)
    assert not [row for row in rows(fleet) if row.startswith(("* @example/platform", "/.github"))]


@pytest.mark.parametrize(("line", "count"), [("/web/", 1), ("/.github/workflows/", 0), (".github", 0)])
def test_workflows_are_the_platforms_unless_a_line_above_is_for_them(
    fleet: FleetFolder, line: str, count: int
) -> None:
    fleet.write(".github/CODEOWNERS", f"{line} @example/web\n")
    run(fleet)
    assert rows(fleet).count("/.github/ @example/platform") == count


@pytest.mark.parametrize(
    "other_text", ["/web/ @example/web\n", "* @example/all\n*\n", "# * @example/all\n/a b\n"]
)
def test_a_file_whose_fallback_has_no_owner_is_warned_of(fleet: FleetFolder, other_text: str) -> None:
    fleet.write(".github/CODEOWNERS", other_text)
    text = run(fleet)
    assert "warning[executed-without-owner] FL573" in text
    assert "write `* @organisation/platform` as the first line" in text
    assert "FL573" in run(fleet, "--check")


def test_a_platform_without_a_contact_is_warned_of(fleet: FleetFolder) -> None:
    fleet.write("policies/platform.yaml", "policy: platform\nowner: {team: platform}\n")
    assert "FL573" in run(fleet)
    (fleet.root / "policies/platform.yaml").unlink()
    assert "FL573" in run(fleet)


def test_in_a_larger_repository_it_is_the_fleets_folder_and_jobs_need_another_line(
    fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fleet.root / ".git").rmdir()
    top = FleetFolder(fleet.root.parent)
    (top.root / ".git").mkdir()
    top.write("CODEOWNERS", "/web/ @example/web\n")
    name = fleet.root.name
    assert "files of .github/ without a line of their own have no owner" in run(fleet)
    assert {f"/{name}/ @example/platform", "/.github/workflows/fleet-*.yml @example/platform"} <= {
        *rows(top, "CODEOWNERS")
    }
    text = Path(top.root / "CODEOWNERS").read_text()
    top.write("CODEOWNERS", f"/.github/ @example/platform\n{text}")
    assert "FL573" not in run(fleet)
