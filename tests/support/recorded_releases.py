"""Recorded releases of an endpoint, as a deploy would have written them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.fleet_folder import FleetFolder
from triton_fleet.awsapi.actor import Actor
from triton_fleet.project.project import LoadedSpec, open_project
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.release_history import HistoryEntry, history
from triton_fleet.store.releases import Release, ReleasedArchive, ReleaseSource

ANNA = Actor(arn="arn:aws:sts::111122223333:assumed-role/Deploy/anna")
FIRST_TIME = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
LOCK_FILE = "locks/dev/sentences.lock.yaml"


def digest(letter: str) -> str:
    return f"sha256:{letter * 64}"


def load_spec(folder: FleetFolder, keys: str = "") -> LoadedSpec:
    folder.spec(keys)
    return open_project(folder.root, "dev").load("sentences")


def release(
    hour: int,
    spec: dict[str, Any] | None,
    letter: str = "a",
    *,
    commit: str | None = "c" * 40,
    is_uncommitted: bool = False,
    actor: Actor = ANNA,
) -> Release:
    """A release of one archive; without a spec, one that an earlier version recorded."""
    lock = {"endpoint": "sentences", "archives": {"sentences": archive(letter)}}
    source = (
        ReleaseSource(actor=actor, commit=commit, uncommitted=is_uncommitted, lock=lock, spec=spec)
        if spec is not None
        else None
    )
    return Release(
        endpoint="sentences",
        time=FIRST_TIME + timedelta(hours=hour),
        model_data=f"endpoints/sentences/{letter}.tar.gz",
        compression=Compression.GZIP,
        archives=(ReleasedArchive(key=f"endpoints/sentences/{letter}.tar.gz", digest=digest(letter)),),
        source=source,
    )


def archive(letter: str) -> dict[str, Any]:
    return {"digest": digest(letter), "size": 1000 * (1 + ord(letter) - ord("a")), "models": {"embed": {}}}


def history_entries(*newest_first: Release, status: str | None = "InService") -> list[HistoryEntry]:
    return history(newest_first, status)


def with_count(spec: dict[str, Any], count: int) -> dict[str, Any]:
    return {**spec, "instance": {**spec["instance"], "count": count}}
