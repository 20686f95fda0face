"""CODEOWNERS follows from the owners of specs, and leaves alone what others wrote in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fleet.ci.codeowners import codeowners, with_block
from fleet.cli.commands import app
from fleet.findings import FindingsError
from fleet_folder import SPEC, FleetFolder


def lines(folder: FleetFolder, top: Path | None = None) -> list[str]:
    return codeowners(folder.root, top or folder.root).splitlines()[1:-1]


def named(name: str, text: str = "", repository: str = "../repository") -> str:
    return SPEC.replace("sentences", name).replace("../repository", repository) + text


SEARCH = 'owner: {team: search, contact: "@example/search"}\n'


def test_a_spec_its_locks_and_its_repository_are_the_owners(folder: FleetFolder) -> None:
    folder.spec(SEARCH)
    assert lines(folder) == [
        "/model_specs/sentences.yaml @example/search",
        "/locks/*/sentences.*.yaml @example/search",
        "/repository/ @example/search",
    ]


def test_a_folder_with_an_owner_is_one_line_and_an_owner_inside_wins(folder: FleetFolder) -> None:
    folder.write("model_specs/search/_folder.yaml", SEARCH)
    folder.write("model_specs/search/one.yaml", named("one", repository="../../repository"))
    folder.write(
        "model_specs/search/two.yaml",
        named("two", "owner: {team: ads, contact: ads@example.com}\n", "../../repository"),
    )
    assert lines(folder) == [
        "/model_specs/search/ @example/search",
        "/model_specs/search/two.yaml ads@example.com",
        "/locks/*/one.*.yaml @example/search",
        "/locks/*/two.*.yaml ads@example.com",
        "/repository/ @example/search ads@example.com",
    ]


def test_a_policy_is_its_owners_where_that_has_a_contact(folder: FleetFolder) -> None:
    folder.write(
        "policies/platform.yaml", 'policy: platform\nowner: {team: platform, contact: "@example/platform"}\n'
    )
    folder.write("policies/search.yaml", "policy: search\nowner: {team: search}\n")
    assert lines(folder) == ["/policies/platform.yaml @example/platform"]


def test_a_spec_without_an_owner_has_no_line(folder: FleetFolder) -> None:
    assert lines(folder) == []


def test_paths_are_relative_to_the_repository_around_the_fleet(folder: FleetFolder) -> None:
    folder.spec(SEARCH)
    assert (
        lines(folder, folder.root.parent)[0]
        == f"/{folder.root.name}/model_specs/sentences.yaml @example/search"
    )


def test_signs_with_a_meaning_are_escaped(folder: FleetFolder) -> None:
    folder.write("model_specs/a b#[c]/_folder.yaml", SEARCH)
    folder.write("model_specs/a b#[c]/one.yaml", named("one"))
    assert lines(folder)[0] == r"/model_specs/a\ b\#\[c\]/ @example/search"


@pytest.mark.parametrize("contact", ["", ", contact: 'https://chat.example.com/search'"])
def test_an_owner_that_the_file_cannot_name_is_told_at_its_line(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search{contact}}}\n")
    with pytest.raises(FindingsError) as raised:
        lines(folder)
    (found,) = raised.value.findings
    assert (found.code, found.file, found.line) == ("FL510", folder.root / "model_specs/sentences.yaml", 6)


def test_what_others_wrote_stays_and_the_own_lines_are_replaced() -> None:
    block = "# Begin: written by `fleet ci codeowners` from the `owner` of specs; change it there.\n{}\n# End of what `fleet ci codeowners` writes.\n"
    one = with_block("* @example/platform\n", block.format("/a @b"))
    assert one == "* @example/platform\n\n" + block.format("/a @b")
    assert with_block(one + "/last @c\n", block.format("/d @e")) == (
        "* @example/platform\n\n" + block.format("/d @e") + "/last @c\n"
    )


def test_the_command_writes_the_file_that_exists_and_checks_it(
    folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.spec(SEARCH)
    folder.write("docs/CODEOWNERS", "* @example/platform\n")
    monkeypatch.chdir(folder.root)
    with pytest.raises(FindingsError):
        CliRunner().invoke(app, ["ci", "codeowners", "--check"], catch_exceptions=False)
    assert CliRunner().invoke(app, ["ci", "codeowners"], catch_exceptions=False).exit_code == 0
    text = (folder.root / "docs/CODEOWNERS").read_text()
    assert text.startswith("* @example/platform\n\n# Begin: ")
    assert "/model_specs/sentences.yaml @example/search\n" in text
    again = CliRunner().invoke(app, ["ci", "codeowners", "--check"], catch_exceptions=False)
    assert again.output.endswith("is up to date\n")
