"""The embedded SageMaker's endpoint configurations: pools, shadow variants, the models of both, metrics."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import DATA, ROLE, Stacks, endpoint
from triton_fleet.aws.running_configuration import live_endpoint

G6 = {"InstanceType": "ml.g6.xlarge", "Priority": 2}
G5 = {"InstanceType": "ml.g5.xlarge", "Priority": 1}
ARN = "arn:aws:sagemaker:us-east-1:123456789012:model/absent"


@pytest.fixture(scope="module")
def sagemaker(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> Any:
    """A client; the models `own` and `other` and the multi-model `shared` exist."""
    actual_client = client(aws_and_host[0], "sagemaker")
    for name, container in (
        ("own", {"ModelDataUrl": DATA}),
        ("other", {"ModelDataUrl": DATA}),
        ("shared", {"ModelDataUrl": "s3://data/models/", "Mode": "MultiModel"}),
    ):
        primary = {"Image": f"triton:{name}", **container}
        actual_client.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=primary)
    return actual_client


def variant(**properties: Any) -> dict[str, Any]:
    """A variant of one instance."""
    return {"VariantName": "AllTraffic", "ModelName": "own", "InitialInstanceCount": 1, **properties}


def refusal_message(sagemaker: Any, *variants: dict[str, Any], **config: Any) -> str:
    """In which words a configuration is refused."""
    with pytest.raises(ClientError) as refusal:
        sagemaker.create_endpoint_config(
            EndpointConfigName="refused", ProductionVariants=list(variants), **config
        )
    error = refusal.value.response["Error"]
    assert error["Code"] == "ValidationException"
    return str(error["Message"])


def test_instance_pools_stand_in_place_of_an_instance_type(sagemaker: Any) -> None:
    pooled_variant = variant(InstancePools=[G5, G6])
    sagemaker.create_endpoint_config(EndpointConfigName="pooled", ProductionVariants=[pooled_variant])
    (production_variant,) = sagemaker.describe_endpoint_config(EndpointConfigName="pooled")[
        "ProductionVariants"
    ]
    assert production_variant["InstancePools"] == [G5, G6]
    message = refusal_message(sagemaker, variant(InstanceType="ml.g5.xlarge", InstancePools=[G5]))
    assert message == "InstanceType and InstancePools cannot both be specified for variant AllTraffic."


def test_a_variant_has_instance_pools_or_an_instance_type(sagemaker: Any) -> None:
    assert "InstanceType" in refusal_message(sagemaker, variant())


def test_there_are_five_instance_pools_at_most(sagemaker: Any) -> None:
    message = refusal_message(sagemaker, variant(InstancePools=[G5] * 6))
    assert message == (
        "1 validation error detected: Value '6' at 'productionVariants.1.member.instancePools' failed to"
        " satisfy constraint: Member must have length less than or equal to 5"
    )


def test_the_instance_type_of_a_pool_is_one_that_the_api_knows(sagemaker: Any) -> None:
    message = refusal_message(sagemaker, variant(InstancePools=[{**G5, "InstanceType": "ml.g99.xlarge"}]))
    assert message.startswith(
        "1 validation error detected: Value 'ml.g99.xlarge' at"
        " 'productionVariants.1.member.instancePools.1.member.instanceType' failed to satisfy constraint:"
    )


def test_instance_pools_are_not_for_multi_model_endpoints(sagemaker: Any) -> None:
    message = refusal_message(sagemaker, variant(ModelName="shared", InstancePools=[G5]))
    assert message == "InstancePools cannot be used with multi-model endpoints."


@pytest.mark.parametrize(
    "variants",
    [
        {"ProductionVariants": [variant(ModelName="absent", InstanceType="ml.g5.xlarge")]},
        {"ProductionVariants": [variant(InstancePools=[G5, {**G6, "ModelNameOverride": "absent"}])]},
        {
            "ProductionVariants": [variant(InstanceType="ml.g5.xlarge")],
            "ShadowProductionVariants": [
                variant(VariantName="Shadow", ModelName="absent", InstanceType="ml.g5.xlarge")
            ],
        },
    ],
)
def test_every_model_that_a_configuration_names_has_to_exist(
    sagemaker: Any, variants: dict[str, Any]
) -> None:
    production = variants.pop("ProductionVariants")
    assert refusal_message(sagemaker, *production, **variants) == f'Could not find model "{ARN}".'


def test_the_model_of_the_pool_of_the_highest_priority_is_served(
    aws_and_host: tuple[EmbeddedAws, RecordingHost], sagemaker: Any
) -> None:
    pools = [G6, {**G5, "ModelNameOverride": "other"}]
    sagemaker.create_endpoint_config(
        EndpointConfigName="first", ProductionVariants=[variant(InstancePools=pools)]
    )
    sagemaker.create_endpoint(EndpointName="first", EndpointConfigName="first")
    served = aws_and_host[1].served[-1]
    assert served.container.model_name == "other"
    assert (
        "instance pools ml.g5.xlarge, ml.g6.xlarge: what the first serves is on this machine" in served.unlike
    )
    live = live_endpoint(sagemaker, "first")
    assert live is not None
    assert str(live) == "InService, 1 × ml.g6.xlarge or ml.g5.xlarge"


def test_a_shadow_variant_is_kept_and_gets_no_calls(
    aws_and_host: tuple[EmbeddedAws, RecordingHost], sagemaker: Any
) -> None:
    shadow = variant(VariantName="Shadow", ModelName="other", InstanceType="ml.g5.xlarge")
    sagemaker.create_endpoint_config(
        EndpointConfigName="shadowed",
        ProductionVariants=[variant(InstanceType="ml.g5.xlarge")],
        ShadowProductionVariants=[shadow],
    )
    endpoint_config = sagemaker.describe_endpoint_config(EndpointConfigName="shadowed")
    assert endpoint_config["ShadowProductionVariants"] == [shadow]
    sagemaker.create_endpoint(EndpointName="shadowed", EndpointConfigName="shadowed")
    served = aws_and_host[1].served[-1]
    assert served.container.model_name == "own"
    assert "shadow variant Shadow: no call is copied to it" in served.unlike


def test_one_shadow_variant_stands_beside_one_variant(sagemaker: Any) -> None:
    own = variant(InstanceType="ml.g5.xlarge")
    shadows = [{**own, "VariantName": name} for name in ("B", "C")]
    message = refusal_message(sagemaker, own, ShadowProductionVariants=shadows)
    assert message == (
        "With ShadowProductionVariants, one variant can be specified for ProductionVariants and one for"
        " ShadowProductionVariants."
    )


def test_shadow_variants_are_not_for_multi_model_endpoints(sagemaker: Any) -> None:
    own = variant(InstanceType="ml.g5.xlarge", ModelName="shared")
    message = refusal_message(sagemaker, own, ShadowProductionVariants=[{**own, "VariantName": "B"}])
    assert message == "ShadowProductionVariants cannot be used with multi-model endpoints."


def test_a_stack_deploys_instance_pools_and_is_refused_pools_beside_a_type(
    aws_and_host: tuple[EmbeddedAws, RecordingHost],
) -> None:
    stacks = Stacks(aws_and_host[0])
    resources = endpoint("of-a-stack")
    (declared_production_variant,) = resources["Config"]["Properties"]["ProductionVariants"]
    declared_production_variant["InstancePools"] = [
        G5,
        {**G6, "Priority": "2"},
    ]  # CloudFormation reads a number from text
    stacks.create("pools-and-type", resources)
    reasons = " ".join(reason for *_, reason in stacks.events("pools-and-type"))
    assert "InstanceType and InstancePools cannot both be specified" in reasons
    del declared_production_variant["InstanceType"]
    assert stacks.create("pools", resources) == "CREATE_COMPLETE"
    assert aws_and_host[1].served[-1].id.name == "of-a-stack"


def test_a_configuration_keeps_what_it_says_of_metrics(
    aws_and_host: tuple[EmbeddedAws, RecordingHost], sagemaker: Any
) -> None:
    metrics = {"EnableEnhancedMetrics": False, "MetricPublishFrequencyInSeconds": 10}
    sagemaker.create_endpoint_config(
        EndpointConfigName="measured",
        ProductionVariants=[variant(InstanceType="ml.g5.xlarge")],
        MetricsConfig=metrics,
    )
    assert sagemaker.describe_endpoint_config(EndpointConfigName="measured")["MetricsConfig"] == metrics
    resources = endpoint("measured-by-a-stack")
    # CloudFormation reads numbers and booleans from text.
    texts = {"EnableEnhancedMetrics": "false", "MetricPublishFrequencyInSeconds": "10"}
    resources["Config"]["Properties"] |= {"EndpointConfigName": "of-text", "MetricsConfig": texts}
    assert Stacks(aws_and_host[0]).create("measured", resources) == "CREATE_COMPLETE"
    assert sagemaker.describe_endpoint_config(EndpointConfigName="of-text")["MetricsConfig"] == metrics


def test_metrics_are_published_at_intervals_that_cloudformation_knows(sagemaker: Any) -> None:
    message = refusal_message(
        sagemaker,
        variant(InstanceType="ml.g5.xlarge"),
        MetricsConfig={"MetricPublishFrequencyInSeconds": 45},
    )
    assert message.startswith("1 validation error detected: Value '45'")
    assert "metricsConfig.metricPublishFrequencyInSeconds" in message
    assert "[10, 30, 60, 120, 180, 240, 300]" in message
