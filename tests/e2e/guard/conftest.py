"""Endpoints for the scaling guard to look after, in one embedded AWS for each module."""

from __future__ import annotations

import itertools

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.host import RecordingHost
from tests.support.guarded_endpoint import NEW, OLD, Account, GuardedEndpoint, StackIds

_numbers = itertools.count()


@pytest.fixture(scope="module")
def account(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> Account:
    return Account(aws_and_host[0])


@pytest.fixture(scope="module")
def stack_ids(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> StackIds:
    return StackIds.of(aws_and_host[0])


@pytest.fixture
def slow(host: RecordingHost) -> RecordingHost:
    """Instances start when the test lets them."""
    host.may_scale.clear()
    return host


@pytest.fixture
def bare(account: Account, stack_ids: StackIds) -> GuardedEndpoint:
    """An endpoint on OLD without scaling."""
    endpoint = GuardedEndpoint(account, f"guarded-{next(_numbers)}", stack_id=stack_ids.calm)
    endpoint.serve(OLD)
    return endpoint


@pytest.fixture
def scaled_endpoint(bare: GuardedEndpoint) -> GuardedEndpoint:
    """The same with a scaling that has a bit of everything."""
    bare.scale()
    return bare


@pytest.fixture
def moved_endpoint(scaled_endpoint: GuardedEndpoint) -> GuardedEndpoint:
    """The same on NEW, its scaling put aside."""
    scaled_endpoint.guard("before", NEW)
    scaled_endpoint.move(NEW)
    return scaled_endpoint
