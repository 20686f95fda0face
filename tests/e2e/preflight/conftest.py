"""An embedded AWS for each module, in which each test begins with an account of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.prepared_account import PreparedAccount, WatchedAws, watched_aws


@pytest.fixture(scope="module")
def aws_watch() -> Iterator[WatchedAws]:
    with watched_aws() as watcher:
        yield watcher


@pytest.fixture
def empty(
    tmp_path: Path,
    aws_watch: WatchedAws,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> PreparedAccount:
    return PreparedAccount.empty(tmp_path / "fleet", aws_watch, monkeypatch, capsys)


@pytest.fixture
def account(empty: PreparedAccount) -> PreparedAccount:
    """It has all that endpoints need, and no endpoint yet."""
    empty.prepare()
    return empty
