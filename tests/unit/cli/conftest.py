"""A fleet folder whose local endpoint is a stand-in of SageMaker's runtime; one of two teams; typed commands."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from embedded_keys import KEYS
from fleet.cli.commands import app
from fleet.exits import run_to_exit
from fleet.local.state import LocalState, Supervisor
from fleet_folder import SPEC, FleetFolder
from git_repository import GitRepository
from runtime_stand_in import RuntimeStandIn, runtime_stand_in
from typed_command import Ended, Typed


@pytest.fixture
def runtime(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimeStandIn]:
    """A stand-in that the folder takes for what `fleet local up` has started."""
    folder.environment(name="local")
    monkeypatch.chdir(folder.root)
    state = LocalState(folder.root)
    with runtime_stand_in() as stand_in, state.supervised(threading.Event()):
        state.announce(
            Supervisor(
                pid=os.getpid(), url=stand_in.url, account="123456789012", region="us-east-1", keys=KEYS
            )
        )
        yield stand_in


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """How a command ends in this process, and what it prints."""

    def run(*words: str) -> Ended:
        code: object = 0
        try:
            run_to_exit(lambda: app(list(words)))
        except SystemExit as end:
            code = end.code or 0
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
def two(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Endpoints of two teams, locked and committed; the working directory is the fleet."""
    owner = "owner: {{team: {0}, contact: {0}@example.com, shared_with: [{1}@example.com]}}\n"
    folder.spec(owner.format("search", "vision"))
    folder.spec(owner.format("vision", "search"), "images", base=SPEC.replace("sentences", "images"))
    folder.lock()
    GitRepository.around(folder.root)
    monkeypatch.chdir(folder.root)
    return folder
