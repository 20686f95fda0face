"""Endpoints for the scaling guard to look after, in one embedded AWS for each module."""

from __future__ import annotations

import itertools

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.guarded_endpoint import NEW, OLD, Account, Guarded, StackIds

_numbers = itertools.count()


@pytest.fixture(scope="module")
def account(running: tuple[EmbeddedAws, RecordingHost]) -> Account:
    return Account(running[0])


@pytest.fixture(scope="module")
def stack_ids(running: tuple[EmbeddedAws, RecordingHost]) -> StackIds:
    return StackIds.of(running[0])


@pytest.fixture
def slow(host: RecordingHost) -> RecordingHost:
    """Instances start when the test lets them."""
    host.may_scale.clear()
    return host


@pytest.fixture
def bare(account: Account, stack_ids: StackIds) -> Guarded:
    """An endpoint on OLD without scaling."""
    endpoint = Guarded(account, f"guarded-{next(_numbers)}", stack_id=stack_ids.calm)
    endpoint.serve(OLD)
    return endpoint


@pytest.fixture
def scaled(bare: Guarded) -> Guarded:
    """The same with a scaling that has a bit of everything."""
    bare.scale()
    return bare


@pytest.fixture
def moved(scaled: Guarded) -> Guarded:
    """The same on NEW, its scaling put aside."""
    scaled.guard("before", NEW)
    scaled.move(NEW)
    return scaled
