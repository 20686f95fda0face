"""`fleet promote` between two accounts, each reached by a profile; killed at random moments, too.

FLEET_KILLS is how many kills there are, FLEET_SEED makes the same moments again.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.embedded_keys import PROFILE_KEYS
from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.kills import KILLS, Tally, Victims, has_died, kill_after, kills, needs_kills
from tests.support.promotion import ENDPOINT, PLACES, Promotion
from tests.support.promotion_images import PromotedImages
from tests.support.running_aws import running_aws
from tests.support.second_aws import ACCOUNT, second_aws
from triton_fleet.cli.commands import app
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import write_lock
from triton_fleet.store.upload.object import SMALLEST_PART

pytestmark = pytest.mark.nightly


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
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("uploaded sentences/sentences: ")
    assert lines[1].startswith("copied 1 archive, ")
    assert lines[2:] == [
        "wrote locks/prod/sentences.lock.yaml",
        "review and commit it, then run `fleet deploy --env prod sentences`",
    ]
    lock, promoted_lock = (
        load_lock(promotion.folder.root / f"locks/{name}/sentences.lock.yaml") for name in ("staging", "prod")
    )
    assert promoted_lock.archives == lock.archives
    assert len(promotion.keys("prod", "archives/")) == 1


def test_again_nothing_is_copied(promotion: Promotion, capsys: pytest.CaptureFixture[str]) -> None:
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    capsys.readouterr()
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    assert capsys.readouterr().out.splitlines() == [
        "copied nothing: 1 archive already present",
        "the lock is up to date: run `fleet deploy --env prod sentences`",
    ]


def test_the_image_that_was_built_is_promoted_with_the_archive(
    promotion: Promotion, capsys: pytest.CaptureFixture[str]
) -> None:
    promotion.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    promotion.folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
    images = PromotedImages(promotion)
    digest = images.build()
    promotion.sagemaker.delete_endpoint(EndpointName=ENDPOINT)
    promotion.test()
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("uploaded sentences, layer ") for line in lines) == 3
    assert any(line.startswith("copied 1 image, ") for line in lines)
    run("--from", "staging", "--to", "prod", "sentences", *PROFILES)
    assert "copied nothing: 1 image already present" in capsys.readouterr().out
    assert list(images.tags()) == [digest]


def test_everything_is_promoted_checked_and_rolled_back_by_one_command_each(
    promotion: Promotion, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = promotion.folder.root / "environments/prod.yaml"
    environment.write_text(f"{environment.read_text()}promoted_from: staging\n")
    promotion.folder.spec("overrides: {prod: {instance: {count: 2}}}\n")
    run("--to", "prod", *PROFILES, "sentences")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:] == [
        "sentences: prod differs from staging on purpose: `instance.count`: 1 → 2",
        "wrote locks/prod/sentences.spec.yaml",
        "wrote locks/prod/sentences.lock.yaml",
        "review and commit them, then run `fleet deploy --env prod sentences`",
    ]
    file = promotion.folder.root / "locks/prod/sentences.lock.yaml"
    lock = load_lock(file)
    assert lock.product == version("triton-fleet")
    app(["check", "--env", "prod"], standalone_mode=False)
    assert capsys.readouterr().out == "prod: no findings in sentences\n"
    repository = GitRepository.around(promotion.folder.root)

    older = lock.model_copy(update={"product": "0.1.0"})
    write_lock(file, older, promotion.folder.root)
    app(["check", "--env", "prod"], standalone_mode=False)
    assert capsys.readouterr().out == "prod: no findings in sentences\n"
    write_lock(file, older.model_copy(update={"template": f"sha256:{0:064}"}), promotion.folder.root)
    app(["check", "--env", "prod"], standalone_mode=False)
    assert "another template of sentences than 0.1.0 did" in capsys.readouterr().err
    repository.commit()

    monkeypatch.setenv("AWS_PROFILE", "prod")
    app(["rollback", "sentences", "--env", "prod"], standalone_mode=False)
    said_lines = capsys.readouterr().out.splitlines()
    assert said_lines[1:] == [
        "wrote locks/prod/sentences.lock.yaml",
        "review and commit, then run `fleet deploy --env prod sentences`",
    ]
    assert load_lock(file) == lock

    for _ in range(2):
        with pytest.raises((CannotRunError, FindingsError)) as refusal:
            app(["rollback", "sentences", "--env", "prod", "--deploy"], standalone_mode=False)
        assert "FL527" not in str(refusal.value)
        assert capsys.readouterr().out.startswith("sentences in prod is already restored to ")
        assert load_lock(file) == lock
    environment.write_text(f"{environment.read_text()}tags: {{edited: later}}\n")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(FindingsError, match=r"FL527: 1 file .* environments/prod\.yaml\n"):
        app(["rollback", "sentences", "--env", "prod", "--deploy"], standalone_mode=False)


def test_a_profile_of_another_account_is_refused(promotion: Promotion) -> None:
    with pytest.raises(FindingsError, match=ACCOUNT):
        run("--from", "staging", "--to", "prod", "sentences", "--to-profile", "qa", *PROFILES[:2])
    assert promotion.keys("prod") == []


def test_a_target_without_its_foundation_is_told_what_to_do_first(promotion: Promotion) -> None:
    promotion.s3("prod").delete_bucket(Bucket=promotion.bucket("prod"))
    with pytest.raises(CannotRunError, match="run `fleet deploy --env prod --foundation`"):
        run("--from", "staging", "--to", "prod", "sentences", *PROFILES)


def test_an_environment_is_not_promoted_to_itself(promotion: Promotion) -> None:
    with pytest.raises(FindingsError, match="FL338: staging cannot be promoted to itself"):
        run("--from", "staging", "--to", "staging", "sentences")


@needs_kills
def test_a_promotion_that_was_killed_at_any_moment_is_finished_by_the_next(promotion: Promotion) -> None:
    tally, start = Tally(), time.monotonic()
    before = finish_promotion(promotion)
    seconds, files = time.monotonic() - start, files_of(promotion)
    for number, kill in enumerate(kills([Victims.WHOLE_GROUP])):
        publish_another(promotion, f"x = {number + 2}")
        process = start_promotion()
        kill_after(process, kill.share * seconds, kill.victims)
        tally.ended_before += not has_died(process)
        remaining_lock = whole_lock(promotion, "prod")
        after = finish_promotion(promotion)
        tally.continuations += 1
        assert after.archives == whole_lock(promotion, "staging").archives, kill
        assert remaining_lock in (before, after), kill
        assert files_of(promotion) == files, kill
        before = after
    print(tally)
    assert tally.continuations == KILLS


@needs_kills
def test_a_rollback_that_was_killed_at_any_moment_is_finished_by_the_next(promotion: Promotion) -> None:
    environment = promotion.folder.root / "environments/prod.yaml"
    environment.write_text(f"{environment.read_text()}promoted_from: staging\n")
    finish_promotion(promotion)
    repository = GitRepository.around(promotion.folder.root)
    earlier = whole_lock(promotion, "prod")
    promotion.folder.spec("overrides: {prod: {instance: {count: 2}}}\n")
    publish_another(promotion, "x = 2")
    finish_promotion(promotion)
    repository.commit()
    start = time.monotonic()
    assert rolled_back(promotion) == earlier
    seconds, tally, files = time.monotonic() - start, Tally(), files_of(promotion)
    for kill in kills([Victims.WHOLE_GROUP]):
        repository.git("checkout", "--quiet", "HEAD", "--", "locks")
        process = start_promotion(*ROLLBACK)
        kill_after(process, kill.share * seconds, kill.victims)
        tally.ended_before += not has_died(process)
        assert rolled_back(promotion) == earlier, kill
        assert rolled_back(promotion) == earlier, kill
        tally.continuations += 1
        assert files_of(promotion) == files, kill
    print(tally)
    assert tally.continuations == KILLS


def publish_another(promotion: Promotion, code: str) -> None:
    """Publish another archive, of two parts, in `staging`, and run it there."""
    promotion.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    model = promotion.folder.write("repository/embed/1/model.py", f"class TritonPythonModel: {code}\n")
    (model.parent / "weights.bin").write_bytes(os.urandom(SMALLEST_PART + (1 << 20)))
    promotion.sagemaker.delete_endpoint(EndpointName=ENDPOINT)
    promotion.test()


PROMOTION = ("promote", "--from", "staging", "--to", "prod", "sentences", *PROFILES)
ROLLBACK = ("rollback", "sentences", "--env", "prod", "--profile", "prod")


def start_promotion(*command: str) -> subprocess.Popen[str]:
    """`fleet promote`, or another command, in the background; it says everything on its output."""
    fleet = str(Path(sys.executable).parent / "fleet")
    return subprocess.Popen(
        [fleet, *(command or PROMOTION)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish_promotion(promotion: Promotion) -> Lock:
    """`fleet promote` to its end; the lock that it leaves."""
    return lock_after(promotion, *PROMOTION)


def rolled_back(promotion: Promotion) -> Lock:
    """`fleet rollback` to its end; the lock that it leaves."""
    return lock_after(promotion, *ROLLBACK)


def lock_after(promotion: Promotion, *command: str) -> Lock:
    """A command to its end; the lock that it leaves in prod."""
    process = start_promotion(*command)
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0, text
    assert "Traceback" not in text, text
    return whole_lock(promotion, "prod")


def whole_lock(promotion: Promotion, environment: str) -> Lock:
    """An environment's lock, all of which lies in its store, whole."""
    lock = load_lock(promotion.folder.root / f"locks/{environment}/sentences.lock.yaml")
    (archive,) = lock.archives.values()
    place = {"Bucket": promotion.bucket(environment), "Key": f"archives/{archive.digest[7:]}.tar.gz"}
    body = promotion.s3(environment).get_object(**place)["Body"].read()  # type: ignore[arg-type]
    assert f"sha256:{hashlib.sha256(gzip.decompress(body)).hexdigest()}" == archive.digest
    return lock


def files_of(promotion: Promotion) -> set[str]:
    """All that lies in the fleet's folder."""
    root = promotion.folder.root
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
