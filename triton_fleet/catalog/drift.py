"""The resource types whose drift is detected by CloudFormation, and what it calls for that."""

from __future__ import annotations

from collections.abc import Mapping

from triton_fleet.catalog.data_file import data_file


def detected_types() -> Mapping[str, tuple[str, ...]]:
    """The IAM actions that CloudFormation performs with its caller's rights, by resource type."""
    return {type: tuple(actions) for type, actions in data_file("drift.yaml")["detected"].items()}
