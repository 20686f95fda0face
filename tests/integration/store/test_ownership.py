"""An endpoint gets what its own repository, its releases, or a promotion gave it; naming a digest gives nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket
from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import write_lock
from triton_fleet.store.ownership import owner_key
from triton_fleet.store.publish.publish import PublishResult
from triton_fleet.store.releases import record_release

DEV = "environment: dev\naccount: '111122223333'\nregion: us-east-1\n"
TEAM = "models-of-a-team"


def lock_of(artifact_bucket: ArtifactBucket, name: str) -> Lock:
    return load_lock(artifact_bucket.project.lock_file(name))


def digest_of(artifact_bucket: ArtifactBucket, name: str) -> str:
    return lock_of(artifact_bucket, name).archives[name].digest


def forge(artifact_bucket: ArtifactBucket, name: str, victim: str, **changes: object) -> None:
    """Write the victim's digests into a lock, which keeps its own checksums of files."""
    lock, other_lock = lock_of(artifact_bucket, name), lock_of(artifact_bucket, victim)
    archive = lock.archives[name].model_copy(
        update={
            key: getattr(other_lock.archives[victim], key)
            for key in ("digest", "size", "repository", "engines")
        }
    )
    forged_lock = lock.model_copy(update={"archives": {name: archive}, **changes})
    write_lock(artifact_bucket.project.lock_file(name), forged_lock, artifact_bucket.project.root)


def refusal_message(artifact_bucket: ArtifactBucket, code: str = "FL847") -> str:
    """The only finding of a publish that copies nothing to `thief` and records nothing of it."""
    with pytest.raises(FindingsError) as error_info:
        artifact_bucket.publish()
    (finding,) = error_info.value.findings
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert (
        artifact_bucket.object_keys("endpoints/thief/") == artifact_bucket.object_keys("owners/thief/") == []
    )
    return f"{finding.place}: {finding.message} | {finding.hint}"


@pytest.fixture
def victim(artifact_bucket: ArtifactBucket) -> ArtifactBucket:
    """The bucket of a fleet with a published endpoint, beside which another one is locked."""
    artifact_bucket.single("victim", code="secret = 1\n")
    artifact_bucket.lock()
    artifact_bucket.publish()
    artifact_bucket.single("thief")
    artifact_bucket.lock()
    return artifact_bucket


def test_the_digest_of_another_endpoint_in_a_lock_gets_nothing_of_it(victim: ArtifactBucket) -> None:
    forge(victim, "thief", "victim")
    text = refusal_message(victim)
    assert "model_specs/thief.yaml:5:22: locks/dev/thief.lock.yaml names sha256:" in text
    assert "which 'thief' has never had in 'dev', and the repository here has sha256:" in text
    assert "run `fleet lock --env dev thief` and have the change reviewed" in text


def test_nor_do_the_files_of_another_endpoint_without_compression(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single("victim", keys=", compression: none", code="secret = 1\n")
    artifact_bucket.lock()
    artifact_bucket.publish()
    artifact_bucket.single("thief", keys=", compression: none")
    artifact_bucket.lock()
    forge(artifact_bucket, "thief", "victim")
    refusal_message(artifact_bucket)


def test_nor_does_one_of_a_multi_model_endpoint(victim: ArtifactBucket) -> None:
    (victim.folder.root / "model_specs/thief.yaml").unlink()
    victim.set_of({"a": "x = 1\n", "b": "x = 2\n"}, "thief")
    victim.lock()
    lock, stolen = lock_of(victim, "thief"), lock_of(victim, "victim").archives["victim"].digest
    forged_lock = {**lock.archives, "b": lock.archives["b"].model_copy(update={"digest": stolen})}
    write_lock(
        victim.project.lock_file("thief"),
        lock.model_copy(update={"archives": forged_lock}),
        victim.project.root,
    )
    with pytest.raises(FindingsError, match="FL847: .* for archive 'b'"):
        victim.publish()
    assert [key.rpartition("/")[2] for key in victim.object_keys("endpoints/thief/")] == ["a.tar.gz"]


def test_an_archive_that_both_publish_in_one_run_is_refused_to_whoever_only_names_it(
    artifact_bucket: ArtifactBucket,
) -> None:
    artifact_bucket.single("victim", code="secret = 1\n")
    artifact_bucket.single("thief")
    artifact_bucket.lock()
    forge(artifact_bucket, "thief", "victim")
    with pytest.raises(FindingsError, match="FL847: locks/dev/thief") as error_info:
        artifact_bucket.publish()
    assert len(error_info.value.findings) == 1
    assert len(artifact_bucket.object_keys("endpoints/victim/")) == 1
    assert artifact_bucket.object_keys("endpoints/thief/") == []


def test_equal_repositories_of_two_endpoints_are_both_published(victim: ArtifactBucket) -> None:
    victim.single("thief", code="secret = 1\n")
    victim.lock()
    assert victim.publish() == PublishResult(copies=1, present=1)
    assert len(victim.object_keys("endpoints/thief/")) == 1


def test_a_forged_digest_of_a_repository_in_s3_is_refused(victim: ArtifactBucket) -> None:
    digest = digest_of(victim, "victim")
    victim.s3.create_bucket(Bucket=TEAM)
    for path in ("embed/config.pbtxt", "embed/1/model.py"):
        victim.s3.put_object(Bucket=TEAM, Key=f"models/{path}", Body=b'backend: "python"\n')
    entry = f'"s3://{TEAM}/models/", digest: "{digest}"'
    file = victim.folder.root / "model_specs/thief.yaml"
    file.write_text(file.read_text().replace("../thief", entry))
    forge(victim, "thief", "victim")
    assert f"the spec expects {digest}" in refusal_message(victim)


def record_promotion(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.folder.environment(name="staging")
    forge(artifact_bucket, "thief", "victim", promoted_from="staging")


def test_a_lock_that_says_it_was_promoted_gets_nothing_without_a_promotion(victim: ArtifactBucket) -> None:
    record_promotion(victim)
    text = refusal_message(victim, "FL848")
    assert "did not get by a promotion from 'staging' to 'dev'" in text
    assert "run `fleet promote --from staging --to dev thief`" in text


def test_a_lock_from_no_environment_or_its_own_is_refused_before_aws_is_asked(victim: ArtifactBucket) -> None:
    for origin in ("nowhere", "dev"):
        forge(victim, "thief", "victim", promoted_from=origin)
        assert [finding.code for finding in victim.folder.findings()] == ["FL848"]
        with pytest.raises(FindingsError, match=f"FL848: the lock names '{origin}' as `promoted_from`"):
            victim.publish()


def test_another_origin_than_the_environments_own_is_a_warning(folder: FleetFolder) -> None:
    """An environment may have been renamed: publish knows what was promoted."""
    folder.environment(name="staging")
    folder.environment(name="qa")
    folder.write("environments/dev.yaml", f"{DEV}promoted_from: staging\n")
    spec = folder.root / "model_specs/sentences.yaml"
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    (folder.root / "locks/dev/sentences.spec.yaml").write_text(spec.read_text())
    for origin, text in (("qa", "but dev is promoted from 'staging'"), ("gone", "which is no environment")):
        write_lock(lock, load_lock(lock).model_copy(update={"promoted_from": origin}), folder.root)
        (finding,) = [finding for finding in folder.warnings() if finding.code == "FL848"]
        assert (finding.severity, text in finding.message) == (Severity.WARNING, True)
        assert finding.hint == "run `fleet promote --from staging --to dev sentences`"


def without_records(artifact_bucket: ArtifactBucket) -> None:
    """The bucket as a version left it that kept no records."""
    for key in artifact_bucket.object_keys("owners/"):
        artifact_bucket.s3.delete_object(Bucket=BUCKET, Key=key)


def without_copies(artifact_bucket: ArtifactBucket, name: str) -> None:
    for key in artifact_bucket.object_keys(f"endpoints/{name}/"):
        artifact_bucket.s3.delete_object(Bucket=BUCKET, Key=key)


def without_weights(artifact_bucket: ArtifactBucket, name: str) -> None:
    """A fresh clone: what Git does not keep is missing."""
    (artifact_bucket.folder.root / name / "embed/1/model.py").unlink()


def test_a_clone_without_weights_publishes_again_what_the_endpoint_had(victim: ArtifactBucket) -> None:
    without_copies(victim, "victim")
    without_weights(victim, "victim")
    victim.folder.root.joinpath("model_specs/thief.yaml").unlink()
    assert victim.publish() == PublishResult(copies=1)


def test_what_was_deployed_before_there_were_records_counts_and_is_recorded(victim: ArtifactBucket) -> None:
    victim.folder.root.joinpath("model_specs/thief.yaml").unlink()
    record_release(victim.s3, victim.endpoints[0])
    without_records(victim)
    without_copies(victim, "victim")
    without_weights(victim, "victim")
    assert victim.publish() == PublishResult(copies=1)
    (key,) = victim.object_keys("owners/")
    assert key == owner_key("victim", digest_of(victim, "victim"))
    assert json.loads(victim.body(key))["proof"] == "release"


def test_a_release_that_cannot_be_read_counts_as_none(victim: ArtifactBucket) -> None:
    victim.put("releases/thief/2026-01-01T00:00:00.000000Z.json", b"{}")
    forge(victim, "thief", "victim")
    refusal_message(victim)


def test_where_all_copies_are_there_nothing_else_is_asked_without_records_too(victim: ArtifactBucket) -> None:
    victim.folder.root.joinpath("model_specs/thief.yaml").unlink()
    without_records(victim)
    victim.requests.clear()
    assert victim.publish() == PublishResult(present=1)
    assert victim.requests == ["ListObjectsV2"]


def test_an_earlier_lock_of_the_endpoint_itself_is_published_again(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single(code="x = 1\n")
    artifact_bucket.lock()
    artifact_bucket.publish()
    earlier = lock_of(artifact_bucket, "sentences")
    artifact_bucket.single(code="x = 2\n")
    artifact_bucket.lock()
    artifact_bucket.publish()
    without_copies(artifact_bucket, "sentences")
    write_lock(artifact_bucket.project.lock_file("sentences"), earlier, artifact_bucket.project.root)
    assert artifact_bucket.publish() == PublishResult(copies=1)


@pytest.mark.parametrize(
    "operation",
    ["CopyObject", *(pytest.param(text, marks=pytest.mark.nightly) for text in ("PutObject", "UploadPart"))],
)
def test_a_publish_that_ends_between_record_and_copy_is_repaired_by_the_next(
    victim: ArtifactBucket, operation: str
) -> None:
    class KilledError(BaseException):
        pass

    def kill(model: object, params: dict[str, str], **_: object) -> None:
        if operation != "PutObject" or "/owners/" in params["url_path"]:
            raise KilledError

    event = f"before-call.s3.{operation}"
    victim.s3.meta.events.register(event, kill)
    try:
        victim.publish()
    except KilledError:
        pass
    finally:
        victim.s3.meta.events.unregister(event, kill)
    victim.publish()
    assert len(victim.object_keys("endpoints/thief/")) == len(victim.object_keys("owners/thief/")) == 1
    assert victim.publish() == PublishResult(present=2)


def test_two_publishers_at_once_both_succeed(victim: ArtifactBucket) -> None:
    retries: list[Callable[[], PublishResult]] = [victim.publish]

    def publish_first(params: dict[str, str], **_: object) -> None:
        if "/owners/" in params["url_path"] and retries:
            retries.pop()()

    victim.s3.meta.events.register("before-call.s3.PutObject", publish_first)
    victim.publish()
    victim.s3.meta.events.unregister("before-call.s3.PutObject", publish_first)
    assert len(victim.object_keys("endpoints/thief/")) == len(victim.object_keys("owners/thief/")) == 1


def test_a_missing_repository_is_told_with_what_it_was_to_prove(victim: ArtifactBucket) -> None:
    forge(victim, "thief", "victim")
    shutil.rmtree(victim.folder.root / "thief")
    assert "does not exist" in refusal_message(victim)


def test_a_repository_is_read_once_for_all_endpoints_that_have_it(
    victim: ArtifactBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = (victim.folder.root / "model_specs/victim.yaml").read_text()
    for number in range(3):
        copy = spec.replace("endpoint: victim", f"endpoint: copy{number}")
        copy = copy.replace("archive: victim", "archive: copy")
        victim.folder.write(f"model_specs/copy{number}.yaml", copy)
    victim.lock()
    read: list[Path] = []
    original_open = Path.open

    def count(file: Path, *arguments: object, **options: object) -> object:
        if file.name == "model.py" and file.is_relative_to(victim.folder.root / "victim"):
            read.append(file)
        return original_open(file, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", count)
    assert victim.publish().copies == 4  # with that of the other endpoint
    assert len(read) == 1
