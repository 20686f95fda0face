"""The releases of an endpoint: which runs, what each changed, and which commit brings one back."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fleet.artifacts.release_history import HistoryEntry, history, short_id
from fleet.artifacts.release_reference import commit_of, release_of, require_lock_of
from fleet.artifacts.releases import Release, ReleasedArchive, ReleaseSource
from fleet.artifacts.rollback import EarlierRelease
from fleet.aws.actor import Actor, actor
from fleet.cli.history import entry_lines, entry_record
from fleet.findings import FindingsError
from fleet.report.spec_changes import recorded_spec
from fleet.selection.history import Commit
from fleet.spec.endpoint import Compression
from fleet.spec.lock import Lock
from fleet.spec.project import LoadedSpec, open_project
from fleet_folder import FleetFolder

ANNA = Actor(arn="arn:aws:sts::111122223333:assumed-role/Deploy/anna")
BEGINNING = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
LOCK_FILE = "locks/dev/sentences.lock.yaml"


def digest(letter: str) -> str:
    return f"sha256:{letter * 64}"


def loaded(folder: FleetFolder, keys: str = "") -> LoadedSpec:
    folder.spec(keys)
    return open_project(folder.root, "dev").load("sentences")


@pytest.fixture
def spec(folder: FleetFolder) -> dict[str, Any]:
    return recorded_spec(loaded(folder), folder.root)


def release(
    hour: int,
    spec: dict[str, Any] | None,
    letter: str = "a",
    *,
    commit: str | None = "c" * 40,
    uncommitted: bool = False,
    who: Actor = ANNA,
) -> Release:
    """A release of one archive; without a spec, one that an earlier version recorded."""
    lock = {"endpoint": "sentences", "archives": {"sentences": archive(letter)}}
    source = (
        ReleaseSource(actor=who, commit=commit, uncommitted=uncommitted, lock=lock, spec=spec)
        if spec is not None
        else None
    )
    return Release(
        endpoint="sentences",
        time=BEGINNING + timedelta(hours=hour),
        model_data=f"endpoints/sentences/{letter}.tar.gz",
        compression=Compression.GZIP,
        archives=(ReleasedArchive(key=f"endpoints/sentences/{letter}.tar.gz", digest=digest(letter)),),
        source=source,
    )


def archive(letter: str) -> dict[str, Any]:
    return {"digest": digest(letter), "size": 1000 * (1 + ord(letter) - ord("a")), "models": {"embed": {}}}


def listed(*newest_first: Release, status: str | None = "InService") -> list[HistoryEntry]:
    return history(newest_first, status)


def with_count(spec: dict[str, Any], count: int) -> dict[str, Any]:
    return {**spec, "instance": {**spec["instance"], "count": count}}


class TestChanges:
    def test_keys_of_the_spec_and_archives_are_told_from_the_release_before(
        self, spec: dict[str, Any]
    ) -> None:
        newest, oldest = listed(release(1, with_count(spec, 2), "b"), release(0, spec))
        assert newest.changes[0] == "`instance.count`: 1 → 2"
        assert newest.changes[1].startswith("archive sentences: ")
        assert newest.changes[1].endswith("1.0 kB → 2.0 kB")
        assert oldest.changes == ()

    def test_a_record_without_a_spec_shows_only_that_the_content_changed(self, spec: dict[str, Any]) -> None:
        newest, after, _ = listed(release(2, spec, "b"), release(1, None, "b"), release(0, None))
        told = "changed; what else did is unknown, as no readable spec and lock are recorded"
        assert newest.changes == (f"neither archives nor image {told}",)
        assert after.changes == (f"archives {told}",)

    def test_a_record_of_another_contract_is_compared_as_it_is(self, spec: dict[str, Any]) -> None:
        other = {**spec, "key_of_another_version": 5}
        newest, _ = listed(release(1, spec), release(0, other))
        assert newest.changes[-1] == "`key_of_another_version`: 5 → none"

    def test_a_lock_of_another_contract_shows_only_that_the_content_changed(
        self, spec: dict[str, Any]
    ) -> None:
        newest = release(1, spec, "b")
        assert newest.source is not None
        source = newest.source.model_copy(update={"lock": {"endpoint": "sentences"}})
        (entry, _) = listed(newest.model_copy(update={"source": source}), release(0, spec))
        assert entry.changes[0].startswith("archives changed; what else did is unknown")

    def test_a_secret_is_in_no_record(self, folder: FleetFolder) -> None:
        found = recorded_spec(loaded(folder, "environment: {API_TOKEN: hunter2}\n"), folder.root)
        assert found["environment"] == {"API_TOKEN": "(not shown)"}

    def test_a_key_at_its_default_is_not_recorded_and_paths_are_of_the_fleet(
        self, spec: dict[str, Any]
    ) -> None:
        assert spec == {
            "triton": "25.04",
            "instance": {"type": "ml.g5.xlarge"},
            "models": [{"archive": "sentences", "repository": "repository"}],
        }


class TestState:
    def test_the_newest_runs_now_and_the_others_were_replaced(self, spec: dict[str, Any]) -> None:
        found = listed(release(1, spec, "b"), release(0, spec))
        assert [each.state for each in found] == ["runs now", "replaced"]

    @pytest.mark.parametrize(("status", "state"), [("Updating", "runs now, Updating"), (None, "deleted")])
    def test_the_status_of_the_endpoint_is_told(
        self, spec: dict[str, Any], status: str | None, state: str
    ) -> None:
        assert [each.state for each in listed(release(0, spec), status=status)] == [state]

    def test_what_a_later_release_returned_from_was_rolled_back(self, spec: dict[str, Any]) -> None:
        again, bad, worse, good, first = listed(
            release(4, spec),
            release(3, spec, "c"),
            release(2, spec, "b"),
            release(1, spec),
            release(0, spec, "d"),
        )
        assert (again.state, again.same_as) == ("runs now", good.id)
        assert [each.state for each in (bad, worse)] == ["rolled back"] * 2
        assert [each.state for each in (good, first)] == ["replaced"] * 2

    def test_releases_of_one_second_have_their_whole_id(self, spec: dict[str, Any]) -> None:
        first, other = release(0, spec), release(1, spec)
        twin = first.model_copy(update={"time": BEGINNING + timedelta(microseconds=1)})
        ids = [short_id(each, (other, twin, first)) for each in (other, twin, first)]
        assert ids == ["2026-11-27T10:30:00Z", "2026-11-27T09:30:00.000001Z", "2026-11-27T09:30:00.000000Z"]


class TestReference:
    @pytest.mark.parametrize(
        "reference", ["2026-11-27T10:30:00Z", "2026-11-27T10", "2026-11-27T10:30:00.000000Z"]
    )
    def test_an_id_or_its_beginning_names_one(self, spec: dict[str, Any], reference: str) -> None:
        releases = release(1, spec, "b"), release(0, spec)
        assert release_of(reference, releases, "dev", "sentences") is releases[0]

    def test_an_ambiguous_beginning_lists_what_it_may_mean(self, spec: dict[str, Any]) -> None:
        with pytest.raises(FindingsError) as refused:
            release_of("2026-11-27", (release(1, spec, "b"), release(0, spec)), "dev", "sentences")
        (finding,) = refused.value.findings
        assert (finding.code, finding.hint) == ("FL528", "write more of the id")
        assert finding.message == (
            "2 releases of sentences in dev begin with '2026-11-27': "
            "2026-11-27T10:30:00.000000Z, 2026-11-27T09:30:00.000000Z"
        )

    def test_an_id_that_is_not_recorded_such_as_of_a_deploy_that_failed_is_refused(
        self, spec: dict[str, Any]
    ) -> None:
        with pytest.raises(FindingsError) as refused:
            release_of("2026-11-28T09:30:00Z", (release(0, spec),), "dev", "sentences")
        (finding,) = refused.value.findings
        assert finding.code == "FL528"
        assert finding.message == "no release of sentences in dev is recorded as '2026-11-28T09:30:00Z'"
        assert finding.hint is not None
        assert finding.hint.startswith(
            "`fleet history sentences --env dev` lists them; failed deploys are not"
        )


class TestCommit:
    def test_a_release_has_the_commit_that_it_was_deployed_from(self, spec: dict[str, Any]) -> None:
        found = release(0, spec)
        assert commit_of(found, [found], LOCK_FILE) == "c" * 40

    def test_what_was_not_committed_has_the_commit_of_another_release_of_the_same_content(
        self, spec: dict[str, Any]
    ) -> None:
        releases = [release(2, spec, commit="e" * 40, uncommitted=True), release(0, spec)]
        assert commit_of(releases[0], releases, LOCK_FILE) == "c" * 40

    @pytest.mark.parametrize(
        ("commit", "uncommitted", "message"),
        [
            (
                "e" * 40,
                True,
                "2026-11-27T09:30:00Z was deployed from files that differed from commit eeeeeeeeeeee",
            ),
            (
                None,
                False,
                "2026-11-27T09:30:00Z was deployed outside of Git, so no commit has its lock and spec",
            ),
        ],
    )
    def test_without_one_it_is_refused_with_how_to_find_a_commit(
        self, spec: dict[str, Any], commit: str | None, uncommitted: bool, message: str
    ) -> None:
        found = release(0, spec, commit=commit, uncommitted=uncommitted)
        with pytest.raises(FindingsError) as refused:
            commit_of(found, [found], LOCK_FILE)
        (finding,) = refused.value.findings
        assert (finding.code, finding.message) == ("FL532", message)
        assert finding.hint is not None
        assert finding.hint.endswith(f"name a commit: `git log -- {LOCK_FILE}` shows those of its lock")

    def test_a_record_of_an_earlier_version_has_none(self) -> None:
        found = release(0, None)
        with pytest.raises(FindingsError, match="FL532: the record of .* has no commit: an earlier version"):
            commit_of(found, [found], LOCK_FILE)

    @pytest.mark.parametrize(
        ("letter", "image", "ran", "is_refused"),
        [
            ("a", None, None, False),
            ("b", None, None, True),
            ("a", None, "d", True),
            ("a", {"digest": digest("d")}, "d", False),
            ("a", {"digest": digest("d")}, "e", True),
            ("a", {"digest": digest("d")}, None, True),
            ("a", {"key": digest("f")}, "d", False),
            ("a", {"key": digest("f")}, None, True),
        ],
    )
    def test_a_commit_with_another_lock_or_image_than_the_release_ran_is_refused(
        self,
        folder: FleetFolder,
        spec: dict[str, Any],
        letter: str,
        image: dict[str, Any] | None,
        ran: str | None,
        is_refused: bool,
    ) -> None:
        lock = {"endpoint": "sentences", "archives": {"sentences": archive(letter)}, "image": image}
        commit = Commit("c" * 40, "2026-11-27", "A change")
        restored = EarlierRelease(
            commit=commit, contents={}, lock=Lock.model_validate(lock), loaded=loaded(folder)
        )
        record = release(0, spec).model_copy(update={"image": digest(ran) if ran else None})
        with pytest.raises(FindingsError, match="FL532") if is_refused else nullcontext():
            require_lock_of(record, restored, "2026-11-27T09:30:00Z")


class TestOutput:
    def test_an_entry_shows_who_deployed_what_and_what_changed(self, spec: dict[str, Any]) -> None:
        environ = {"GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "ben", "GITHUB_SERVER_URL": "https://github.com"}
        run = {"GITHUB_REPOSITORY": "search/fleet", "GITHUB_RUN_ID": "42"}
        by_ci = actor(ANNA.arn, environ | run)
        newest, _ = listed(release(1, with_count(spec, 2), uncommitted=True, who=by_ci), release(0, spec))
        assert entry_lines(newest, is_oldest=False) == [
            "2026-11-27T10:30:00Z  runs now",
            "  by: assumed-role/Deploy/anna (GitHub claims: ben)",
            "  run: https://github.com/search/fleet/actions/runs/42",
            "  commit: cccccccccccc with uncommitted changes",
            "  `instance.count`: 1 → 2",
        ]

    def test_an_entry_whose_archives_were_pruned_shows_that(self, spec: dict[str, Any]) -> None:
        (entry,) = listed(release(0, spec))
        assert entry_lines(replace(entry, lost=("archives/aaa",)), is_oldest=True)[-2:] == [
            "  the oldest that is recorded",
            "  cannot be restored: the bucket no longer has archives/aaa",
        ]

    def test_what_an_old_record_lacks_is_unknown_and_null_in_json(self) -> None:
        (entry,) = listed(release(0, None))
        assert entry_lines(entry, is_oldest=False)[1:] == ["  by: not recorded", "  commit: unknown"]
        assert entry_record(entry) == {
            "release": "2026-11-27T09:30:00Z",
            "time": "2026-11-27T09:30:00Z",
            "state": "runs now",
            "actor": None,
            "commit": None,
            "uncommitted": None,
            "same_as": None,
            "changes": [],
            "lost_archives": [],
        }
