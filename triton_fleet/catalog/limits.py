"""AWS's limits on what a spec can ask for, by name, and the quotas that its instances count against."""

from __future__ import annotations

from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file


def limit(name: str) -> int:
    """A limit, in the unit that its name ends with.

    Raises:
        KeyError: the catalog does not have it.
    """
    return int(_limits()[name]["value"])


def limits() -> list[str]:
    """The name of every limit."""
    return list(_limits())


def quota_service() -> str:
    """The service to which Service Quotas counts them."""
    return str(data_file("quotas.yaml")["service"])


def instance_quota(instance_type: str) -> str:
    """The name of the quota on the instances of one type in an account and region."""
    return str(data_file("quotas.yaml")["of_type"]).format(type=instance_type)


def all_instances_quota() -> str:
    """The name of the quota on the instances of all types together."""
    return str(data_file("quotas.yaml")["of_all"])


@cache
def _limits() -> dict[str, dict[str, Any]]:
    return {**data_file("limits.yaml")["limits"], **data_file("documented_limits.yaml")["limits"]}
