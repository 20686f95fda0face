"""The configuration and content that an endpoint runs, according to SageMaker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.awsapi.stack import LiveStack, all_stacks
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, stack_of
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.problems import did_you_mean

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import ProductionVariantOutputTypeDef

CONFIGURATION = "AWS::SageMaker::EndpointConfig"
DEPLOY_REMEDY = "this clone's lock is the one to deploy, run the command again"
"""The remedy after another clone's deploy; main's lock is the one as a rule."""


@dataclass(frozen=True, kw_only=True)
class LiveEndpoint:
    """An endpoint's status and configuration, its first variant's instances, its model's image and data.

    `variants` are the names of all.
    """

    name: str
    status: str
    instance_type: str
    instances: int
    image: str
    model_data_url: str
    config_name: str
    variants: tuple[str, ...]

    def __str__(self) -> str:
        """For people."""
        return f"{self.status}, {self.instances} × {self.instance_type}"


def live_endpoint(sagemaker: SageMakerClient, name: str) -> LiveEndpoint | None:
    """The live endpoint; None if it does not exist.

    Raises:
        ClientError: access is denied.
    """
    description = described_endpoint(sagemaker, name)
    if description is None:
        return None
    config = sagemaker.describe_endpoint_config(EndpointConfigName=description["EndpointConfigName"])
    variant = config["ProductionVariants"][0]
    model = sagemaker.describe_model(ModelName=variant["ModelName"])
    container = model["PrimaryContainer"] if "PrimaryContainer" in model else model["Containers"][0]
    source = container.get("ModelDataSource", {}).get("S3DataSource", {})
    (summary,) = [
        entry for entry in description["ProductionVariants"] if entry["VariantName"] == variant["VariantName"]
    ]
    return LiveEndpoint(
        name=name,
        status=description["EndpointStatus"],
        instance_type=_instance_types(variant),
        instances=summary["CurrentInstanceCount"],
        image=container.get("Image", ""),
        model_data_url=container.get("ModelDataUrl") or source.get("S3Uri", ""),
        config_name=description["EndpointConfigName"],
        variants=tuple(entry["VariantName"] for entry in description["ProductionVariants"]),
    )


def _instance_types(variant: ProductionVariantOutputTypeDef) -> str:
    """The variant's instance type, or those of its instance pools."""
    pools = variant.get("InstancePools", ())
    return variant.get("InstanceType") or " or ".join(pool["InstanceType"] for pool in pools)


def require_own_configuration(
    sagemaker: SageMakerClient, cloudformation: CloudFormationClient, endpoint: ResolvedEndpoint
) -> None:
    """Check that an endpoint whose stack is deployed runs the stack's own configuration.

    The check in the stack runs only when something changes, and CloudFormation does not notice later
    changes of an endpoint that it has deployed.

    Raises:
        FindingsError: the endpoint runs something else, or does not exist.
    """
    live = described_endpoint(sagemaker, endpoint.name)
    stack_config = declared_configuration(cloudformation, endpoint.stack)
    runs = live["EndpointConfigName"] if live is not None else None
    finding = runs_another(endpoint.name, runs, stack_config or "nothing")
    if finding is not None:
        raise FindingsError([finding])


def require_own_content(sagemaker: SageMakerClient, endpoint: ResolvedEndpoint) -> None:
    """Check that an endpoint runs the data and the image that were deployed: clones may deploy at once.

    Raises:
        CannotRunError: the endpoint runs another clone's.
    """
    live = live_endpoint(sagemaker, endpoint.name)
    if live is None:
        return
    own_image = (endpoint.image.digest or endpoint.image.tag) if endpoint.image.is_own else ""
    if live.model_data_url != endpoint.model_data_url or own_image not in live.image:
        own_text = f"{endpoint.model_data_url}{f' in {own_image}' if own_image else ''}"
        runs = f"{live.model_data_url}{f' in {live.image}' if own_image else ''}"
        problem = f"another deploy replaced this one of {endpoint.name}: it runs {runs}, not {own_text}"
        raise CannotRunError(problem, f"if {DEPLOY_REMEDY}")


def is_same_configuration(first: str, second: str) -> bool:
    """Whether two names are of the same endpoint configuration: SageMaker lowers names in ARNs."""
    return first.lower() == second.lower()


def runs_another(name: str, runs: str | None, stack_config: str) -> Finding | None:
    """The finding if an endpoint does not run the configuration that its stack declares."""
    if runs is not None and is_same_configuration(runs, stack_config):
        return None
    runs_text = "nothing" if runs is None else f"the configuration {runs}"
    message = f"{name} runs {runs_text}, but its stack declares {stack_config}"
    hint = (
        "it was rolled back or changed outside its stack: undo the change, or destroy the endpoint and"
        " deploy it again"
    )
    return Finding(code="FL605", message=message, hint=hint)


def declared_configuration(cloudformation: CloudFormationClient, stack: str) -> str | None:
    """The name of the stack's endpoint configuration; None if it has none, as after a rollback.

    Raises:
        ClientError: access is denied.
    """
    for stack_resource in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]:
        is_there = stack_resource["ResourceStatus"] != "DELETE_COMPLETE" and stack_resource.get(
            "PhysicalResourceId"
        )
        if stack_resource["ResourceType"] == CONFIGURATION and is_there:
            return stack_resource["PhysicalResourceId"].rpartition("/")[2]
    return None


def endpoint_stacks(cloudformation: CloudFormationClient, deployment: Deployment) -> dict[str, LiveStack]:
    """The environment's endpoint stacks by the endpoint's name, which is the end of the stack's name.

    Only the name identifies them: a stack in REVIEW_IN_PROGRESS has no tags.
    """
    prefix = stack_of(deployment, "")
    stacks = [stack for stack in all_stacks(cloudformation) if stack.name.startswith(prefix)]
    return {stack.name.removeprefix(prefix): stack for stack in stacks}


def unknown_stack(deployment: Deployment, name: str, names: Iterable[str]) -> FindingsError:
    """The error for a name that is not deployed, with the closest deployed name."""
    message = f"no endpoint {name!r} is deployed in {deployment.environment!r}"
    return FindingsError([Finding(code="FL606", message=message, hint=did_you_mean(name, list(names)))])
