"""An endpoint beside the function that calls it."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from triton_endpoints import (
    EndpointSupport,
    Input,
    Instance,
    Output,
    Sample,
    Scaling,
    TritonEndpoint,
    TritonModel,
)


class SearchStack(cdk.Stack):
    """Costs that endpoints share, one endpoint, and its caller."""

    def __init__(self, scope: Construct, id: str, *, env: cdk.Environment, model_data_url: str) -> None:
        super().__init__(scope, id, env=env)
        support = EndpointSupport(self, "Support", environment="search", engine_builds=False)
        lengths = TritonEndpoint(
            self,
            "Lengths",
            support=support,
            endpoint_name="lengths",
            triton="25.04",
            instance=Instance(type="ml.c5.xlarge"),
            model=TritonModel.single(model_data_url, default_model="length"),
            scaling=Scaling(min=1, max=2).scale_on_invocations(600),
            samples=[
                Sample(
                    name="one-text",
                    inputs={"TEXT": Input(datatype="BYTES", shape=[1, 1], data="seven")},
                    outputs={"LENGTH": Output(datatype="INT32", shape=[1, 1], data=5)},
                )
            ],
        )
        caller = lambda_.Function(
            self,
            "Caller",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context): ..."),
            role=iam.Role(self, "CallerRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")),
            environment={"ENDPOINT": lengths.endpoint_name},
        )
        lengths.grant_invoke(caller)
