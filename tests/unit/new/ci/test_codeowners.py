"""CODEOWNERS follows from the owners of specs, and leaves alone what others wrote in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError
from triton_fleet.new.ci.codeowners import codeowners
from triton_fleet.new.ci.marked_block import markers, missing_fleet, with_block


def lines(folder: FleetFolder, top: Path | None = None) -> list[str]:
    return codeowners(folder.root, top or folder.root)


def owner_line(name: str, text: str = "", repository: str = "../repository") -> str:
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
    (folder.root / "model_specs/sentences.yaml").unlink()
    shared_text = SEARCH.replace("}", ", shared_with: [ads@example.com]}")
    folder.write("model_specs/search/_folder.yaml", shared_text)
    folder.write("model_specs/search/one.yaml", owner_line("one", repository="../../repository"))
    ads = 'owner: {team: ads, contact: ads@example.com, shared_with: ["@example/search"]}\n'
    folder.write("model_specs/search/two.yaml", owner_line("two", ads, "../../repository"))
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
    folder.write("policies/ads/all.yaml", 'policy: all\nowner: {team: ads, contact: "@example/ads"}\n')
    assert lines(folder) == [
        "/environments/ @example/platform",
        "/profiles/ @example/platform",
        "/policies/platform.yaml @example/platform",
        "/policies/ads/all.yaml @example/ads",
        "/prices.yaml @example/platform",
        "/prices.schema.json @example/platform",
    ]


def test_prices_belong_to_the_owner_of_the_platforms_policy_before_the_file_exists(
    folder: FleetFolder,
) -> None:
    assert lines(folder) == []
    folder.write(
        "policies/platform.yaml", 'policy: platform\nowner: {team: platform, contact: "@example/platform"}\n'
    )
    expected_texts = [
        "/environments/ @example/platform",
        "/profiles/ @example/platform",
        "/policies/platform.yaml @example/platform",
        "/prices.yaml @example/platform",
        "/prices.schema.json @example/platform",
    ]
    assert lines(folder) == expected_texts
    folder.write("prices.yaml", "date: 2026-11-01\ndiscount: 10%\n")
    assert lines(folder) == expected_texts


def test_prices_without_a_platforms_policy_belong_to_the_owners_of_policies_of_costs(
    folder: FleetFolder,
) -> None:
    cost = "statements: [{name: cost, monthly_cost: {endpoint: 8000}}]\n"
    for name in ("search", "ads"):
        owner = f'owner: {{team: {name}, contact: "@example/{name}"}}'
        folder.write(f"policies/{name}.yaml", f"policy: {name}\n{owner}\n{cost}")
    folder.write("policies/other.yaml", 'policy: other\nowner: {team: other, contact: "@example/other"}\n')
    folder.write("policies/nobody.yaml", f"policy: nobody\n{cost}")
    assert lines(folder)[-2:] == [
        "/prices.yaml @example/ads @example/search",
        "/prices.schema.json @example/ads @example/search",
    ]


PLATFORM = 'policy: platform\nowner: {team: platform, contact: "@example/platform"}\n'


def test_the_locks_of_a_promoted_environment_are_also_the_platforms(folder: FleetFolder) -> None:
    folder.spec(SEARCH)
    folder.write("policies/platform.yaml", PLATFORM)
    folder.environment("promoted_from: dev\nunknown: 1\n", "prod")
    assert [line for line in lines(folder) if line.startswith("/locks")] == [
        "/locks/*/sentences.*.yaml @example/search",
        "/locks/prod/sentences.*.yaml @example/search @example/platform",
    ]


def test_locks_of_the_platforms_own_endpoint_have_one_line(folder: FleetFolder) -> None:
    folder.spec(SEARCH.replace("search", "platform"))
    folder.write("policies/platform.yaml", PLATFORM)
    folder.environment("promoted_from: dev\n", "prod")
    assert [line for line in lines(folder) if line.startswith("/locks")] == [
        "/locks/*/sentences.*.yaml @example/platform"
    ]


def engine_text(onnx: str, archive: str = "engines") -> str:
    return f"  - archive: {archive}\n    engines:\n      - {{model: embed, onnx: {onnx}}}\n"


def test_an_onnx_model_outside_of_repositories_is_the_owners(folder: FleetFolder) -> None:
    folder.spec(
        engine_text("../models/plan.onnx") + engine_text("../repository/embed.onnx", "other") + SEARCH
    )
    assert lines(folder)[-2:] == ["/models/plan.onnx @example/search", "/repository/ @example/search"]


def test_a_link_to_a_program_makes_nobody_the_reviewer_of_the_program(folder: FleetFolder) -> None:
    folder.write("Makefile", "all:\n")
    (folder.root / "plan.onnx").symlink_to("Makefile")
    folder.spec(engine_text("../plan.onnx") + SEARCH)
    assert not [line for line in lines(folder) if "Makefile" in line or "plan" in line]


def test_a_spec_without_an_owner_has_no_line(folder: FleetFolder) -> None:
    assert lines(folder) == []


def test_paths_are_relative_to_the_repository_around_the_fleet(folder: FleetFolder) -> None:
    folder.spec(SEARCH)
    assert (
        lines(folder, folder.root.parent)[0]
        == f"/{folder.root.name}/model_specs/sentences.yaml @example/search"
    )


def test_signs_with_a_meaning_are_escaped(folder: FleetFolder) -> None:
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.write("model_specs/a b#[c]/_folder.yaml", SEARCH)
    folder.write("model_specs/a b#[c]/one.yaml", owner_line("one", repository="../../repository"))
    assert lines(folder)[0] == r"/model_specs/a\ b\#\[c\]/ @example/search"


@pytest.mark.parametrize("contact", ["", ", contact: 'https://chat.example.com/search'"])
def test_an_owner_that_the_file_cannot_name_is_told_at_its_line(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search{contact}}}\n")
    with pytest.raises(FindingsError) as error_info:
        lines(folder)
    (finding,) = error_info.value.findings
    assert (finding.code, finding.file, finding.line) == (
        "FL510",
        folder.root / "model_specs/sentences.yaml",
        6,
    )


def test_each_folder_with_an_owner_is_a_line_of_its_own_however_deep_it_is(folder: FleetFolder) -> None:
    (folder.root / "model_specs/sentences.yaml").unlink()
    owners = {"": "plat@example.com", "search/": "@org/search", "search/deep/": "@org/deep"}
    for place, contact in owners.items():
        team = "t" + contact.strip("@").replace("/", "-").partition("@")[0]
        folder.write(f"model_specs/{place}_folder.yaml", f'owner:\n  team: {team}\n  contact: "{contact}"\n')
        name = f"s{len(place)}"
        repository = "../" * place.count("/") + f"../models/{name}"
        folder.write(f"model_specs/{place}{name}.yaml", owner_line(name, repository=repository))
    assert [line for line in lines(folder) if line.startswith("/model_specs")] == [
        "/model_specs/ plat@example.com",
        "/model_specs/search/ @org/search",
        "/model_specs/search/deep/ @org/deep",
    ]
    (folder.root / "model_specs/search/deep/s12.yaml").unlink()
    assert [line for line in lines(folder) if line.startswith("/model_specs")] == [
        "/model_specs/ plat@example.com",
        "/model_specs/search/ @org/search",
    ]


def test_a_folder_that_changes_only_the_team_is_reported_at_the_outer_contact(
    folder: FleetFolder,
) -> None:
    folder.write("model_specs/_folder.yaml", "owner:\n  team: a\n  contact: https://chat.example.com/a\n")
    folder.write("model_specs/search/_folder.yaml", "owner: {team: search}\n")
    folder.write("model_specs/search/one.yaml", owner_line("one"))
    with pytest.raises(FindingsError) as error_info:
        lines(folder)
    assert {(finding.file, finding.line) for finding in error_info.value.findings} == {
        (folder.root / "model_specs/_folder.yaml", 3)
    }


def test_a_folder_without_any_contact_is_reported_at_its_own_owner(folder: FleetFolder) -> None:
    folder.write("model_specs/_folder.yaml", "triton: '25.04'\nowner: {team: all}\n")
    folder.write("model_specs/search/_folder.yaml", "owner: {team: search}\n")
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.write("model_specs/search/one.yaml", owner_line("one"))
    with pytest.raises(FindingsError) as error_info:
        lines(folder)
    (finding,) = error_info.value.findings
    assert (finding.file, finding.line) == (folder.root / "model_specs/search/_folder.yaml", 1)


def test_a_spec_that_is_a_link_is_refused_and_a_fleet_that_is_reached_by_one_is_not(
    folder: FleetFolder, tmp_path: Path
) -> None:
    folder.spec(SEARCH)
    linked_folder = folder.root.parent / "linked"
    linked_folder.symlink_to(folder.root)
    assert codeowners(linked_folder, folder.root) == lines(folder)
    file = folder.root / "model_specs/sentences.yaml"
    outside = folder.root.parent / "outside.yaml"
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(FindingsError, match="FL105"):
        lines(folder)


FILE = Path("CODEOWNERS")
BEGIN, END = markers(".")


def test_what_others_wrote_stays_and_the_own_lines_are_replaced() -> None:
    first_text = with_block(FILE, "* @example/platform\n", ["/a @b"], ".")
    assert first_text == f"* @example/platform\n\n{BEGIN}\n/a @b\n{END}\n"
    assert with_block(FILE, first_text + "/last @c\n", ["/d @e"], ".") == (
        f"* @example/platform\n\n{BEGIN}\n/d @e\n{END}\n/last @c\n"
    )


@pytest.mark.parametrize("name", [".", "teams/old"])
def test_the_lines_of_a_fleet_that_was_moved_are_refused_at_their_place(tmp_path: Path, name: str) -> None:
    (tmp_path / "new/model_specs").mkdir(parents=True)
    text = with_block(FILE, "* @a\n", ["/d @e"], name)
    finding = missing_fleet(FILE, text, tmp_path)
    assert finding is not None
    assert (finding.code, finding.line) == ("FL516", 3)
    assert missing_fleet(FILE, with_block(FILE, "* @a\n", ["/d @e"], "new"), tmp_path) is None


@pytest.mark.parametrize("text", ["", f"{BEGIN}\n/old @a\n{END}", f"{BEGIN}\n/old @a\n{END}\n"])
def test_a_file_ends_in_a_line_break_whether_or_not_it_did(text: str) -> None:
    assert with_block(FILE, text, ["/d @e"], ".") == f"{BEGIN}\n/d @e\n{END}\n"


@pytest.mark.parametrize("own", ["", f"\r\n{BEGIN}\r\n/old @a\r\n{END}\r\n/last @c\r\n"])
def test_a_file_keeps_its_kind_of_line_breaks(own: str) -> None:
    text = with_block(FILE, f"* @a\r\n{own}", ["/d @e"], ".")
    assert f"\r\n{BEGIN}\r\n/d @e\r\n{END}\r\n" in text
    assert text.count("\n") == text.count("\r\n")
    assert with_block(FILE, text, ["/d @e"], ".") == text


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (f"{BEGIN}\n/a @b\n/theirs @c\n", 1, f'the line "{END}" is missing'),
        (f"/theirs @c\n{END}\n", 2, f'the line "{BEGIN}" is missing'),
        (f"{END}\n/theirs @c\n{BEGIN}\n", 1, f'the line "{END}" is above the line "{BEGIN}"'),
        (f"{BEGIN}\n{END}\n/theirs @c\n{BEGIN}\n{END}\n", 4, f'the line "{BEGIN}" is in the file twice'),
        (f"{BEGIN}\n/theirs @c\n{BEGIN}\n{END}\n", 3, f'the line "{BEGIN}" is in the file twice'),
        (f"{BEGIN}\n{markers('other')[0]}\n{END}\n", 2, "the lines of another fleet are between"),
    ],
)
def test_nothing_is_written_where_the_own_lines_cannot_be_told_from_those_of_others(
    text: str, line: int, problem: str
) -> None:
    with pytest.raises(FindingsError) as error_info:
        with_block(FILE, text, ["/d @e"], ".")
    (finding,) = error_info.value.findings
    assert (finding.code, finding.file, finding.line) == ("FL516", FILE, line)
    assert problem in finding.message
    assert finding.hint


def test_two_fleets_of_one_repository_keep_each_others_lines() -> None:
    first_text = with_block(FILE, "", ["/a/x @a"], "a")
    pair = with_block(FILE, first_text, ["/b/x @b"], "b")
    assert pair.startswith(first_text)
    assert "# Begin: written by `fleet ci codeowners` in b from the `owner` of specs" in pair
    second_text = with_block(FILE, pair, ["/a/y @a"], "a")
    assert second_text == pair.replace("/a/x", "/a/y")


def test_a_check_passes_where_no_file_has_lines_of_the_command(
    folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.spec("owner: {team: search}\n")
    folder.write("CODEOWNERS", "* @example/platform\n")
    monkeypatch.chdir(folder.root)
    result = CliRunner().invoke(app, ["ci", "codeowners", "--check"], catch_exceptions=False)
    assert (result.exit_code, result.output) == (
        0,
        "no CODEOWNERS file has lines of `fleet ci codeowners`: nothing to compare\n",
    )


def test_the_command_writes_the_file_that_exists_and_checks_it(
    folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.spec(SEARCH)
    folder.write("docs/CODEOWNERS", "* @example/platform\n")
    monkeypatch.chdir(folder.root)
    assert CliRunner().invoke(app, ["ci", "codeowners"], catch_exceptions=False).exit_code == 0
    text = (folder.root / "docs/CODEOWNERS").read_text()
    assert text.startswith("* @example/platform\n\n# Begin: ")
    assert "/model_specs/sentences.yaml @example/search\n" in text
    second_result = CliRunner().invoke(app, ["ci", "codeowners", "--check"], catch_exceptions=False)
    assert second_result.output.endswith("is up to date\n")
    folder.spec(SEARCH.replace("@example/search", "@example/ads"))
    with pytest.raises(FindingsError, match="FL501: this file does not match the owners"):
        CliRunner().invoke(app, ["ci", "codeowners", "--check"], catch_exceptions=False)
