"""A live set takes and loses archives without a deploy, and no target's name ever means two contents."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.artifact_bucket import BUCKET
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.live_sets import LIVE, Live
from tests.support.running_aws import running_aws
from tests.support.zoo import call_in_parallel
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.live.addition import Addition, add_archive, repository_source, told_of_arguments
from triton_fleet.store.live.live_set import (
    check_archive_name,
    digests_of,
    live_set,
    require_removable,
    targets_of,
)
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import measure

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

SAME = "x = 2\n"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Client]:
    with running_aws() as aws:
        yield local_session("us-east-1", KEYS).client("s3", endpoint_url=aws.url)


@pytest.fixture
def live(folder: FleetFolder, s3: S3Client, request: pytest.FixtureRequest) -> Live:
    folder.spec(base=LIVE)
    folder.lock()
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    request.addfinalizer(lambda: _forget(s3))
    return Live(folder, s3)


def _forget(s3: S3Client) -> None:
    object_versions = s3.list_object_versions(Bucket=BUCKET)
    for version in [*object_versions.get("Versions", []), *object_versions.get("DeleteMarkers", [])]:
        s3.delete_object(Bucket=BUCKET, Key=version["Key"], VersionId=version["VersionId"])
    s3.delete_bucket(Bucket=BUCKET)


def test_an_archive_is_added_under_its_first_version_and_kept_in_the_store(live: Live) -> None:
    assert live.add() == Addition(target="other-v1.tar.gz", had_target=False)
    digest = f"sha256:{hashlib.sha256(live.body('other-v1.tar.gz')).hexdigest()}"
    assert digests_of(live.s3, live.set, live.targets()) == {"other-v1.tar.gz": digest}
    stored_contents = live.s3.list_objects_v2(Bucket=live.set.deployment.bucket, Prefix="archives/")[
        "Contents"
    ]
    assert [entry["Key"] for entry in stored_contents] == [
        f"archives/{digest.removeprefix('sha256:')}.tar.gz"
    ]


def test_what_was_added_is_the_endpoints_own_whatever_repository_its_spec_names_later(live: Live) -> None:
    live.publish()
    live.add("x = 2\n")
    digest = measure(FolderSource.of(live.repository("x = 2\n"))).digest
    lock = live.folder.root / "locks/dev/sentences.lock.yaml"
    live.folder.write("model_specs/sentences.yaml", LIVE.replace("version: 1", "version: 2"))
    (own,) = load_lock(lock).archives.values()
    lock.write_text(lock.read_text().replace(own.digest, digest))
    live.publish()
    assert live.body("sentences-v2.tar.gz") == live.body("other-v1.tar.gz")


def test_another_content_gets_the_next_version(live: Live) -> None:
    live.add("x = 1\n")
    assert live.add("x = 2\n").target == "other-v2.tar.gz"
    assert live.targets() == ["other-v1.tar.gz", "other-v2.tar.gz"]
    assert live.body("other-v1.tar.gz") != live.body("other-v2.tar.gz")


def test_the_tenth_version_comes_after_the_ninth(live: Live) -> None:
    for version in (9, 10):
        live.add(f"x = {version}\n", version=version)
    assert live.add("x = 11\n").target == "other-v11.tar.gz"


def test_an_archive_whose_name_begins_alike_is_another(live: Live) -> None:
    live.add(archive="other-v7", version=3)
    assert live.add().target == "other-v1.tar.gz"


@pytest.mark.parametrize("version", [None, 1])
def test_the_same_content_is_there_already(live: Live, version: int | None) -> None:
    live.add()
    assert live.add(version=version) == Addition(target="other-v1.tar.gz", had_target=True)
    assert live.targets() == ["other-v1.tar.gz"]


def test_a_target_is_never_overwritten_and_the_next_free_version_is_named(live: Live) -> None:
    live.add("x = 1\n")
    before = live.body("other-v1.tar.gz")
    text = live.refusal(text="x = 2\n", version=1)
    assert text.startswith("FL330 other-v1.tar.gz of sentences has other content")
    assert text.endswith("or pass `--version 2`, the next free one of 'other'")
    assert live.body("other-v1.tar.gz") == before


def test_an_archive_that_was_put_there_by_hand_is_not_overwritten(live: Live) -> None:
    key = live.set.key("other-v1.tar.gz")
    live.s3.put_object(Bucket=live.set.deployment.bucket, Key=key, Body=b"by hand")
    assert live.refusal(version=1).startswith("FL330 other-v1.tar.gz")
    assert live.add().target == "other-v2.tar.gz"


def test_a_removed_targets_name_never_gets_another_content(live: Live) -> None:
    live.add("x = 1\n")
    live.remove("other-v1.tar.gz")
    text = live.refusal(text="x = 2\n", version=1)
    assert "an instance that has loaded it may still serve that" in text
    assert live.add("x = 2\n").target == "other-v2.tar.gz"


def test_a_removed_target_comes_back_with_the_same_content(live: Live) -> None:
    live.add()
    live.remove("other-v1.tar.gz")
    assert live.add() == Addition(target="other-v1.tar.gz", had_target=False)
    assert live.targets() == ["other-v1.tar.gz"]


def test_a_name_of_the_spec_that_is_not_published_yet_is_kept_for_its_content(live: Live) -> None:
    assert live.refusal(archive="sentences", version=1).startswith(
        "FL330 sentences-v1.tar.gz is in the spec of sentences"
    )
    assert live.add(archive="sentences").target == "sentences-v2.tar.gz"


def test_what_the_spec_names_can_be_added_before_it_is_published(live: Live) -> None:
    source = FolderSource.of(live.folder.root / "repository")
    addition = add_archive(live.s3, live.set, "sentences", None, source)
    assert addition == Addition(target="sentences-v1.tar.gz", had_target=False)
    live.publish()
    assert live.targets() == ["sentences-v1.tar.gz"]


def test_two_that_add_at_one_time_get_two_names(live: Live) -> None:
    calls = [lambda text=text: live.add(text) for text in ("x = 1\n", "x = 2\n")]
    first, second = call_in_parallel(calls)
    assert {first.target, second.target} == {"other-v1.tar.gz", "other-v2.tar.gz"}
    assert b"x = 1\n" in live.body(first.target)
    assert b"x = 2\n" in live.body(second.target)


def test_two_that_add_the_same_at_one_time_share_a_name(live: Live) -> None:
    live.repository(SAME)  # before both read it
    first, second = call_in_parallel([lambda: live.add(SAME)] * 2)
    assert (first.target, second.target) == ("other-v1.tar.gz", "other-v1.tar.gz")
    assert live.targets() == ["other-v1.tar.gz"]


def test_two_that_add_others_as_one_version_are_not_mixed_up(live: Live) -> None:
    calls = [lambda text=text: live.add(text, version=5) for text in ("x = 1\n", "x = 2\n")]
    outcomes = call_in_parallel(calls)
    (outcome,) = [outcome for outcome in outcomes if isinstance(outcome, Addition)]
    (lost_outcome,) = [outcome for outcome in outcomes if isinstance(outcome, FindingsError)]
    assert outcome.target == "other-v5.tar.gz"
    assert "FL330: other-v5.tar.gz of sentences has other content" in str(lost_outcome)


def test_a_repository_that_the_container_would_not_serve_is_refused(live: Live) -> None:
    repository = live.repository("x = 1\n")
    live.folder.write(f"{repository.name}/second/config.pbtxt", 'backend: "python"\n')
    live.folder.write(f"{repository.name}/second/1/model.py", "x = 1\n")
    assert live.refusal(text="x = 1\n").startswith("FL408 the archive contains 2 models and no ensemble")


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        ("HOTEL-ROOMS", "'HOTEL-ROOMS' contains 'OOM': each of its errors would read as out of memory"),
        ("a/../b", "'a/../b' is not an archive's name"),
        ("x" * 64, "at most 63"),
        ("", "'' is not an archive's name"),
    ],
)
def test_a_name_that_no_spec_could_have_is_refused(archive: str, message: str) -> None:
    with pytest.raises(FindingsError) as refusal:
        check_archive_name(archive)
    (finding,) = refusal.value.findings
    assert finding.code == "FL335"
    assert message in finding.message


@pytest.mark.parametrize(
    ("base", "line", "current_text"),
    [
        (SPEC, 1, "`mode: single`"),
        (LIVE.replace("archive_set: live", "archive_set: locked"), 3, "`archive_set: locked`"),
    ],
)
def test_an_endpoint_without_a_live_set_is_refused_with_the_way_to_one(
    folder: FleetFolder, base: str, line: int, current_text: str
) -> None:
    folder.spec(base=base)
    with pytest.raises(FindingsError) as refusal:
        live_set(open_project(folder.root, "dev"), "sentences")
    (finding,) = refusal.value.findings
    assert (finding.code, finding.line) == ("FL333", line)
    assert f"sentences has no live set: {current_text} means" in finding.message
    assert finding.hint.endswith("`fleet lock --env dev sentences` and `fleet deploy --env dev sentences`")


def test_a_target_that_the_spec_names_is_not_removed(live: Live) -> None:
    with pytest.raises(FindingsError, match="FL331: .* the next publish would add it again"):
        require_removable(live.set, "sentences-v1.tar.gz", ["sentences-v1.tar.gz"])


def test_an_unknown_target_is_not_removed_and_the_nearest_is_named(live: Live) -> None:
    with pytest.raises(FindingsError, match="FL334: .*\n.*did you mean `other-v1.tar.gz`?"):
        require_removable(live.set, "other-v2.tar.gz", ["other-v1.tar.gz"])


def test_targets_are_listed_with_what_the_spec_has_to_do_with_them(live: Live) -> None:
    live.add()
    targets = {target.name: target for target in targets_of(live.s3, live.set)}
    assert [(target.is_declared, target.size is None) for target in targets.values()] == [
        (False, False),
        (True, True),
    ]
    assert list(targets) == ["other-v1.tar.gz", "sentences-v1.tar.gz"]
    live.publish()
    assert all(target.size for target in targets_of(live.s3, live.set))


def test_without_a_lock_a_name_of_the_spec_is_kept_all_the_same(live: Live) -> None:
    (live.folder.root / "locks/dev/sentences.lock.yaml").unlink()
    assert live.refusal(archive="sentences", version=1).startswith(
        "FL330 sentences-v1.tar.gz is in the spec of sentences"
    )
    write_locks(open_project(live.folder.root, "dev"))


def test_a_repository_in_s3_is_added_if_it_holds_the_content_that_is_meant(live: Live) -> None:
    bucket, stream = live.set.deployment.bucket, io.BytesIO()
    FolderSource.of(live.repository("x = 1\n")).write(stream)
    live.s3.put_object(
        Bucket=bucket, Key="uploads/sentences/theirs.tar.gz", Body=gzip.compress(stream.getvalue())
    )
    project, url = open_project(live.folder.root, "dev"), f"s3://{bucket}/uploads/sentences/theirs.tar.gz"
    spec = project.load("sentences")
    digest = f"sha256:{hashlib.sha256(stream.getvalue()).hexdigest()}"

    def add(digest: str | None) -> Addition:
        with told_of_arguments(spec):
            source = repository_source(project, spec, "theirs", url, digest, lambda: live.s3)
            return add_archive(live.s3, live.set, "theirs", None, source)

    with pytest.raises(FindingsError, match=f"FL308: the content of {url} may change.*\n.*--digest {digest}"):
        add(None)
    assert add(digest) == Addition(target="theirs-v1.tar.gz", had_target=False)
    assert live.body("theirs-v1.tar.gz") == stream.getvalue()


@pytest.mark.parametrize(
    ("repository", "digest", "message"),
    [
        ("no/folder", None, "FL401: no/folder does not exist"),
        (__file__, None, "is not a folder"),
        (".", "sha256:0", "FL339: --digest is for a repository in S3, and this is a folder"),
        (f"s3://{BUCKET}/endpoints/rank/", None, "FL753: .* which has what all of its endpoints run"),
        (f"s3://{BUCKET}/uploads/rank/", None, f"FL753: .*\n.*{BUCKET}/uploads/sentences/, or to a bucket"),
        ("s3://models/embed", None, "FL219: 's3://models/embed' is neither an archive nor a prefix in S3"),
    ],
)
def test_a_repository_that_is_none_is_refused(
    live: Live, repository: str, digest: str | None, message: str
) -> None:
    project = open_project(live.folder.root, "dev")
    with pytest.raises(FindingsError, match=message):
        repository_source(project, project.load("sentences"), "other", repository, digest, lambda: live.s3)
