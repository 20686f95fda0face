"""`access` names whom it trusts: what would trust more is refused with its line and a remedy."""

from __future__ import annotations

import pytest

from fleet_folder import FleetFolder

GITHUB = "access:\n  github:\n    repository: example/fleet\n"
ISSUER = "token.actions.githubusercontent.com"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("github: {repository: '*'}", "a wildcard would trust everything that matches it"),
        ("github: {repository: example/*}", "a wildcard would trust everything that matches it"),
        ("github: {repository: example/flee?}", "a wildcard would trust everything that matches it"),
        ("github: {repository: 'example/fleet:ref'}", "`:` separates the parts of what is trusted"),
        ("github: {repository: example}", "it is not one repository of GitHub"),
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
    folder: FleetFolder, written: str, message: str
) -> None:
    folder.environment(f"access:\n  {written}\n")
    (found,) = folder.findings()
    assert (found.code, found.line) == ("FL112", 5)
    assert message in found.message
    assert found.hint.startswith("write ")


@pytest.mark.parametrize(
    "invoker", ["*", "arn:aws:iam::*:role/search", "arn:aws:iam::111122223333:role/*", "111122223333"]
)
def test_an_invoker_is_one_role(folder: FleetFolder, invoker: str) -> None:
    folder.spec(f"access:\n  invokers:\n    - '{invoker}'\n")
    (found,) = folder.findings()
    assert (found.code, found.line) == ("FL112", 8)
    assert found.hint == "write `arn:aws:iam::ACCOUNT:role/NAME`"


def test_an_invoker_is_named_once(folder: FleetFolder) -> None:
    role = "arn:aws:iam::444455556666:role/search"
    folder.spec(f"access: {{invokers: ['{role}', '{role}']}}\n")
    assert "is listed twice" in folder.findings()[0].message


def test_a_provider_of_another_account_is_refused(folder: FleetFolder) -> None:
    arn = f"arn:aws:iam::444455556666:oidc-provider/{ISSUER}"
    folder.environment(f"{GITHUB}    provider: {arn}\n")
    (found,) = folder.findings()
    assert (found.code, found.line) == ("FL112", 7)
    assert "it is in account 444455556666, and the environment of 111122223333" in found.message


def test_no_repository_deploys_to_this_machine(folder: FleetFolder) -> None:
    folder.environment(GITHUB, "local")
    (found,) = folder.findings("local")
    assert (found.code, found.line) == ("FL112", 5)
    assert "no repository deploys to this machine" in found.message


def test_one_environment_of_an_account_makes_the_provider(folder: FleetFolder) -> None:
    folder.environment(GITHUB)
    folder.environment(GITHUB, "qa")
    (found,) = folder.findings()
    assert (found.code, found.line) == ("FL513", 5)
    arn = f"arn:aws:iam::111122223333:oidc-provider/{ISSUER}"
    assert found.hint == f"write `provider: {arn}` in one of them, and deploy the other first"
    folder.environment(f"{GITHUB}    provider: {arn}\n", "qa")
    assert folder.findings() == []
