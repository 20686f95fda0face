"""`access` names whom it trusts: what would trust more is refused with its line and a remedy."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import ROOT, FleetFolder
from triton_fleet.endpoint.environment import environment_warnings
from triton_fleet.endpoint.resolve import resolve_foundation, resolve_project
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import open_project
from triton_fleet.project.reader import read_source
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import validate

GITHUB = "access:\n  github:\n    repository: example@1/fleet@23\n"
ISSUER = "token.actions.githubusercontent.com"


@pytest.mark.parametrize(
    ("written_text", "message"),
    [
        ("github: {repository: '*'}", "a wildcard would trust everything that matches it"),
        ("github: {repository: example/*}", "a wildcard would trust everything that matches it"),
        ("github: {repository: example/flee?}", "a wildcard would trust everything that matches it"),
        ("github: {repository: 'example/fleet:ref'}", "`:` separates the parts of what is trusted"),
        ("github: {repository: example}", "it is not one repository of GitHub"),
        ("github: {repository: 'example@*/fleet@*'}", "a wildcard would trust everything that matches it"),
        ("github: {repository: example@0/fleet@1}", "it is not one repository of GitHub"),
        ("github: {repository: example@x/fleet@y}", "it is not one repository of GitHub"),
        ("github: {repository: example@1/fleet}", "no token has the id of the owner alone"),
        ("github: {repository: example/fleet@23}", "no token has the id of the owner alone"),
        ("github: {repository: a/b, environment: '*'}", "a wildcard would trust everything that matches it"),
        ("github: {repository: a/b, environment: 'prod:x'}", "`:` separates the parts of what is trusted"),
        (
            "github: {repository: a/b, branch: 'release/*'}",
            "a wildcard would trust everything that matches it",
        ),
        (
            "github: {repository: a/b, promotes_to: ['*']}",
            "a wildcard would trust everything that matches it",
        ),
        ("github: {repository: a/b, provider: 'arn:aws:iam::1:x'}", "it is not the ARN of an OIDC provider"),
        ("gitlab: {project: 'example/*'}", "a wildcard would trust everything that matches it"),
        ("gitlab: {project: fleet}", "it is not one project of GitLab with its groups"),
    ],
)
def test_a_trust_of_more_than_one_is_refused_at_its_line(
    folder: FleetFolder, written_text: str, message: str
) -> None:
    folder.environment(f"access:\n  {written_text}\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 5)
    assert message in finding.message
    assert finding.hint.startswith("write ")


def test_half_of_the_ids_matches_no_token_and_the_command_that_prints_both_is_named(
    folder: FleetFolder,
) -> None:
    folder.environment("access: {github: {repository: example/fleet@23}}\n")
    (finding,) = folder.findings()
    command = r"""gh api repos/example/fleet --jq '"\(.owner.login)@\(.owner.id)/\(.name)@\(.id)"'"""
    assert f"`{command}` prints them" in finding.hint


@pytest.mark.parametrize(
    ("former", "message"),
    [
        ("example@1/fleet@23", "it is what `repository` has"),
        ("example@1/other@24", "it has another id than `repository`, so it is another repository"),
        ("example/fleet@23", "no token has the id of the owner alone"),
    ],
)
def test_a_former_repository_is_an_earlier_form_of_the_same(
    folder: FleetFolder, former: str, message: str
) -> None:
    folder.environment(f"{GITHUB}    former_repository: {former}\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 7)
    assert message in finding.message


@pytest.mark.parametrize("former", ["example/fleet", "old/fleet", "old@5/fleet@23", "example@1/service@23"])
def test_a_repository_that_was_renamed_or_transferred_keeps_its_own_id(
    folder: FleetFolder, former: str
) -> None:
    folder.environment(f"{GITHUB}    former_repository: {former}\n")
    assert folder.findings() == []


class TestSubjectsWithoutIds:
    """Repositories created, renamed or transferred after 2026-07-15 have other subjects than by their names."""

    def warnings(self, folder: FleetFolder, access: str) -> list[Finding]:
        folder.environment(access)
        findings = folder.check()
        return [finding for finding in findings if finding.code == "FL574"]

    def test_a_repository_without_ids_is_a_warning_at_its_line_with_what_to_write(
        self, folder: FleetFolder
    ) -> None:
        (finding,) = self.warnings(folder, "access:\n  github:\n    repository: example/fleet\n")
        assert (finding.severity, finding.line) == (Severity.WARNING, 6)
        assert "`repo:example/fleet:`" in finding.message
        assert "created, renamed or transferred after 2026-07-15" in finding.message
        assert "keep `former_repository: example/fleet` until" in finding.hint
        assert (
            "gh api repos/example/fleet/actions/oidc/customization/sub --jq .sub_claim_prefix" in finding.hint
        )

    def test_one_with_ids_is_right_beside_the_form_without_them_too(self, folder: FleetFolder) -> None:
        assert self.warnings(folder, GITHUB) == []
        assert self.warnings(folder, f"{GITHUB}    former_repository: example/fleet\n") == []

    def test_the_form_with_ids_ends_the_warning_in_either_key(self, folder: FleetFolder) -> None:
        written_text = (
            "access: {github: {repository: example/fleet, former_repository: example@1/fleet@23}}\n"
        )
        assert self.warnings(folder, written_text) == []

    def test_a_former_name_without_ids_does_not_end_it(self, folder: FleetFolder) -> None:
        written_text = "access: {github: {repository: example/fleet, former_repository: old/fleet}}\n"
        (finding,) = self.warnings(folder, written_text)
        assert "former_repository" not in finding.hint

    def test_projects_of_gitlab_are_not_concerned(self, folder: FleetFolder) -> None:
        assert self.warnings(folder, "access: {gitlab: {project: example/fleet}}\n") == []

    def test_whoever_deploys_foundation_alone_sees_it_too(self, folder: FleetFolder) -> None:
        folder.environment("access: {github: {repository: example/fleet}}\n")
        for fleet in (
            resolve_foundation(open_project(folder.root, "dev")),
            resolve_project(open_project(folder.root, "dev")),
        ):
            assert [warning.code for warning in fleet.warnings if warning.code == "FL574"] == ["FL574"]

    def test_the_shipped_environments_have_none(self) -> None:
        for file in sorted((ROOT / "environments").glob("*.yaml")):
            source = read_source(file)
            assert list(environment_warnings(validate(Environment, source), source)) == []


@pytest.mark.parametrize(
    "invoker", ["*", "arn:aws:iam::*:role/search", "arn:aws:iam::111122223333:role/*", "111122223333"]
)
def test_an_invoker_is_one_role(folder: FleetFolder, invoker: str) -> None:
    folder.spec(f"access:\n  invokers:\n    - '{invoker}'\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 8)
    assert finding.hint == "write `arn:aws:iam::ACCOUNT:role/NAME`"


def test_an_invoker_is_named_once(folder: FleetFolder) -> None:
    role = "arn:aws:iam::444455556666:role/search"
    folder.spec(f"access: {{invokers: ['{role}', '{role}']}}\n")
    assert "is listed twice" in folder.findings()[0].message


def test_a_provider_of_another_account_is_refused(folder: FleetFolder) -> None:
    arn = f"arn:aws:iam::444455556666:oidc-provider/{ISSUER}"
    folder.environment(f"{GITHUB}    provider: {arn}\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 7)
    assert "it is in account 444455556666, and the environment of 111122223333" in finding.message


def test_no_repository_deploys_to_this_machine(folder: FleetFolder) -> None:
    folder.environment(GITHUB, "local")
    (finding,) = folder.findings("local")
    assert (finding.code, finding.line) == ("FL112", 5)
    assert "no repository deploys to this machine" in finding.message


def test_one_environment_of_an_account_makes_the_provider(folder: FleetFolder) -> None:
    folder.environment(GITHUB)
    folder.environment(GITHUB, "qa")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL513", 5)
    arn = f"arn:aws:iam::111122223333:oidc-provider/{ISSUER}"
    assert finding.hint == f"write `provider: {arn}` in one of them, and deploy the other first"
    folder.environment(f"{GITHUB}    provider: {arn}\n", "qa")
    assert folder.findings() == []
