"""`fleet rollback`: an earlier lock and spec come back, if the store still has all that they name."""

from __future__ import annotations

import shutil

import pytest

from tests.support.fleet_folder import SPEC
from tests.support.git_repository import GitRepository
from tests.support.promotion import ENDPOINT, PLACES, Promotion
from triton_fleet.awsapi.actor import Actor
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.selection.checkout import Checkout
from triton_fleet.store.release_history import release_to_restore
from triton_fleet.store.releases import last_releases, record_release, release_source
from triton_fleet.store.rollback import (
    EarlierRelease,
    earlier_release,
    release_changes,
    require_contents,
    write_release,
)

MODEL = "repository/embed/1/model.py"


@pytest.fixture
def repository(promotion: Promotion) -> GitRepository:
    """prod, promoted from staging, has a first release, which is committed, and then a second one."""
    account, region = PLACES["prod"]
    text = f'environment: prod\naccount: "{account}"\nregion: {region}\npromoted_from: staging\n'
    promotion.folder.write("environments/prod.yaml", text)
    promotion.test()
    promotion.promote()
    repository = GitRepository.around(promotion.folder.root)
    promotion.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    promotion.folder.write(MODEL, "class TritonPythonModel: x = 2\n")
    promotion.folder.spec("scaling: {min: 1, max: 3, gpu_utilization: 50}\n")
    promotion.sagemaker.delete_endpoint(EndpointName=ENDPOINT)
    promotion.test()
    promotion.promote()
    repository.commit()
    return repository


def release(promotion: Promotion, reference: str | None = None, environment: str = "prod") -> EarlierRelease:
    return earlier_release(open_project(promotion.folder.root, environment), ENDPOINT, reference)


def store_release(promotion: Promotion, release: EarlierRelease) -> None:
    project = open_project(promotion.folder.root, "prod")
    require_contents(project, release, promotion.s3("prod"), promotion.ecr("prod"))


def test_the_release_before_the_last_change_comes_back_whole(
    promotion: Promotion, repository: GitRepository
) -> None:
    actual_release, root = release(promotion), promotion.folder.root
    store_release(promotion, actual_release)
    project = open_project(root, "prod")
    key, *contents = release_changes(project, actual_release)
    assert key.startswith("`scaling`: {")
    assert [line for line in contents if line.startswith("embed/")] == contents
    assert "embed/1/empty.py new" in contents
    assert [file.name for file in write_release(actual_release, promotion.folder.root)] == [
        "sentences.spec.yaml",
        "sentences.lock.yaml",
    ]
    assert not [line for line in repository.diff("main~1") if line.startswith("locks/prod/")]
    assert promotion.folder.findings("prod") == []


def test_what_is_not_committed_yet_is_taken_back_by_naming_the_last_commit(
    promotion: Promotion, repository: GitRepository
) -> None:
    lock = promotion.folder.root / "locks/prod/sentences.lock.yaml"
    committed_lock = load_lock(lock)
    lock.write_text(lock.read_text().replace("promoted_from: staging", "promoted_from: qa"))
    write_release(release(promotion, "HEAD"), promotion.folder.root)
    assert load_lock(lock) == committed_lock


def test_any_commit_can_be_named(promotion: Promotion, repository: GitRepository) -> None:
    first = repository.git("rev-parse", "main~1").strip()
    assert release(promotion, "main~1").commit.id == first
    with pytest.raises(CannotRunError, match="git knows no commit 'gone'"):
        release(promotion, "gone")


def test_a_release_whose_archive_is_gone_is_refused_and_nothing_is_written(
    promotion: Promotion, repository: GitRepository
) -> None:
    actual_release = release(promotion)
    digest = actual_release.lock.archives[ENDPOINT].digest.removeprefix("sha256:")
    bucket = promotion.bucket("prod")
    promotion.s3("prod").delete_object(Bucket=bucket, Key=f"archives/{digest}.tar.gz")
    with pytest.raises(FindingsError, match="is not in the store"):
        store_release(promotion, actual_release)


def test_a_store_that_has_something_else_under_the_name_is_refused(
    promotion: Promotion, repository: GitRepository
) -> None:
    actual_release = release(promotion)
    digest = actual_release.lock.archives[ENDPOINT].digest.removeprefix("sha256:")
    key, bucket = f"archives/{digest}.tar.gz", promotion.bucket("prod")
    promotion.s3("prod").put_object(
        Bucket=bucket, Key=key, Body=b"x", Metadata={"tar-digest": "sha256:other"}
    )
    with pytest.raises(FindingsError, match="has the digest sha256:other"):
        store_release(promotion, actual_release)


def test_a_first_release_has_none_before_it(promotion: Promotion, repository: GitRepository) -> None:
    repository.git("checkout", "--quiet", "main~1")
    with pytest.raises(FindingsError, match="Git knows no earlier lock of 'sentences' in prod"):
        release(promotion)


def test_a_lock_without_a_spec_is_not_brought_back_half(
    promotion: Promotion, repository: GitRepository
) -> None:
    repository.git("rm", "--quiet", "locks/prod/sentences.spec.yaml")
    repository.commit()
    repository.git("commit", "--quiet", "--allow-empty", "--message", "other")
    with pytest.raises(FindingsError, match="but no locks/prod/sentences.spec.yaml beside it"):
        release(promotion, "main")


def test_an_environment_that_follows_main_gets_its_lock_and_the_spec(
    promotion: Promotion, repository: GitRepository
) -> None:
    actual_release = release(promotion, environment="staging")
    assert [file.name for file in write_release(actual_release, promotion.folder.root)] == [
        "sentences.yaml",
        "sentences.lock.yaml",
    ]
    assert (promotion.folder.root / "model_specs/sentences.yaml").read_text() == SPEC


def test_an_endpoint_that_was_removed_comes_back(promotion: Promotion, repository: GitRepository) -> None:
    repository.git("rm", "--quiet", "-r", "locks/prod")
    repository.commit()
    write_release(release(promotion), promotion.folder.root)
    assert open_project(promotion.folder.root, "prod").endpoints == (ENDPOINT,)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("", "a b"))]
)
def test_a_name_that_is_none_is_refused(promotion: Promotion, repository: GitRepository, name: str) -> None:
    with pytest.raises(FindingsError, match="is not the name of an endpoint"):
        earlier_release(open_project(promotion.folder.root, "prod"), name, None)


def test_a_subject_and_a_file_of_any_bytes_are_read(promotion: Promotion, repository: GitRepository) -> None:
    lock = promotion.folder.root / "locks/prod/sentences.lock.yaml"
    lock.write_bytes(b"\xff\n")
    repository.git("commit", "--quiet", "--all", "--message", "two\u2028lines")
    with pytest.raises(FindingsError, match="not UTF-8"):
        release(promotion, "main")
    assert release(promotion).lock.endpoint == ENDPOINT


def test_line_ends_of_this_clone_are_no_other_release(
    promotion: Promotion, repository: GitRepository
) -> None:
    commit = release(promotion).commit
    for file in (promotion.folder.root / "locks/prod").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert release(promotion).commit == commit


class TestRelease:
    @pytest.fixture
    def first(self, promotion: Promotion, repository: GitRepository) -> str:
        """The id of the release of the first promotion, after which the second one was deployed."""
        for reference in ("main~1", "main"):
            repository.git("checkout", "--quiet", reference)
            project = open_project(promotion.folder.root, "prod")
            (endpoint,) = resolve_project(project).endpoints
            commit = repository.git("rev-parse", "HEAD").strip()
            source = release_source(project, ENDPOINT, Actor(arn="anna"), Checkout(commit=commit))
            record_release(promotion.s3("prod"), endpoint, source=source)
        return last_releases(promotion.s3("prod"), project.deployment.bucket, ENDPOINT)[-1].id

    def test_a_release_is_named_by_its_id_and_comes_back_from_its_commit(
        self, promotion: Promotion, repository: GitRepository, first: str
    ) -> None:
        project = open_project(promotion.folder.root, "prod")
        release = release_to_restore(project, ENDPOINT, first, promotion.s3("prod"))
        assert release.commit.id == repository.git("rev-parse", "main~1").strip()
        write_release(release, promotion.folder.root)
        assert not [line for line in repository.diff("main~1") if line.startswith("locks/prod/")]

    def test_a_release_whose_archives_were_pruned_is_refused(
        self, promotion: Promotion, repository: GitRepository, first: str
    ) -> None:
        project = open_project(promotion.folder.root, "prod")
        release = release_to_restore(project, ENDPOINT, first, promotion.s3("prod"))
        digest = release.lock.archives[ENDPOINT].digest.removeprefix("sha256:")
        for key in promotion.keys("prod", f"archives/{digest}"):
            promotion.s3("prod").delete_object(Bucket=promotion.bucket("prod"), Key=key)
        with pytest.raises(FindingsError, match="is not in the store"):
            store_release(promotion, release)

    def test_a_commit_that_this_clone_lacks_is_named(
        self, promotion: Promotion, repository: GitRepository, first: str
    ) -> None:
        git_folder = promotion.folder.root / ".git"
        shutil.rmtree(git_folder)
        GitRepository.around(promotion.folder.root)
        project = open_project(promotion.folder.root, "prod")
        with pytest.raises(CannotRunError, match="git knows no commit"):
            release_to_restore(project, ENDPOINT, first, promotion.s3("prod"))
