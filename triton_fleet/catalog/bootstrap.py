"""What templates need of an account that is prepared for the CDK."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """The oldest version that is sufficient, and the parameter that has an account's version."""

    parameter: str
    version: int


def needed_bootstrap() -> Bootstrap:
    """What the stacks of every environment need."""
    data = data_file("bootstrap.yaml")
    return Bootstrap(parameter=data["parameter"], version=data["version"])
