"""The embedded SageMaker refuses endpoints and updates beyond the quotas that Service Quotas was given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.embedded_app.updates import TYPE, create_config, variants_of
from tests.support.endpoint_capacity import set_variant

OF_TYPE, OF_POOL = f"{TYPE} for endpoint usage", "ml.g6.xlarge for endpoint usage"
TOTAL_QUOTA = "Number of instances across active endpoints"
POOLS = [{"InstanceType": TYPE, "Priority": 1}, {"InstanceType": "ml.g6.xlarge", "Priority": 2}]
PLENTY = 1000


@pytest.fixture
def sagemaker(aws: EmbeddedAws) -> Iterator[Any]:
    """A client; afterwards the account has no endpoint and plenty of quota."""
    api = client(aws, "sagemaker")
    yield api
    for summary in api.list_endpoints()["Endpoints"]:
        api.delete_endpoint(EndpointName=summary["EndpointName"])
    for endpoint_config in api.list_endpoint_configs()["EndpointConfigs"]:
        api.delete_endpoint_config(EndpointConfigName=endpoint_config["EndpointConfigName"])
    for name in (OF_TYPE, OF_POOL, TOTAL_QUOTA):
        put_quota(name, PLENTY)


def put_quota(name: str, value: float) -> None:
    backend = servicequotas_backends["123456789012"]["us-east-1"]
    cast("EmbeddedServiceQuotas", backend).put("sagemaker", name, name, value)


def create_pool_config(sagemaker: Any, name: str, count: int = 1, **more: Any) -> None:
    """A configuration of a variant with two pools."""
    create_config(sagemaker, "any")
    sagemaker.delete_endpoint_config(EndpointConfigName="any")
    variant = {"VariantName": "AllTraffic", "ModelName": "any-model", "InitialInstanceCount": count}
    sagemaker.create_endpoint_config(
        EndpointConfigName=name, ProductionVariants=[{**variant, "InstancePools": POOLS, **more}]
    )


def refusal(limit: str, maximum: int, used_number: int, delta: int) -> str:
    return (
        f"The account-level service limit '{limit}' is {maximum} Instances, with current utilization of {used_number}"
        f" Instances and a request delta of {delta} Instances. Please use AWS Service Quotas to request an"
        " increase for this quota. If AWS Service Quotas is not available, contact AWS support to request an"
        " increase for this quota."
    )


def refusal_message(call: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as refusal:
        call(**arguments)
    assert refusal.value.response["Error"]["Code"] == "ResourceLimitExceeded"
    return str(refusal.value.response["Error"]["Message"])


def test_an_endpoint_beyond_the_quota_of_its_type_is_not_created(sagemaker: Any) -> None:
    create_config(sagemaker, "two", {"InitialInstanceCount": 2})
    put_quota(OF_TYPE, 3)
    sagemaker.create_endpoint(EndpointName="first", EndpointConfigName="two")
    message = refusal_message(sagemaker.create_endpoint, EndpointName="second", EndpointConfigName="two")
    assert message == refusal(OF_TYPE, 3, 2, 2)
    assert [endpoint["EndpointName"] for endpoint in sagemaker.list_endpoints()["Endpoints"]] == ["first"]


def test_the_quota_of_every_pools_type_is_checked_and_none_is_skipped(sagemaker: Any) -> None:
    create_pool_config(sagemaker, "pooled", 2)
    put_quota(OF_POOL, 0)
    message = refusal_message(sagemaker.create_endpoint, EndpointName="a", EndpointConfigName="pooled")
    assert message == refusal(OF_POOL, 0, 0, 2)
    put_quota(OF_POOL, 2)
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="pooled")


def test_instances_of_pools_run_in_the_first_and_are_described_by_their_types(sagemaker: Any) -> None:
    create_pool_config(sagemaker, "pooled", 2)
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="pooled")
    assert variants_of(sagemaker, "a")["AllTraffic"]["InstancePools"] == [
        {"InstanceType": TYPE, "CurrentInstanceCount": 2},
        {"InstanceType": "ml.g6.xlarge", "CurrentInstanceCount": 0},
    ]


def test_a_shadow_variant_counts_as_well(sagemaker: Any) -> None:
    create_config(sagemaker, "any")
    variant = {"VariantName": "a", "ModelName": "any-model", "InitialInstanceCount": 1, "InstanceType": TYPE}
    sagemaker.create_endpoint_config(
        EndpointConfigName="shadowed",
        ProductionVariants=[variant],
        ShadowProductionVariants=[{**variant, "VariantName": "b"}],
    )
    put_quota(OF_TYPE, 1)
    message = refusal_message(sagemaker.create_endpoint, EndpointName="a", EndpointConfigName="shadowed")
    assert message == refusal(OF_TYPE, 1, 0, 2)


def test_an_update_needs_room_for_its_second_fleet(sagemaker: Any) -> None:
    create_config(sagemaker, "two", {"InitialInstanceCount": 2})
    create_config(sagemaker, "again", {"InitialInstanceCount": 2})
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="two")
    put_quota(OF_TYPE, 3)
    message = refusal_message(sagemaker.update_endpoint, EndpointName="a", EndpointConfigName="again")
    assert message == refusal(OF_TYPE, 3, 2, 2)
    assert sagemaker.describe_endpoint(EndpointName="a")["EndpointStatus"] == "InService"
    put_quota(OF_TYPE, 4)
    sagemaker.update_endpoint(EndpointName="a", EndpointConfigName="again")


def test_a_scaled_variants_second_fleet_has_as_many_instances_as_run(sagemaker: Any) -> None:
    create_config(sagemaker, "one")
    create_config(sagemaker, "again")
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="one")
    set_variant(sagemaker, "a", DesiredInstanceCount=3)
    put_quota(OF_TYPE, 5)
    update = {"EndpointName": "a", "EndpointConfigName": "again"}
    message = refusal_message(sagemaker.update_endpoint, **update, RetainAllVariantProperties=True)
    assert message == refusal(OF_TYPE, 5, 3, 3)


def test_a_rolling_update_needs_room_for_a_batch(sagemaker: Any) -> None:
    create_config(sagemaker, "four", {"InitialInstanceCount": 4})
    create_config(sagemaker, "again", {"InitialInstanceCount": 4})
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="four")
    put_quota(OF_TYPE, 5)
    half = {"Type": "CAPACITY_PERCENT", "Value": 50}
    rolling_policy = {"RollingUpdatePolicy": {"MaximumBatchSize": half, "WaitIntervalInSeconds": 60}}
    update = {"EndpointName": "a", "EndpointConfigName": "again", "DeploymentConfig": rolling_policy}
    assert refusal_message(sagemaker.update_endpoint, **update) == refusal(OF_TYPE, 5, 4, 2)
    put_quota(OF_TYPE, 6)
    sagemaker.update_endpoint(**update)


def test_instances_of_all_types_count_against_one_quota_once(sagemaker: Any) -> None:
    create_pool_config(sagemaker, "pooled", 2)
    put_quota(TOTAL_QUOTA, 2)
    sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="pooled")
    message = refusal_message(sagemaker.create_endpoint, EndpointName="b", EndpointConfigName="pooled")
    assert message == refusal(TOTAL_QUOTA, 2, 2, 2)


def test_without_a_quota_nothing_is_limited(aws: EmbeddedAws) -> None:
    elsewhere = client(aws, "service-quotas")
    names = [quota["QuotaName"] for quota in elsewhere.list_service_quotas(ServiceCode="sagemaker")["Quotas"]]
    assert "ml.g4dn.xlarge for endpoint usage" not in names
    api = client(aws, "sagemaker")
    create_config(api, "unlimited", {"InstanceType": "ml.g4dn.xlarge", "InitialInstanceCount": 50})
    api.create_endpoint(EndpointName="unlimited", EndpointConfigName="unlimited")


def test_a_stack_gives_the_refusal_as_the_reason(aws: EmbeddedAws, sagemaker: Any) -> None:
    put_quota(OF_TYPE, 0)
    resources = endpoint("of-a-stack")
    resources["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = TYPE
    stacks = Stacks(aws)
    assert stacks.create("limited", resources) == "ROLLBACK_COMPLETE"
    events = stacks.api.describe_stack_events(StackName="limited")["StackEvents"]
    assert any(refusal(OF_TYPE, 0, 0, 1) in event.get("ResourceStatusReason", "") for event in events)
