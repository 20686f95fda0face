"""The check of a deploy: the endpoint is called before CloudFormation takes its stack for deployed.

CloudFormation itself sees that an endpoint is in service, and neither with what nor what it answers.
"""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import Construct

from triton_endpoints.lambda_function import Step, see_stacks, waiting_provider
from triton_endpoints.policy import Statement, spare_other_environments
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment

NOUN = "endpoint-check"
SECONDS_TO_BEGIN = 60
SECONDS_OF_A_LOOK = 600
"""Of one try to make the check; the framework's own function, which waits for it, has 15 minutes."""
SECONDS_TO_PASS = 1800
"""From then on a try that finds the endpoint not ready is the last one, and fails with its reason."""
TOTAL_MINUTES = 45
"""Longer than the last try may take."""
SECONDS_BETWEEN = 15
MEMORY_MIB = 512
"""For boto3, a request of 25 MB and an answer of 25 MB, each twice."""


class EndpointCheck(Construct):
    """The functions that check endpoints; stacks know those of an environment by name."""

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, is_shared: bool = True) -> None:
        """Args: the parent; the id; the environment; whether all its stacks call them, or only their own."""
        super().__init__(scope, id)
        self.service_token = waiting_provider(
            self,
            NOUN,
            deployment=deployment,
            module="endpoint_check.handler",
            begin=Step("Begin", "handler", "Starts the check of a deployed endpoint", SECONDS_TO_BEGIN),
            look=Step("Look", "is_complete", "Calls a deployed endpoint with its samples", SECONDS_OF_A_LOOK),
            statements=_statements(deployment, is_shared=is_shared),
            environment={"SECONDS": str(SECONDS_TO_PASS)},
            seconds_between=SECONDS_BETWEEN,
            total_minutes=TOTAL_MINUTES,
            is_shared=is_shared,
            memory_mib=MEMORY_MIB,
        )


class CheckedEndpoint(CfnResource):
    """The last resource of an endpoint's stack: without it CloudFormation is not done."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        service_token: str,
        endpoint: ResolvedEndpoint,
        config_name: str,
    ) -> None:
        """Check an endpoint each time its configuration changes, or what it is asked.

        Args:
            scope: The stack.
            id: The resource's own.
            service_token: The ARN of what is called.
            endpoint: What is deployed.
            config_name: The configuration's name, as a reference to it.
        """
        super().__init__(
            scope,
            id,
            type="Custom::EndpointCheck",
            properties={
                "ServiceToken": service_token,
                "EndpointName": endpoint.name,
                "EndpointConfigName": config_name,
                "Samples": endpoint.check.samples,
                "Warm": list(endpoint.check.warm),
            },
        )


def _statements(deployment: Deployment, *, is_shared: bool) -> list[Statement]:
    return [
        Statement(
            sid="SeeEndpoints",
            actions=["sagemaker:DescribeEndpoint"],
            resources=[_endpoints(deployment)],
            conditions=spare_other_environments(deployment),
        ),
        Statement(
            sid="CallEndpoints",
            actions=["sagemaker:InvokeEndpoint"],
            resources=[_endpoints(deployment)],
            # No source shows that SageMaker compares an endpoint's tags for this call: a condition that
            # requires the tag could refuse every check.
            conditions=spare_other_environments(deployment),
        ),
        *see_stacks(deployment, is_shared=is_shared),
    ]


def _endpoints(deployment: Deployment) -> str:
    return deployment.arn("sagemaker", "endpoint/*")
