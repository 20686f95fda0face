"""The endpoint's dashboard, and its saved queries of CloudWatch Logs."""

from __future__ import annotations

import json

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from triton_fleet.context.metrics import container_log_group
from triton_fleet.endpoint.dashboard.body import dashboard_body
from triton_fleet.endpoint.dashboard.log_queries import SavedQuery, saved_name, saved_queries
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint


class EndpointDashboard(Construct):
    """One dashboard for one endpoint; CloudFormation names it.

    The body is written as CloudWatch reads it: the CDK's widgets take half of an endpoint's synth.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        body = json.dumps(dashboard_body(endpoint))
        self.dashboard = cloudwatch.CfnDashboard(self, "Resource", dashboard_body=body)


class EndpointQueries(Construct):
    """The saved queries of one endpoint, in a folder of its name; they cost nothing until they are run."""

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        self.queries = [self._query(endpoint, query) for query in saved_queries(endpoint.spec.mode)]

    def _query(self, endpoint: ResolvedEndpoint, query: SavedQuery) -> logs.CfnQueryDefinition:
        return logs.CfnQueryDefinition(
            self,
            query.name.title().replace(" ", ""),
            name=saved_name(endpoint.name, query),
            query_string=query.text,
            log_group_names=[container_log_group(endpoint.name)],
        )
