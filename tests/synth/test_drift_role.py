"""Permissions of the role of drift where CloudFormation shortens names; test_access.py has all that it may."""

from __future__ import annotations

import pytest

from triton_endpoints.access.permissions import drift_statements
from triton_fleet.catalog.images import partition_of
from triton_fleet.spec.deployment import Deployment


@pytest.mark.parametrize("environment", ["dev", "productionemea16"])
def test_what_cloudformation_names_after_a_long_stack_is_read_by_the_24_characters_that_are_left(
    environment: str,
) -> None:
    deployment = Deployment(
        environment=environment,
        account="111122223333",
        region="us-east-1",
        partition=partition_of("us-east-1"),
        tags={},
    )
    read = {statement.sid: statement.resources[0] for statement in drift_statements(deployment)}
    for sid, separator in (("SeeRoles", "role/"), ("SeeRules", "rule/"), ("SeeFunctions", "function:")):
        prefix = read[sid].partition(separator)[2].removesuffix("*")
        assert f"triton-fleet-{environment}-Logical"[:24].startswith(prefix)
        assert prefix.startswith("triton-fleet-")
