"""Access to an account: whose it is, and what is told where nobody is signed in or AWS refuses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_keys import KEYS, PROFILE_KEYS
from tests.support.faulty_s3 import Answer, FaultyS3, faulty_s3
from tests.support.fleet_folder import FleetFolder
from triton_fleet.aws.access import account_access, embedded_access
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.catalog.images import partition_of
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.output import ask_consent
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import Project, open_project
from triton_fleet.spec.deployment import Deployment

ACCOUNT = "123456789012"
DEPLOYMENT = Deployment(
    environment="dev",
    account=ACCOUNT,
    region="us-east-1",
    partition=partition_of("us-east-1"),
    tags={},
)


@pytest.fixture
def proxy(aws: EmbeddedAws) -> Iterator[FaultyS3]:
    with faulty_s3(aws.url) as proxy:
        yield proxy


@pytest.fixture
def settings(tmp_path: Path, proxy: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile `deployer` of the account, and no other credentials."""
    file = tmp_path / "config"
    file.write_text(
        f"[profile deployer]\nendpoint_url = {proxy.url}\nretry_mode = standard\nmax_attempts = 1\n{PROFILE_KEYS}"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def open_fleet(root: Path, environment: str = "dev", account: str = ACCOUNT) -> Project:
    """A fleet with one environment."""
    folder = FleetFolder(root)
    folder.spec()
    text = f'environment: {environment}\naccount: "{account}"\nregion: {DEPLOYMENT.region}\n'
    folder.write(f"environments/{environment}.yaml", text)
    return open_project(root, environment)


@pytest.mark.usefixtures("settings")
def test_a_profile_of_the_environments_account_is_taken(tmp_path: Path) -> None:
    access = connect(open_fleet(tmp_path), "deployer")
    assert access.client("s3").list_buckets()["Buckets"] == []
    assert access.client("s3") is access.client("s3")


@pytest.mark.usefixtures("settings")
def test_another_account_is_refused_with_both_numbers_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refusal:
        connect(open_fleet(tmp_path, account="999900001111"), "deployer")
    (finding,) = refusal.value.findings
    assert finding.code == "FL602"
    assert finding.message.startswith(
        f"'dev' is deployed to account 999900001111; these credentials belong to account {ACCOUNT} (arn:aws:"
    )
    assert "--profile, or correct environments/dev.yaml" in finding.hint


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("profile", [None, "nobody"])
def test_without_credentials_it_is_said_how_to_sign_in(tmp_path: Path, profile: str | None) -> None:
    with pytest.raises(CannotRunError, match="AWS credentials are missing") as refusal:
        connect(open_fleet(tmp_path), profile)
    assert "aws sso login" in refusal.value.remedy


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("ExpiredToken", "aws sso login"),
        ("AccessDenied", "use credentials with this permission"),
        ("Throttling", "continues where it stopped"),
    ],
)
def test_a_refusal_of_aws_is_told_with_what_helps(
    tmp_path: Path, proxy: FaultyS3, code: str, remedy: str
) -> None:
    body = f"<ErrorResponse><Error><Code>{code}</Code><Message>no {code}</Message></Error></ErrorResponse>"
    proxy.change_answers(lambda _: True, lambda _: Answer(403, [("Content-Type", "text/xml")], body.encode()))
    with pytest.raises(CannotRunError, match=f"AWS refuses: .*no {code}") as refusal:
        connect(open_fleet(tmp_path), "deployer")
    assert remedy in refusal.value.remedy


def test_an_aws_that_cannot_be_reached_is_told_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    access = embedded_access(DEPLOYMENT, "http://localhost:9", KEYS)
    with pytest.raises(CannotRunError, match='AWS does not answer: .*"http://localhost:9/"'):
        access.check_account()


def test_what_is_no_error_of_aws_goes_on() -> None:
    with pytest.raises(ZeroDivisionError), aws_errors_as_findings():
        raise ZeroDivisionError


def test_a_process_for_a_profile_has_no_keys_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_PROFILE"):
        monkeypatch.setenv(name, "of another account")
    variables = account_access(replace(DEPLOYMENT, region="eu-west-1"), "deployer").cdk_environment
    assert "of another account" not in variables.values()
    aws = {name: value for name, value in variables.items() if name.startswith("AWS_")}
    assert (aws["AWS_PROFILE"], aws["AWS_REGION"], aws["AWS_DEFAULT_REGION"]) == (
        "deployer",
        "eu-west-1",
        "eu-west-1",
    )
    assert account_access(DEPLOYMENT, None).cdk_environment["AWS_SESSION_TOKEN"] == "of another account"


@pytest.mark.usefixtures("settings")
def test_credentials_of_the_environment_say_when_they_expire_and_those_of_a_profile_are_refreshed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expiry = "2999-01-01T00:00:00Z"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_access_key)
    assert account_access(DEPLOYMENT, None).fixed_expiry() is None
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", expiry)
    assert account_access(DEPLOYMENT, None).fixed_expiry() == expiry
    assert account_access(DEPLOYMENT, "deployer").fixed_expiry() is None


@pytest.mark.usefixtures("settings")
def test_credentials_of_the_environment_that_have_expired_are_named_with_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "2000-01-01T00:00:00Z")
    with pytest.raises(CannotRunError, match="AWS credentials have expired") as refusal:
        connect(open_fleet(tmp_path), None)
    assert "aws sso login" in refusal.value.remedy


@pytest.mark.usefixtures("settings")
def test_a_deploy_asks_a_throttling_aws_more_often_unless_the_settings_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def attempts(profile: str | None) -> int:
        ssm: Any = account_access(DEPLOYMENT, profile, attempts=10).client("ssm")
        return int(ssm.meta.config.retries["total_max_attempts"])

    assert attempts("deployer") == 1
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    assert attempts(None) == 10


def test_the_local_environment_takes_no_profile_and_has_to_run(tmp_path: Path) -> None:
    local = open_fleet(tmp_path, "local")
    with pytest.raises(FindingsError, match="FL603: --profile deployer: the environment `local`"):
        connect(local, "deployer")
    with pytest.raises(CannotRunError, match="no local fleet is running") as refusal:
        connect(local, None)
    assert refusal.value.remedy == "run `fleet local up` first"


def test_without_a_terminal_nothing_goes_unless_yes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/null").open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        with pytest.raises(CannotRunError, match="cannot ask for confirmation"):
            ask_consent("Destroy it?", yes=False)
        assert ask_consent("Destroy it?", yes=True)
