"""The role in which applications call one endpoint, from other accounts too."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.policy import Statement, document, lasting_policy
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

INVOKE = "sagemaker:InvokeEndpoint"
STREAM = "sagemaker:InvokeEndpointWithResponseStream"


class InvokerRole(Construct):
    """A role that the spec's invokers take on, and that calls their endpoint and nothing else.

    Streams are allowed where the container answers with them. The role exists before the endpoint, which it
    names literally.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        invokers = list(endpoint.spec.access.invokers)
        trust = {
            "Action": "sts:AssumeRole",
            "Effect": "Allow",
            "Principal": {"AWS": invokers[0] if len(invokers) == 1 else invokers},
        }
        self.role = iam.CfnRole(
            self,
            "Resource",
            assume_role_policy_document=document([trust]),
            description=f"Calls the Triton endpoint {endpoint.name}",
        )
        call = Statement(
            sid="CallEndpoint",
            actions=[INVOKE, *([STREAM] if endpoint.spec.container.streams else [])],
            # SageMaker writes the name in lower case.
            resources=[endpoint.deployment.arn("sagemaker", f"endpoint/{endpoint.name.lower()}")],
        )
        self.policy = lasting_policy(self, "Policy", role_name=self.role.ref, statements=[call])
