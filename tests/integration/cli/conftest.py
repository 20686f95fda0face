"""A fleet folder whose local endpoint is a stand-in of SageMaker's runtime."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import FleetFolder
from tests.support.runtime_stand_in import RuntimeStandIn, runtime_stand_in
from triton_fleet.local.state import LocalState, Supervisor


@pytest.fixture
def runtime(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimeStandIn]:
    """A stand-in that the folder takes for what `fleet local up` has started."""
    folder.environment(name="local")
    monkeypatch.chdir(folder.root)
    state = LocalState(folder.root)
    with runtime_stand_in() as stand_in, state.hold_lock(threading.Event()):
        state.announce(
            Supervisor(
                pid=os.getpid(), url=stand_in.url, account="123456789012", region="us-east-1", keys=KEYS
            )
        )
        yield stand_in
