"""The owner of endpoints' log groups: their retention, their key and their tags.

A group that exists already is taken over: containers make their groups themselves as soon as they log, and
one that logs while its stack is deleted makes them again. AWS::Logs::LogGroup fails at both.
"""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import Construct

from triton_endpoints.lambda_function import provider_of, see_stacks
from triton_endpoints.policy import Statement, spare_other_environments
from triton_fleet.context.metrics import container_log_group
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment

NOUN = "endpoint-logs"
SECONDS = 300
"""Twice the pauses while another is at work on the groups: 15 s for each of five calls, for each of two."""
OWN = [
    "logs:AssociateKmsKey",
    "logs:CreateLogGroup",
    "logs:DisassociateKmsKey",
    "logs:PutRetentionPolicy",
    "logs:TagResource",
    "logs:UntagResource",
]


class EndpointLogs(Construct):
    """The function that makes log groups, or takes them over.

    Endpoint stacks know that of an environment by the name that follows from it.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, is_shared: bool = True) -> None:
        """Args: the parent; the id; the environment; whether all its stacks call it, or only its own."""
        super().__init__(scope, id)
        self.service_token = provider_of(
            self,
            NOUN,
            deployment=deployment,
            handler="endpoint_logs.handler.handler",
            description="Creates or adopts the log groups of an endpoint",
            seconds=SECONDS,
            statements=_statements(deployment, is_shared=is_shared),
            is_shared=is_shared,
        )


class OwnedLogs(Construct):
    """An endpoint's log groups; `owned` exists before anything may log."""

    def __init__(self, scope: Construct, id: str, *, service_token: str, endpoint: ResolvedEndpoint) -> None:
        """Args: the parent; the id; the ARN of what is called; whose groups they are."""
        super().__init__(scope, id)
        deployment = endpoint.deployment
        properties = {
            "ServiceToken": service_token,
            "LogGroups": list(endpoint.log_groups),
            "RetentionInDays": endpoint.spec.logs.retention_days,
            "Tags": dict(endpoint.tags),
            **({"KmsKey": deployment.kms_key} if deployment.kms_key else {}),
        }
        self.resource = CfnResource(self, "Owned", type="Custom::EndpointLogs", properties=properties)


def _statements(deployment: Deployment, *, is_shared: bool) -> list[Statement]:
    groups = (container_log_group("*"), "/triton-fleet/*")
    return [
        Statement(
            sid="OwnLogGroups",
            actions=OWN,
            resources=[deployment.arn("logs", f"log-group:{group}") for group in groups],
            conditions=spare_other_environments(deployment),
        ),
        *see_stacks(deployment, is_shared=is_shared),
    ]
