"""Every status that CloudFormation gives a stack has its meaning for a deploy."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest

from triton_fleet.catalog.cloudformation import StackState, stack_status
from triton_fleet.catalog.data_file import data_file

SHAPE: Any = botocore.session.get_session().get_service_model("cloudformation").shape_for("StackStatus")
STATUSES: list[str] = SHAPE.enum


def test_the_table_has_every_status_of_the_api_and_no_other() -> None:
    assert sorted(data_file("stack_statuses.yaml")["statuses"]) == sorted(STATUSES)


@pytest.mark.parametrize("status", STATUSES)
def test_who_meets_a_stack_that_is_stuck_knows_the_way_out(status: str) -> None:
    actual_status = stack_status(status)
    assert (actual_status.state is StackState.UNDER_WAY) == (
        status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS"
    )
    if status.endswith("_FAILED"):
        assert actual_status.state in (StackState.STUCK, StackState.STOPPED, StackState.NOT_CREATED)
    if actual_status.state is StackState.STUCK:
        assert "then deploy again" in actual_status.remedy.format(region="us-east-1", stack="any")


def test_a_status_that_is_not_known_yet_counts_by_its_ending() -> None:
    assert stack_status("REFACTOR_IN_PROGRESS").state is StackState.UNDER_WAY
    assert stack_status("REFACTOR_COMPLETE").state is StackState.READY
    assert stack_status("REFACTOR_FAILED").state is StackState.STUCK
