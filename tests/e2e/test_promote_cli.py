"""`fleet promote` between two accounts, each reached by a profile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded_keys import PROFILE_KEYS
from fleet.cli.commands import app
from fleet.findings import CannotRunError, FindingsError
from fleet.spec.project import load_lock
from fleet_folder import FleetFolder
from promotion import PLACES, Promotion
from running_aws import running_aws
from second_aws import ACCOUNT, second_aws


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    with running_aws() as aws, second_aws() as second:
        yield {"123456789012": aws.url, ACCOUNT: second}


@pytest.fixture
def promotion(
    folder: FleetFolder, urls: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Promotion:
    """A tested endpoint, a profile for each environment, and the working folder of a user."""
    config = tmp_path / "config"
    config.write_text(
        "".join(
            f"[profile {name}]\nregion = {region}\nendpoint_url = {urls[account]}\n{PROFILE_KEYS}"
            for name, (account, region) in PLACES.items()
        )
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
    monkeypatch.chdir(folder.root)
    promotion = Promotion(folder, urls)
    promotion.prepare()
    promotion.test()
    return promotion


def run(*arguments: str) -> None:
    """`fleet promote` in this process."""
    app(["promote", *arguments], standalone_mode=False)


PROFILES = ("--from-profile", "staging", "--to-profile", "prod")


def test_the_archive_and_the_lock_are_promoted_and_what_to_do_next_is_said(
    promotion: Promotion, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("uploaded sentences/sentences: ")
    assert said[1].startswith("copied 1 archive, ")
    assert said[2:] == [
        "wrote locks/prod/sentences.lock.yaml",
        "review and commit it, then run `fleet deploy --env prod sentences`",
    ]
    tested, promoted = (
        load_lock(promotion.folder.root / f"locks/{name}/sentences.lock.yaml") for name in ("staging", "prod")
    )
    assert promoted.archives == tested.archives
    assert len(promotion.keys("prod")) == 1


def test_again_nothing_is_copied(promotion: Promotion, capsys: pytest.CaptureFixture[str]) -> None:
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    capsys.readouterr()
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    assert capsys.readouterr().out.splitlines() == [
        "copied nothing: 1 archive is there already",
        "the lock is up to date: run `fleet deploy --env prod sentences`",
    ]


def test_a_profile_of_another_account_is_refused(promotion: Promotion) -> None:
    with pytest.raises(FindingsError, match=ACCOUNT):
        run("--from", "staging", "--to", "prod", "sentences", "--to-profile", "qa", *PROFILES[:2])
    assert promotion.keys("prod") == []


def test_a_target_without_its_foundation_is_told_what_to_do_first(promotion: Promotion) -> None:
    promotion.s3("prod").delete_bucket(Bucket=promotion.bucket("prod"))
    with pytest.raises(CannotRunError, match="run `fleet deploy --env prod --foundation`"):
        run("--from", "staging", "--to", "prod", "sentences", *PROFILES)


def test_an_environment_is_not_promoted_to_itself(promotion: Promotion) -> None:
    with pytest.raises(FindingsError, match="FL338: staging is promoted to itself"):
        run("--from", "staging", "--to", "staging", "sentences")
