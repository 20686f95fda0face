"""Endpoints, their configurations and models.

CloudFormation can read them, but an endpoint's weights and numbers of instances are not among its properties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.declaration import DeclaredStack
from triton_fleet.aws.drift.difference import DELETED, Comparison, Difference, differences
from triton_fleet.aws.drift.scaling import TARGET, bounds
from triton_fleet.aws.running_configuration import CONFIGURATION, is_same_configuration
from triton_fleet.awsapi.describe import described_endpoint, is_missing, scalable_id

ENDPOINT, MODEL = "AWS::SageMaker::Endpoint", "AWS::SageMaker::Model"
DEFINITIONS = (
    (MODEL, "Model", "model"),
    (CONFIGURATION, "EndpointConfig", "endpoint_config"),
)
"""Types with their noun and their calls in SageMaker's API."""
COMPARED = (
    "Containers",
    "ExecutionRoleArn",
    "PrimaryContainer",
    "ProductionVariants",
    "ShadowProductionVariants",
)
SUBJECT = "endpoint"
CREATE = ("EndpointConfigName", "DeploymentConfig", "Tags")
"""What CreateEndpoint takes of the resource's properties beside the name."""
UPDATE = (
    "DeploymentConfig",
    "ExcludeRetainedVariantProperties",
    "RetainAllVariantProperties",
    "RetainDeploymentConfig",
)
"""What UpdateEndpoint takes of the resource's properties."""


def variants(stack: DeclaredStack) -> list[str]:
    """The resource ids by which Application Auto Scaling knows the variants of a stack's endpoints."""
    return [
        scalable_id(endpoint.name, variant["VariantName"])
        for endpoint in stack.of_type(ENDPOINT)
        for config in stack.of_type(CONFIGURATION)
        for variant in config.properties["ProductionVariants"]
    ]


def definitions(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's models and endpoint configurations, which nobody can change, but delete and make again."""
    sagemaker: Any = access.client("sagemaker")
    for type, noun, call in DEFINITIONS:
        for resource in stack.of_type(type):
            named = {f"{noun}Name": resource.name}
            wanted = {name: value for name, value in resource.properties.items() if name in COMPARED}
            subject = f"{type.rpartition('::')[2]} {resource.name}"
            try:
                live = getattr(sagemaker, f"describe_{call}")(**named)
            except ClientError as error:
                if not is_missing(error):
                    raise
                create = partial(getattr(sagemaker, f"create_{call}"), **{**resource.properties, **named})
                yield Comparison(subject=subject, differences=(DELETED,), restore=create)
            else:
                differing = tuple(differences(wanted, live))
                yield Comparison(subject=subject, differences=differing, restore=None)


def endpoints(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's endpoints: their configuration, and the weight and instances of each variant."""
    sagemaker = access.client("sagemaker")
    for endpoint in stack.of_type(ENDPOINT):
        live = described_endpoint(sagemaker, endpoint.name)
        if live is None:
            given: Any = {name: endpoint.properties[name] for name in CREATE if name in endpoint.properties}
            create = partial(sagemaker.create_endpoint, EndpointName=endpoint.name, **given)
            yield Comparison(subject=SUBJECT, differences=(DELETED,), restore=create)
            continue
        wanted = endpoint.properties["EndpointConfigName"]
        if not is_same_configuration(live["EndpointConfigName"], wanted):
            found = differences(
                {"EndpointConfigName": wanted}, {"EndpointConfigName": live["EndpointConfigName"]}
            )
            given = {name: endpoint.properties[name] for name in UPDATE if name in endpoint.properties}
            restore = partial(
                sagemaker.update_endpoint,
                EndpointName=endpoint.name,
                EndpointConfigName=wanted,
                **given,
            )
            yield Comparison(subject=SUBJECT, differences=tuple(found), restore=restore)
            continue
        for variant in live.get("ProductionVariants", []):
            yield _variant(sagemaker, stack, endpoint.name, variant)


def _variant(sagemaker: Any, stack: DeclaredStack, endpoint: str, live: Mapping[str, Any]) -> Comparison:
    """A variant's weight, and its instances where scaling may not have set them."""
    name = live["VariantName"]
    declared = next(
        each
        for config in stack.of_type(CONFIGURATION)
        for each in config.properties["ProductionVariants"]
        if each["VariantName"] == name
    )
    found, wanted = list[Difference](), dict[str, Any]()
    if "DesiredWeight" in live:
        wanted["DesiredWeight"] = float(declared.get("InitialVariantWeight", 1))
        found += differences({"DesiredWeight": wanted["DesiredWeight"]}, live)
    count = live.get("DesiredInstanceCount")
    if count is not None and "InitialInstanceCount" in declared:
        id = scalable_id(endpoint, name)
        target = next((each for each in stack.of_type(TARGET) if each.properties["ResourceId"] == id), None)
        least, most = bounds(target) if target else ({int(declared["InitialInstanceCount"])},) * 2
        nearest = min(max(count, min(least)), max(most))
        if nearest != count:
            wanted["DesiredInstanceCount"] = nearest
            text = f"{min(least)} to {max(most)}" if target else str(nearest)
            found += differences({"DesiredInstanceCount": text}, {"DesiredInstanceCount": str(count)})
    restore = partial(
        sagemaker.update_endpoint_weights_and_capacities,
        EndpointName=endpoint,
        DesiredWeightsAndCapacities=[{"VariantName": name, **wanted}],
    )
    return Comparison(subject=f"variant {name}", differences=tuple(found), restore=restore)
