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
from triton_fleet.aws.drift.difference import DELETION, Comparison, Difference, differences
from triton_fleet.aws.drift.scaling import TARGET, bounds
from triton_fleet.aws.running_configuration import CONFIGURATION, is_same_configuration
from triton_fleet.awsapi.describe import described_endpoint, is_missing, scalable_id

ENDPOINT, MODEL = "AWS::SageMaker::Endpoint", "AWS::SageMaker::Model"
DEFINITIONS = ((MODEL, "Model", "model"), (CONFIGURATION, "EndpointConfig", "endpoint_config"))
"""Types with their noun and their calls in SageMaker's API."""
DEFINITION_PROPERTIES = (
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
            name_argument = {f"{noun}Name": resource.name}
            properties = {
                name: value for name, value in resource.properties.items() if name in DEFINITION_PROPERTIES
            }
            subject = f"{type.rpartition('::')[2]} {resource.name}"
            try:
                live = getattr(sagemaker, f"describe_{call}")(**name_argument)
            except ClientError as error:
                if not is_missing(error):
                    raise
                create = partial(
                    getattr(sagemaker, f"create_{call}"), **{**resource.properties, **name_argument}
                )
                yield Comparison(subject=subject, differences=(DELETION,), restore=create)
            else:
                changes = tuple(differences(properties, live))
                yield Comparison(subject=subject, differences=changes, restore=None)


def endpoints(access: Access, stack: DeclaredStack) -> Iterator[Comparison]:
    """The stack's endpoints: their configuration, and the weight and instances of each variant."""
    sagemaker = access.client("sagemaker")
    for endpoint in stack.of_type(ENDPOINT):
        live = described_endpoint(sagemaker, endpoint.name)
        if live is None:
            arguments: Any = {
                name: endpoint.properties[name] for name in CREATE if name in endpoint.properties
            }
            create = partial(sagemaker.create_endpoint, EndpointName=endpoint.name, **arguments)
            yield Comparison(subject=SUBJECT, differences=(DELETION,), restore=create)
            continue
        config_name = endpoint.properties["EndpointConfigName"]
        if not is_same_configuration(live["EndpointConfigName"], config_name):
            changes = differences(
                {"EndpointConfigName": config_name}, {"EndpointConfigName": live["EndpointConfigName"]}
            )
            arguments = {name: endpoint.properties[name] for name in UPDATE if name in endpoint.properties}
            restore = partial(
                sagemaker.update_endpoint,
                EndpointName=endpoint.name,
                EndpointConfigName=config_name,
                **arguments,
            )
            yield Comparison(subject=SUBJECT, differences=tuple(changes), restore=restore)
            continue
        for variant in live.get("ProductionVariants", []):
            yield _variant(sagemaker, stack, endpoint.name, variant)


def _variant(sagemaker: Any, stack: DeclaredStack, endpoint: str, live: Mapping[str, Any]) -> Comparison:
    """A variant's weight, and its instances where scaling may not have set them."""
    name = live["VariantName"]
    declaration = next(
        item
        for config in stack.of_type(CONFIGURATION)
        for item in config.properties["ProductionVariants"]
        if item["VariantName"] == name
    )
    changes, settings = list[Difference](), dict[str, Any]()
    if "DesiredWeight" in live:
        settings["DesiredWeight"] = float(declaration.get("InitialVariantWeight", 1))
        changes += differences({"DesiredWeight": settings["DesiredWeight"]}, live)
    count = live.get("DesiredInstanceCount")
    if count is not None and "InitialInstanceCount" in declaration:
        id = scalable_id(endpoint, name)
        target = next((item for item in stack.of_type(TARGET) if item.properties["ResourceId"] == id), None)
        minimums, maximums = bounds(target) if target else ({int(declaration["InitialInstanceCount"])},) * 2
        nearest = min(max(count, min(minimums)), max(maximums))
        if nearest != count:
            settings["DesiredInstanceCount"] = nearest
            text = f"{min(minimums)} to {max(maximums)}" if target else str(nearest)
            changes += differences({"DesiredInstanceCount": text}, {"DesiredInstanceCount": str(count)})
    restore = partial(
        sagemaker.update_endpoint_weights_and_capacities,
        EndpointName=endpoint,
        DesiredWeightsAndCapacities=[{"VariantName": name, **settings}],
    )
    return Comparison(subject=f"variant {name}", differences=tuple(changes), restore=restore)
