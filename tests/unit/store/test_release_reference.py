"""The release that a user names, and the commit that brings it back."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.recorded_releases import LOCK_FILE, archive, digest, load_spec, release
from triton_fleet.findings import FindingsError
from triton_fleet.git.files import Commit
from triton_fleet.spec.lock import Lock
from triton_fleet.store.release_history import commit_of, release_of, require_lock_of
from triton_fleet.store.rollback import EarlierRelease


class TestReference:
    @pytest.mark.parametrize(
        "reference", ["2026-11-27T10:30:00Z", "2026-11-27T10", "2026-11-27T10:30:00.000000Z"]
    )
    def test_an_id_or_its_beginning_names_one(self, spec: dict[str, Any], reference: str) -> None:
        releases = release(1, spec, "b"), release(0, spec)
        assert release_of(reference, releases, "dev", "sentences") is releases[0]

    def test_an_ambiguous_beginning_lists_what_it_may_mean(self, spec: dict[str, Any]) -> None:
        with pytest.raises(FindingsError) as refusal:
            release_of("2026-11-27", (release(1, spec, "b"), release(0, spec)), "dev", "sentences")
        (finding,) = refusal.value.findings
        assert (finding.code, finding.hint) == ("FL528", "write more of the id")
        assert finding.message == (
            "2 releases of sentences in dev begin with '2026-11-27': "
            "2026-11-27T10:30:00.000000Z, 2026-11-27T09:30:00.000000Z"
        )

    def test_an_id_that_is_not_recorded_such_as_of_a_deploy_that_failed_is_refused(
        self, spec: dict[str, Any]
    ) -> None:
        with pytest.raises(FindingsError) as refusal:
            release_of("2026-11-28T09:30:00Z", (release(0, spec),), "dev", "sentences")
        (finding,) = refusal.value.findings
        assert finding.code == "FL528"
        assert finding.message == "no release of sentences in dev is recorded as '2026-11-28T09:30:00Z'"
        assert finding.hint is not None
        assert finding.hint.startswith(
            "`fleet history sentences --env dev` lists them; failed deploys are not"
        )


class TestCommit:
    def test_a_release_has_the_commit_that_it_was_deployed_from(self, spec: dict[str, Any]) -> None:
        actual_release = release(0, spec)
        assert commit_of(actual_release, [actual_release], LOCK_FILE) == "c" * 40

    def test_what_was_not_committed_has_the_commit_of_another_release_of_the_same_content(
        self, spec: dict[str, Any]
    ) -> None:
        releases = [release(2, spec, commit="e" * 40, is_uncommitted=True), release(0, spec)]
        assert commit_of(releases[0], releases, LOCK_FILE) == "c" * 40

    @pytest.mark.parametrize(
        ("commit", "is_uncommitted", "message"),
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
        self, spec: dict[str, Any], commit: str | None, is_uncommitted: bool, message: str
    ) -> None:
        actual_release = release(0, spec, commit=commit, is_uncommitted=is_uncommitted)
        with pytest.raises(FindingsError) as refusal:
            commit_of(actual_release, [actual_release], LOCK_FILE)
        (finding,) = refusal.value.findings
        assert (finding.code, finding.message) == ("FL532", message)
        assert finding.hint is not None
        assert finding.hint.endswith(f"name a commit: `git log -- {LOCK_FILE}` shows those of its lock")

    def test_a_record_of_an_earlier_version_has_none(self) -> None:
        actual_release = release(0, None)
        with pytest.raises(FindingsError, match="FL532: the record of .* has no commit: an earlier version"):
            commit_of(actual_release, [actual_release], LOCK_FILE)

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
        restored_release = EarlierRelease(
            commit=commit, contents={}, lock=Lock.model_validate(lock), loaded_spec=load_spec(folder)
        )
        record = release(0, spec).model_copy(update={"image": digest(ran) if ran else None})
        with pytest.raises(FindingsError, match="FL532") if is_refused else nullcontext():
            require_lock_of(record, restored_release, "2026-11-27T09:30:00Z")
