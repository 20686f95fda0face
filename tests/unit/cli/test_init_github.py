"""`fleet init --github`: the ids of the repository come from the flag or from `gh`, whose answers are compared with what was asked."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from tests.support.new_fleet import init
from triton_fleet.check.run import all_findings
from triton_fleet.findings import CannotRunError, Severity
from triton_fleet.new.scaffold.github_ids import repository_subject
from triton_fleet.project.project import open_project
from triton_fleet.spec.github_repository import GitHubRepository, ids_command

ACCOUNT = ("--account", "123456789012", "--example", "none")
REPOSITORY = {"full_name": "example/fleet", "name": "fleet", "id": 23, "owner": {"login": "example", "id": 1}}
WITH_IDS, NAMES = "repo:example@1/fleet@23", "repo:example/fleet"
GITHUB_REPOSITORY = GitHubRepository(owner="example", name="fleet")
PROVIDER = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"


class Gh:
    """A `gh` that is first on PATH, with what it prints for each path, and what it was started with."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._program = folder, folder / "bin/gh"
        (folder / "bin").mkdir()
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")

    def runs(self, script: str) -> None:
        """Take a script for the program; each call is recorded first."""
        record = f'printf \'%s\\n\' "$@" >> "{self._folder}/calls"\npwd >> "{self._folder}/folders"\n'
        self._program.write_text(f"#!/bin/sh\n{record}{script}\n")
        self._program.chmod(0o755)

    def answers(self, repository: object, subject: object | None) -> None:
        """Answer both requests; without a `subject` the second one fails."""
        (self._folder / "repository").write_text(json.dumps(repository))
        (self._folder / "subject").write_text(json.dumps(subject))
        second = "echo 'gh: Not Found (HTTP 404)' >&2; exit 1"
        self.runs(
            f'case "$6" in\n*/sub) {second if subject is None else f"cat {self._folder}/subject"} ;;\n'
            f"*) cat {self._folder}/repository ;;\nesac"
        )

    def begins(self, prefix: str) -> None:
        """Answer with the ids of `example/fleet`, and with how its subjects begin."""
        self.answers(
            REPOSITORY, {"use_default": True, "use_immutable_subject": False, "sub_claim_prefix": prefix}
        )

    @property
    def calls(self) -> list[str]:
        file = self._folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def folders(self) -> set[str]:
        return set((self._folder / "folders").read_text().splitlines())


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gh:
    return Gh(tmp_path, monkeypatch)


def access(folder: Path, name: str = "dev") -> dict[str, Any] | None:
    document: dict[str, Any] = yaml.safe_load((folder / f"environments/{name}.yaml").read_text())
    return document.get("access")


class TestFiles:
    def test_without_a_repository_a_comment_has_the_form_with_ids_and_the_command_that_prints_them(
        self, tmp_path: Path, gh: Gh
    ) -> None:
        gh.runs("exit 1")
        assert init(tmp_path / "fleet", *ACCOUNT).exit_code == 0
        text = (tmp_path / "fleet/environments/dev.yaml").read_text()
        assert "#     repository: OWNER@ID/NAME@ID " in text
        assert ids_command("OWNER/NAME") in text
        assert access(tmp_path / "fleet") is None
        assert gh.calls == []

    def test_ids_of_gh_are_filled_in_and_one_environment_makes_the_provider(
        self, tmp_path: Path, gh: Gh
    ) -> None:
        gh.begins(WITH_IDS)
        result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
        assert "access" not in result.stdout
        assert access(tmp_path / "fleet") == {"github": {"repository": "example@1/fleet@23"}}
        trust = {"repository": "example@1/fleet@23", "provider": PROVIDER}
        assert [access(tmp_path / "fleet", name) for name in ("staging", "prod")] == [{"github": trust}] * 2
        for name in ("dev", "staging", "prod"):
            assert all_findings(open_project(tmp_path / "fleet", name)) == []

    def test_of_a_repository_whose_tokens_have_no_ids_both_forms_are_written(
        self, tmp_path: Path, gh: Gh
    ) -> None:
        gh.begins(NAMES)
        init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
        trust = {"repository": "example@1/fleet@23", "former_repository": "example/fleet"}
        assert access(tmp_path / "fleet") == {"github": trust}
        assert all_findings(open_project(tmp_path / "fleet", "dev")) == []

    @pytest.mark.parametrize(
        "subject", [None, {"use_default": True}, {"sub_claim_prefix": "repo:other/fleet"}]
    )
    def test_where_github_does_not_say_which_form_tokens_have_a_comment_names_the_command(
        self, tmp_path: Path, gh: Gh, subject: object
    ) -> None:
        gh.answers(REPOSITORY, subject)
        result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
        command = "gh api repos/example/fleet/actions/oidc/customization/sub --jq .sub_claim_prefix"
        assert access(tmp_path / "fleet") == {"github": {"repository": "example@1/fleet@23"}}
        text = (tmp_path / "fleet/environments/dev.yaml").read_text()
        assert f"    # Write this too unless `{command}` prints ids:\n" in text
        assert "    # former_repository: example/fleet\n" in text
        assert f"next: compare `access` in environments/*.yaml with `{command}`" in result.stdout

    def test_ids_of_the_flag_are_taken_and_gh_is_not_asked(self, tmp_path: Path, gh: Gh) -> None:
        gh.runs("exit 1")
        result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example@7/fleet@8")
        assert access(tmp_path / "fleet") == {"github": {"repository": "example@7/fleet@8"}}
        assert (
            "    # former_repository: example/fleet\n"
            in (tmp_path / "fleet/environments/dev.yaml").read_text()
        )
        assert "next: compare `access`" in result.stdout
        assert gh.calls == []

    @pytest.mark.parametrize(
        ("script", "reason"),
        [
            ("echo 'gh auth login' >&2; exit 4", "`gh api repos/example/fleet` failed: gh auth login"),
            (
                "exit 1",
                "`gh api repos/example/fleet` failed: exit code 1 (run `gh api repos/example/fleet` to see why; if"
                " you are not logged in, `gh auth login`)",
            ),
            ("echo '[1]'", "`gh api repos/example/fleet` printed no JSON object"),
            ("printf '{'", "`gh api repos/example/fleet` printed no JSON object"),
        ],
    )
    def test_without_an_answer_of_gh_access_is_a_comment_and_the_reason_is_printed(
        self, tmp_path: Path, gh: Gh, script: str, reason: str
    ) -> None:
        gh.runs(script)
        result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
        assert result.exit_code == 0
        assert (
            f"next: write `access` into environments/*.yaml, where it is a comment: {reason}" in result.stdout
        )
        text = (tmp_path / "fleet/environments/prod.yaml").read_text()
        assert (
            f"#     repository: example@ID/fleet@ID       # what this prints: {ids_command('example/fleet')}\n"
            in text
        )

    def test_without_gh_access_is_a_comment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
        assert "it is a comment: gh, GitHub's command line, is not installed" in result.stdout

    @pytest.mark.parametrize(
        "text", ["example", "example/*", "example@1/fleet", "--help/x", "../x", "a/..", "a/b/c"]
    )
    def test_what_is_no_repository_is_refused_before_anything_runs(
        self, tmp_path: Path, gh: Gh, text: str
    ) -> None:
        gh.runs("exit 1")
        assert (
            init(tmp_path / "fleet", *ACCOUNT, f"--github={text}").exit_code
            == typer.BadParameter("").exit_code
        )
        assert gh.calls == []
        assert not (tmp_path / "fleet").exists()


class TestProgram:
    def test_gh_gets_two_reading_requests_in_no_folder_of_others(self, gh: Gh) -> None:
        gh.begins(WITH_IDS)
        repository_subject(GITHUB_REPOSITORY)
        start = ["api", "--hostname", "github.com", "--method", "GET"]
        paths = ("repos/example/fleet", "repos/example/fleet/actions/oidc/customization/sub")
        assert gh.calls == [word for path in paths for word in (*start, path)]
        assert gh.folders == {"/"}

    def test_names_are_spelled_as_github_spells_them(self, gh: Gh) -> None:
        spelled_values = {**REPOSITORY, "name": "Fleet", "owner": {"login": "Example", "id": 1}}
        gh.answers(spelled_values, {"sub_claim_prefix": "repo:Example@1/Fleet@23"})
        subject = repository_subject(GITHUB_REPOSITORY)
        assert (str(subject.repository), subject.former, subject.doubt) == ("Example@1/Fleet@23", None, "")

    @pytest.mark.parametrize(
        "answer",
        [
            {},
            {**REPOSITORY, "id": True},
            {**REPOSITORY, "id": -1},
            {**REPOSITORY, "id": "23"},
            {**REPOSITORY, "id": 10**40},
            {**REPOSITORY, "name": "fleet\n  provider: x"},
            {**REPOSITORY, "name": "fleet\x1b[2J"},
            {**REPOSITORY, "owner": {"login": "*", "id": 1}},
            {**REPOSITORY, "owner": "example"},
        ],
        ids=str,
    )
    def test_an_answer_without_two_ids_and_two_names_is_refused(self, gh: Gh, answer: object) -> None:
        gh.answers(answer, {})
        with pytest.raises(CannotRunError, match="the answer about example/fleet has no ids"):
            repository_subject(GITHUB_REPOSITORY)

    def test_an_answer_about_another_repository_is_refused(self, gh: Gh) -> None:
        """GitHub follows a repository that was renamed."""
        gh.answers({**REPOSITORY, "name": "service"}, {})
        with pytest.raises(CannotRunError, match="GitHub calls example/fleet example/service"):
            repository_subject(GITHUB_REPOSITORY)

    def test_customised_subjects_are_a_doubt_with_which_no_form_without_ids_is_written(self, gh: Gh) -> None:
        gh.answers(REPOSITORY, {"use_default": False, "sub_claim_prefix": NAMES})
        subject = repository_subject(GITHUB_REPOSITORY)
        assert (subject.former, "customised" in subject.doubt) == (None, True)

    def test_a_program_that_does_not_end_is_ended(self, gh: Gh, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "never")
        gh.runs(f"exec cat {tmp_path}/never")
        with pytest.raises(CannotRunError, match="did not answer"):
            repository_subject(GITHUB_REPOSITORY, seconds=0.5)

    def test_a_large_answer_is_not_read(self, gh: Gh) -> None:
        gh.runs('head -c 1100000 /dev/zero | tr "\\0" " "; echo "{}"')
        with pytest.raises(CannotRunError, match="printed no JSON object"):
            repository_subject(GITHUB_REPOSITORY)

    def test_a_deep_answer_ends_nothing(self, gh: Gh) -> None:
        gh.runs('head -c 900000 /dev/zero | tr "\\0" "["')
        with pytest.raises(CannotRunError, match="printed no JSON object"):
            repository_subject(GITHUB_REPOSITORY)


def test_a_hostile_complaint_of_gh_has_no_power_over_the_terminal(tmp_path: Path, gh: Gh) -> None:
    gh.runs("printf '\\033[2Jgone\\n::error::x\\n' >&2; exit 1")
    result = init(tmp_path / "fleet", *ACCOUNT, "--github", "example/fleet")
    assert "\x1b" not in result.stdout
    assert not [line for line in result.stdout.splitlines() if line.startswith("::")]
    assert Severity.ERROR not in {
        finding.severity for finding in all_findings(open_project(tmp_path / "fleet", "dev"))
    }
