"""The releases of an endpoint: which runs, what each changed, and which commit brings one back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.recorded_releases import ANNA, FIRST_TIME, history_entries, load_spec, release, with_count
from triton_fleet.awsapi.actor import actor
from triton_fleet.changes.spec_changes import recorded_spec
from triton_fleet.cli.history import entry_lines, entry_record
from triton_fleet.store.release_history import short_id


class TestChanges:
    def test_keys_of_the_spec_and_archives_are_told_from_the_release_before(
        self, spec: dict[str, Any]
    ) -> None:
        newest, oldest = history_entries(release(1, with_count(spec, 2), "b"), release(0, spec))
        assert newest.changes[0] == "`instance.count`: 1 → 2"
        assert newest.changes[1].startswith("archive sentences: ")
        assert newest.changes[1].endswith("1.0 kB → 2.0 kB")
        assert oldest.changes == ()

    def test_a_record_without_a_spec_shows_only_that_the_content_changed(self, spec: dict[str, Any]) -> None:
        newest, after, _ = history_entries(release(2, spec, "b"), release(1, None, "b"), release(0, None))
        text = "changed; what else did is unknown, as no readable spec and lock are recorded"
        assert newest.changes == (f"neither archives nor image {text}",)
        assert after.changes == (f"archives {text}",)

    def test_a_record_of_another_contract_is_compared_as_it_is(self, spec: dict[str, Any]) -> None:
        second_value = {**spec, "key_of_another_version": 5}
        newest, _ = history_entries(release(1, spec), release(0, second_value))
        assert newest.changes[-1] == "`key_of_another_version`: 5 → none"

    def test_a_lock_of_another_contract_shows_only_that_the_content_changed(
        self, spec: dict[str, Any]
    ) -> None:
        newest = release(1, spec, "b")
        assert newest.source is not None
        source = newest.source.model_copy(update={"lock": {"endpoint": "sentences"}})
        (entry, _) = history_entries(newest.model_copy(update={"source": source}), release(0, spec))
        assert entry.changes[0].startswith("archives changed; what else did is unknown")

    def test_a_secret_is_in_no_record(self, folder: FleetFolder) -> None:
        spec = recorded_spec(load_spec(folder, "environment: {API_TOKEN: hunter2}\n"), folder.root)
        assert spec["environment"] == {"API_TOKEN": "(not shown)"}

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
        entries = history_entries(release(1, spec, "b"), release(0, spec))
        assert [entry.state for entry in entries] == ["runs now", "replaced"]

    @pytest.mark.parametrize(("status", "state"), [("Updating", "runs now, Updating"), (None, "deleted")])
    def test_the_status_of_the_endpoint_is_told(
        self, spec: dict[str, Any], status: str | None, state: str
    ) -> None:
        assert [entry.state for entry in history_entries(release(0, spec), status=status)] == [state]

    def test_what_a_later_release_returned_from_was_rolled_back(self, spec: dict[str, Any]) -> None:
        second_entry, bad, worse, good, first = history_entries(
            release(4, spec),
            release(3, spec, "c"),
            release(2, spec, "b"),
            release(1, spec),
            release(0, spec, "d"),
        )
        assert (second_entry.state, second_entry.same_as) == ("runs now", good.id)
        assert [item.state for item in (bad, worse)] == ["rolled back"] * 2
        assert [item.state for item in (good, first)] == ["replaced"] * 2

    def test_releases_of_one_second_have_their_whole_id(self, spec: dict[str, Any]) -> None:
        first, other_release = release(0, spec), release(1, spec)
        twin = first.model_copy(update={"time": FIRST_TIME + timedelta(microseconds=1)})
        ids = [short_id(item, (other_release, twin, first)) for item in (other_release, twin, first)]
        assert ids == ["2026-11-27T10:30:00Z", "2026-11-27T09:30:00.000001Z", "2026-11-27T09:30:00.000000Z"]


class TestOutput:
    def test_an_entry_shows_who_deployed_what_and_what_changed(self, spec: dict[str, Any]) -> None:
        environ = {"GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "ben", "GITHUB_SERVER_URL": "https://github.com"}
        run = {"GITHUB_REPOSITORY": "search/fleet", "GITHUB_RUN_ID": "42"}
        by_ci = actor(ANNA.arn, environ | run)
        newest, _ = history_entries(
            release(1, with_count(spec, 2), is_uncommitted=True, actor=by_ci), release(0, spec)
        )
        assert entry_lines(newest, is_oldest=False) == [
            "2026-11-27T10:30:00Z  runs now",
            "  by: assumed-role/Deploy/anna (GitHub claims: ben)",
            "  run: https://github.com/search/fleet/actions/runs/42",
            "  commit: cccccccccccc with uncommitted changes",
            "  `instance.count`: 1 → 2",
        ]

    def test_an_entry_whose_archives_were_pruned_shows_that(self, spec: dict[str, Any]) -> None:
        (entry,) = history_entries(release(0, spec))
        assert entry_lines(replace(entry, lost_keys=("archives/aaa",)), is_oldest=True)[-2:] == [
            "  the oldest that is recorded",
            "  cannot be restored: the bucket no longer has archives/aaa",
        ]

    def test_what_an_old_record_lacks_is_unknown_and_null_in_json(self) -> None:
        (entry,) = history_entries(release(0, None))
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
