"""`fleet rollback`, run again after it ended, failed or was killed: it never returns to what it took back."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.kills import ends_before_step
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.store.rollback import EarlierRelease, earlier_release, write_release

pytestmark = pytest.mark.nightly

ENDPOINT = "sentences"


@dataclass(frozen=True)
class Releases:
    """A fleet whose commits are releases by number; a release's spec and lock both show the number."""

    folder: FleetFolder
    environment: str

    @property
    def repository(self) -> GitRepository:
        return GitRepository(self.folder.root)

    @property
    def files(self) -> tuple[Path, Path]:
        """The spec and the lock."""
        root, is_promoted = self.folder.root, self.environment == "prod"
        spec = f"locks/prod/{ENDPOINT}.spec.yaml" if is_promoted else f"model_specs/{ENDPOINT}.yaml"
        return root / spec, root / f"locks/{self.environment}/{ENDPOINT}.lock.yaml"

    def write_spec(self, number: int) -> None:
        text = SPEC.replace("instance: {", f"instance: {{count: {number}, ")
        self.files[0].parent.mkdir(parents=True, exist_ok=True)
        self.files[0].write_text(text)

    def write_lock(self, number: int) -> None:
        self.files[1].parent.mkdir(parents=True, exist_ok=True)
        self.files[1].write_text(f"{LOCK}product: 0.0.{number}\n")

    def release(self, number: int) -> None:
        """Commit it."""
        self.write_spec(number)
        self.write_lock(number)
        self.repository.commit()

    def contents(self) -> list[bytes]:
        return [file.read_bytes() for file in self.files]

    def find(self, reference: str | None = None) -> EarlierRelease:
        project = open_project(self.folder.root, self.environment)
        return earlier_release(project, ENDPOINT, reference)

    def roll_back(self, reference: str | None = None) -> int:
        """The number of the release in the work tree after a rollback; spec and lock agree."""
        write_release(self.find(reference), self.folder.root)
        return self.number()

    def number(self) -> int:
        spec, lock = self.contents()
        (number,) = [index for index in range(1, 10) if f"product: 0.0.{index}\n".encode() in lock]
        assert f"count: {number},".encode() in spec
        return number


@pytest.fixture(params=["dev", "prod"])
def releases(folder: FleetFolder, request: pytest.FixtureRequest) -> Releases:
    """Three releases, of an environment that follows main and of one that is promoted."""
    account = '"111122223333"'
    text = f"environment: prod\naccount: {account}\nregion: us-east-1\npromoted_from: dev\n"
    folder.write("environments/prod.yaml", text)
    releases = Releases(folder, request.param)
    for file in releases.files:
        file.unlink(missing_ok=True)
    GitRepository.around(folder.root)
    for number in (1, 2, 3):
        releases.release(number)
    return releases


def test_a_second_run_finds_that_the_release_is_restored(releases: Releases) -> None:
    assert releases.roll_back() == 2
    release = releases.find()
    assert write_release(release, releases.folder.root) == []
    assert releases.number() == 2
    assert release.commit.id == releases.repository.git("rev-parse", "main~1").strip()


def test_a_run_that_was_killed_after_the_spec_is_finished_by_the_next(releases: Releases) -> None:
    releases.write_spec(2)
    assert write_release(releases.find(), releases.folder.root) == [releases.files[1]]
    assert releases.number() == 2


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_run_that_was_killed_before_any_change_of_a_file_is_finished_by_the_next(
    releases: Releases,
) -> None:
    bad = releases.contents()
    write = partial(write_release, releases.find(), releases.folder.root)
    for step in count(1):
        if ends_before_step(write, step):
            break
        assert releases.roll_back() == 2
        assert not list(releases.folder.root.rglob("*.draft"))
        for file, content in zip(releases.files, bad, strict=True):
            file.write_bytes(content)
    assert step > 6


def test_a_lock_that_was_restored_alone_gets_its_spec(releases: Releases) -> None:
    releases.write_lock(2)
    assert releases.roll_back() == 2


def test_a_commit_that_was_named_is_kept_by_a_run_that_names_none(releases: Releases) -> None:
    assert releases.roll_back("main~2") == 1
    assert releases.roll_back() == 1


def test_a_commit_that_is_named_takes_the_work_tree_one_further_back(releases: Releases) -> None:
    assert releases.roll_back() == 2
    assert releases.roll_back("main~2") == 1


def test_half_of_a_commit_that_was_named_is_finished_by_the_same_command_alone(releases: Releases) -> None:
    releases.write_spec(1)
    before = releases.contents()
    with pytest.raises(FindingsError, match="FL846: the lock and the spec .* are of no commit"):
        releases.roll_back()
    assert releases.contents() == before
    assert releases.roll_back("main~2") == 1


def test_files_of_no_commit_are_kept_until_a_commit_is_named(releases: Releases) -> None:
    releases.write_lock(7)
    before = releases.contents()
    with pytest.raises(FindingsError) as error_info:
        releases.roll_back()
    (finding,) = error_info.value.findings
    earlier = releases.repository.git("rev-parse", "main~1")[:12]
    assert finding.hint == (
        f"`--to {earlier}` restores the release before that of HEAD, `--to HEAD` reverts what is not committed"
    )
    assert releases.contents() == before
    assert releases.roll_back("HEAD") == 3


def test_a_rollback_that_is_committed_is_not_taken_back_by_the_next(releases: Releases) -> None:
    assert releases.roll_back() == 2
    releases.repository.commit()
    with pytest.raises(FindingsError, match="FL846: HEAD has restored what .* had") as error_info:
        releases.roll_back()
    assert "`--to COMMIT`" in error_info.value.findings[0].hint
    assert releases.number() == 2
    assert releases.roll_back("main~3") == 1


def test_a_release_after_a_rollback_is_rolled_back_to_it(releases: Releases) -> None:
    releases.roll_back()
    releases.repository.commit()
    releases.release(4)
    assert releases.roll_back() == 2
    assert releases.roll_back() == 2


def test_commits_and_edits_of_other_files_change_nothing(releases: Releases) -> None:
    releases.folder.write("README.md", "one\n")
    releases.repository.commit()
    releases.folder.write("README.md", "two\n")
    assert releases.roll_back() == 2
    assert releases.roll_back() == 2
    assert (releases.folder.root / "README.md").read_text() == "two\n"


def test_an_endpoint_that_was_removed_stays_restored(releases: Releases) -> None:
    for file in releases.files:
        file.unlink()
    releases.repository.commit()
    assert releases.roll_back() == 3
    assert releases.roll_back() == 3


def test_what_a_clone_without_its_history_cannot_know_is_not_guessed(
    releases: Releases, tmp_path: Path
) -> None:
    releases.roll_back()
    releases.repository.commit()
    clone = FleetFolder(tmp_path / "clone")
    releases.repository.git(
        "clone", "--quiet", "--depth=2", f"file://{releases.folder.root}", str(clone.root)
    )
    shallow = Releases(clone, releases.environment)
    with pytest.raises(FindingsError) as error_info:
        shallow.roll_back()
    assert "git fetch --unshallow" in error_info.value.findings[0].hint
    assert shallow.number() == 2
    shutil.rmtree(clone.root)
