"""The functions and the commands wait for the same statuses of an endpoint."""

from __future__ import annotations

from endpoint_check import endpoint
from scaling_guard import variant
from triton_fleet.awsapi import describe


def test_the_guard_waits_while_sagemaker_refuses_changes() -> None:
    assert set(describe.STATUSES_IN_PROGRESS) == variant.TRANSITION_STATUSES


def test_the_check_waits_while_an_endpoint_changes_and_stays() -> None:
    assert set(describe.UNDER_WAY) == endpoint.TRANSITION_STATUSES
