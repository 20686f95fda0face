"""The instances of all endpoints of an account, in every state that an endpoint may be in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from triton_fleet.aws.preflight import instances
from triton_fleet.aws.preflight.instances import RunningInstances, running_instances

G5, G6 = "ml.g5.xlarge", "ml.g6.xlarge"


@dataclass
class Account:
    """SageMaker's answers about endpoints and configurations; each configuration is called as its endpoint."""

    endpoints: dict[str, dict[str, Any]] = field(default_factory=dict)
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    vanished_names: tuple[str, ...] = ()

    def add(self, name: str, counts: dict[str, int], **more: Any) -> None:
        """An endpoint with a variant for each type."""
        variants = {f"of-{item}": (item, count) for item, count in counts.items()}
        self.endpoints[name] = {
            "EndpointConfigName": name,
            "ProductionVariants": [
                {"VariantName": variant, "CurrentInstanceCount": count, "DesiredInstanceCount": count}
                for variant, (_, count) in variants.items()
            ],
            **more,
        }
        self.configs[name] = {
            "ProductionVariants": [
                {"VariantName": variant, "InstanceType": item} for variant, (item, _) in variants.items()
            ]
        }

    def running_instances(self) -> RunningInstances:
        return running_instances(cast("Any", self))

    def get_paginator(self, _operation: str) -> Account:
        return self

    def paginate(self, *, PaginationConfig: dict[str, int], **_order: str) -> Iterator[dict[str, Any]]:
        names = [*self.endpoints, *self.vanished_names][: PaginationConfig["MaxItems"]]
        return iter([{"Endpoints": [{"EndpointName": name}]} for name in names])

    def describe_endpoint(self, EndpointName: str) -> dict[str, Any]:
        return endpoint_description(
            self.endpoints, EndpointName, f'Could not find endpoint "{EndpointName}".'
        )

    def describe_endpoint_config(self, EndpointConfigName: str) -> dict[str, Any]:
        words = f'Could not find endpoint configuration "{EndpointConfigName}".'
        return endpoint_description(self.configs, EndpointConfigName, words)


def endpoint_description(there_values: dict[str, dict[str, Any]], name: str, words: str) -> dict[str, Any]:
    if name not in there_values:
        raise ClientError({"Error": {"Code": "ValidationException", "Message": words}}, "Describe")
    return there_values[name]


@pytest.fixture
def account() -> Account:
    return Account()


def test_instances_are_counted_by_endpoint_and_type(account: Account) -> None:
    account.add("ours", {G5: 2})
    account.add("theirs", {G5: 3, G6: 1})
    instances = account.running_instances()
    assert (instances.of("ours"), instances.of("nobody"), instances.is_complete) == ({G5: 2}, {}, True)
    assert [instances.count_foreign(["ours"], item) for item in (G5, G6, None)] == [3, 1, 4]


def test_what_is_wanted_counts_where_it_is_more_than_what_runs(account: Account) -> None:
    account.add("a", {G5: 2})
    account.endpoints["a"]["ProductionVariants"][0]["DesiredInstanceCount"] = 5
    assert account.running_instances().of("a") == {G5: 5}


def test_the_second_fleet_of_an_update_counts_as_well(account: Account) -> None:
    second = {"VariantName": "of-it", "InstanceType": G6, "CurrentInstanceCount": 4}
    account.add("a", {G5: 2}, PendingDeploymentSummary={"ProductionVariants": [second]})
    assert account.running_instances().of("a") == {G5: 2, G6: 4}


def test_a_shadow_variant_counts_and_a_serverless_one_has_no_instances(account: Account) -> None:
    account.add("a", {G5: 2}, ShadowProductionVariants=[{"VariantName": "shadow", "CurrentInstanceCount": 1}])
    account.configs["a"]["ShadowProductionVariants"] = [{"VariantName": "shadow", "InstanceType": G6}]
    account.endpoints["a"]["ProductionVariants"].append({"VariantName": "serverless"})
    assert account.running_instances().of("a") == {G5: 2, G6: 1}


def test_instances_of_pools_count_against_their_types_and_those_on_their_way_against_the_total(
    account: Account,
) -> None:
    pools = [{"InstanceType": G5, "CurrentInstanceCount": 2}, {"InstanceType": G6, "CurrentInstanceCount": 1}]
    account.add("a", {G5: 3})
    account.endpoints["a"]["ProductionVariants"][0] |= {"InstancePools": pools, "DesiredInstanceCount": 5}
    del account.configs["a"]["ProductionVariants"][0]["InstanceType"]
    assert account.running_instances().of("a") == {G5: 2, G6: 1, "": 2}


def test_the_second_fleet_of_pools_counts_as_well(account: Account) -> None:
    second = {
        "VariantName": "of-it",
        "CurrentInstanceCount": 1,
        "InstancePools": [{"InstanceType": G6, "CurrentInstanceCount": 1}],
    }
    account.add("a", {G5: 2}, PendingDeploymentSummary={"ProductionVariants": [second]})
    assert account.running_instances().of("a") == {G5: 2, G6: 1}


def test_instances_whose_configuration_is_gone_count_against_the_total_alone(account: Account) -> None:
    account.add("a", {G5: 2})
    account.configs.clear()
    instances = account.running_instances()
    assert [instances.count_foreign([], item) for item in (G5, None)] == [0, 2]


def test_an_endpoint_that_is_deleted_meanwhile_has_none(account: Account) -> None:
    account.vanished_names = ("gone",)
    assert account.running_instances().of("gone") == {}


def test_an_endpoint_that_failed_before_it_had_variants_has_none(account: Account) -> None:
    account.add("a", {G5: 2})
    del account.endpoints["a"]["ProductionVariants"]
    assert account.running_instances().of("a") == {}


def test_of_very_many_endpoints_not_all_are_described_and_that_is_known(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "MAX_ENDPOINTS", 2)
    for name in ("a", "b", "c", "d"):
        account.add(name, {G5: 1})
    seen_instances = account.running_instances()
    assert (seen_instances.count_foreign([], G5), seen_instances.is_complete) == (2, False)
