"""The instances that the endpoints of an account run, ours and all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.aws.preflight.subject import MAX_PARALLEL_REQUESTS
from triton_fleet.awsapi.describe import described_endpoint, is_missing
from triton_fleet.core.parallel import all_in_parallel

if TYPE_CHECKING:
    from mypy_boto3_sagemaker.client import SageMakerClient

MAX_ENDPOINTS = 300
"""How many endpoints are described, newest first, with two requests each."""
UNKNOWN = ""
"""The type of instances whose configuration was deleted, or of which no pool is known yet."""


@dataclass(frozen=True, kw_only=True)
class RunningInstances:
    """Instances by endpoint and type; `all_seen` is whether these are all endpoints."""

    by_endpoint: Mapping[str, Mapping[str, int]]
    is_complete: bool

    def of(self, endpoint: str) -> Mapping[str, int]:
        """The instances of one endpoint by type; empty if it does not exist."""
        return self.by_endpoint.get(endpoint, {})

    def count_foreign(self, ours: Iterable[str], instance_type: str | None) -> int:
        """How many instances of a type (None: of any type) run for endpoints that are not ours."""
        own_names = set(ours)
        return sum(
            count
            for name, counts in self.by_endpoint.items()
            if name not in own_names
            for type, count in counts.items()
            if instance_type in (None, type)
        )


def running_instances(sagemaker: SageMakerClient) -> RunningInstances:
    """Read the instances of every endpoint of the account and region.

    Raises:
        ClientError: access is denied.
    """
    pages = sagemaker.get_paginator("list_endpoints").paginate(
        SortBy="CreationTime", SortOrder="Descending", PaginationConfig={"MaxItems": MAX_ENDPOINTS + 1}
    )
    names = [endpoint["EndpointName"] for page in pages for endpoint in page["Endpoints"]]
    instances = all_in_parallel(
        names[:MAX_ENDPOINTS], lambda name: _of_endpoint(sagemaker, name), MAX_PARALLEL_REQUESTS
    )
    by_endpoint = dict(zip(names, instances, strict=False))
    return RunningInstances(by_endpoint=by_endpoint, is_complete=len(names) <= MAX_ENDPOINTS)


def _of_endpoint(sagemaker: SageMakerClient, name: str) -> Mapping[str, int]:
    """By type: the current or the desired count, whichever is larger, and those of an update in progress."""
    counts, description = Counter[str](), described_endpoint(sagemaker, name)
    if description is None:  # it was deleted meanwhile
        return counts
    types = _types(sagemaker, description["EndpointConfigName"])
    for variant in _variants(description):
        counts += _by_type(variant, types.get(variant["VariantName"], UNKNOWN))
    for variant in _variants(description.get("PendingDeploymentSummary", {})):
        counts += _by_type(variant, variant.get("InstanceType", UNKNOWN))
    return +counts


def _by_type(variant: Mapping[str, Any], instance_type: str) -> Counter[str]:
    """The instances of a variant: those of its pools by their types, all others of the type that it has."""
    pools = Counter[str]()
    for pool in variant.get("InstancePools", ()):
        pools[pool["InstanceType"]] += pool["CurrentInstanceCount"]
    return pools + Counter({instance_type: _count(variant) - pools.total()})


def _types(sagemaker: SageMakerClient, config: str) -> Mapping[str, str]:
    """The instance type of each variant that has one."""
    try:
        types = sagemaker.describe_endpoint_config(EndpointConfigName=config)
    except ClientError as error:
        if is_missing(error, "endpoint configuration"):
            return {}
        raise
    return {
        variant["VariantName"]: variant["InstanceType"]
        for variant in _variants(types)
        if "InstanceType" in variant
    }


def _variants(description: Mapping[str, Any]) -> list[Any]:
    return [*description.get("ProductionVariants", ()), *description.get("ShadowProductionVariants", ())]


def _count(variant: Mapping[str, Any]) -> int:
    return max(int(variant.get(key, 0)) for key in ("CurrentInstanceCount", "DesiredInstanceCount"))
