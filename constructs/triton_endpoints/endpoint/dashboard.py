"""The endpoint's dashboard: what SageMaker measures, what Triton measures, and the last errors."""

from __future__ import annotations

import json

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_fleet.endpoint.dashboard.body import dashboard_body
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint


class EndpointDashboard(Construct):
    """One dashboard for one endpoint; CloudFormation names it.

    The body is written as CloudWatch reads it: the CDK's widgets take half of an endpoint's synth.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        body = json.dumps(dashboard_body(endpoint))
        self.dashboard = cloudwatch.CfnDashboard(self, "Resource", dashboard_body=body)
