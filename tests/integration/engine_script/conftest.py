"""A machine that builds engines."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import boto3
import pytest

from tests.support.engine_builds import EngineStore, engine_store


@pytest.fixture(scope="module")
def engine_bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStore]:
    with engine_store(tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture
def store(
    engine_bucket: EngineStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EngineStore]:
    """A machine of its own: this process takes its environment, and gets its own signals back."""
    store = replace(engine_bucket, folder=tmp_path, failures=[])
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the keys of whoever was first
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield store
    for number, handler in handlers.items():
        signal.signal(number, handler)
