"""A host app with a Lambda function and two endpoints: what they share is in the same stack."""

from __future__ import annotations

import sys
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from triton_endpoints import (
    Alarms,
    EndpointSupport,
    ImportedEndpoint,
    Instance,
    Scaling,
    TritonAlarms,
    TritonDashboard,
    TritonEndpoint,
    TritonModel,
    TritonScaling,
)

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-east-1")
DATA = "s3://data/model.tar.gz"
VARIANTS = {"first": "ml.g5.xlarge", "changed": "ml.g6.xlarge"}
"""The instance type of the endpoint that is scaled, which AWS does not let change while it is."""


class Host(cdk.Stack):
    """Support, endpoints, and a function that calls one of them."""

    def __init__(self, app: cdk.App, instance_type: str) -> None:
        super().__init__(app, "Host", env=ENVIRONMENT)
        support = EndpointSupport(self, "Support", environment="lib", engine_builds=False)
        scaled_endpoint = TritonEndpoint(
            self,
            "Scaled",
            endpoint_name="scaled",
            triton="25.04",
            support=support,
            instance=Instance(type=instance_type),
            model=TritonModel.single(DATA, default_model="embed"),
            scaling=Scaling(min=1, max=2).scale_on_invocations(600),
        )
        plain = TritonEndpoint(
            self,
            "Plain",
            endpoint_name="plain",
            triton="25.04",
            support=support,
            instance=Instance(type="ml.c5.xlarge"),
            model=TritonModel.single(DATA, default_model="embed"),
            alarms=Alarms(latency_p99="200ms"),
            dashboard=False,
        )
        # Beside it, as if another stack had it.
        imported_endpoint = ImportedEndpoint(
            self,
            "Imported",
            endpoint_name="plain",
            triton="25.04",
            support=support,
            instance=Instance(type="ml.c5.xlarge"),
            model=TritonModel.single(DATA, default_model="embed"),
        )
        more = (
            TritonAlarms(self, "MoreAlarms", endpoint=imported_endpoint, alarms=Alarms(latency_p99="500ms")),
            TritonScaling(
                self,
                "MoreScaling",
                endpoint=imported_endpoint,
                scaling=Scaling(min=1, max=3).scale_on_invocations(60),
            ),
            TritonDashboard(self, "MoreWidgets", endpoint=imported_endpoint),
        )
        for item in more:
            item.node.add_dependency(plain)
        caller = lambda_.Function(
            self,
            "Caller",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context): pass"),
            environment={"ENDPOINT": scaled_endpoint.endpoint_name},
        )
        scaled_endpoint.grant_invoke(caller)
        cdk.CfnOutput(self, "Endpoint", value=scaled_endpoint.endpoint_arn)


def synthesize(folder: Path) -> None:
    """Write one cloud assembly for each variant."""
    for name, instance_type in VARIANTS.items():
        app = cdk.App(outdir=str(folder / name))
        Host(app, instance_type)
        app.synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]))
