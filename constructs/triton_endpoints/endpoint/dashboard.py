"""The endpoint's dashboard, and its saved queries of CloudWatch Logs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from aws_cdk import Stack
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

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: ResolvedEndpoint,
        widgets: Sequence[cloudwatch.IWidget] = (),
    ) -> None:
        """Args: the parent; the id; the endpoint; widgets of the app's own, which follow the others."""
        super().__init__(scope, id)
        body = dashboard_body(endpoint)
        bottom = max(widget["y"] + widget["height"] for widget in body["widgets"])
        for widget in widgets:
            widget.position(0, bottom)
            bottom += int(widget.height)
            body["widgets"] += Stack.of(self).resolve(widget.to_json())
        text = Stack.of(self).to_json_string(body) if widgets else json.dumps(body)
        self.dashboard = cloudwatch.CfnDashboard(self, "Resource", dashboard_body=text)


class EndpointQueries(Construct):
    """The saved queries of one endpoint, in a folder of its name; they cost nothing until they are run."""

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        self.queries = tuple(self._query(endpoint, query) for query in saved_queries(endpoint.spec.mode))

    def _query(self, endpoint: ResolvedEndpoint, query: SavedQuery) -> logs.CfnQueryDefinition:
        return logs.CfnQueryDefinition(
            self,
            query.name.title().replace(" ", ""),
            name=saved_name(endpoint.name, query),
            query_string=query.text,
            log_group_names=[container_log_group(endpoint.name)],
        )
