"""What owns the log groups of endpoints: their retention, their key and their tags.

A group that exists already is taken over: containers make their groups themselves as soon as they log, and
one that logs while its stack is deleted makes them again. AWS::Logs::LogGroup fails at both.
"""

from __future__ import annotations

from pathlib import Path

from aws_cdk import CfnResource, Duration, IgnoreMode, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.custom_resources import Provider
from constructs import Construct

from fleet.resolve.endpoint import Place, ResolvedEndpoint
from triton_endpoints.acknowledgements import acknowledge_invocation
from triton_endpoints.policy import Statement, policy_of

CODE = Path(__file__).resolve().parents[2] / "lambda"
SECONDS = 120
OWN = [
    "logs:AssociateKmsKey",
    "logs:CreateLogGroup",
    "logs:DisassociateKmsKey",
    "logs:PutRetentionPolicy",
    "logs:TagResource",
    "logs:UntagResource",
]


class EndpointLogs(Construct):
    """The function of an environment that makes log groups, or takes them over.

    Endpoint stacks know it by the name that follows from the environment.
    """

    def __init__(self, scope: Construct, id: str, *, place: Place) -> None:
        super().__init__(scope, id)
        log = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        role = self._role("Role", log)
        policy = policy_of(self, "Policy", role_name=role.role_name, statements=_statements(place))
        function = lambda_.Function(
            self,
            "Function",
            description="Makes or takes over the log groups of an endpoint",
            runtime=lambda_.Runtime.PYTHON_3_14,
            code=lambda_.Code.from_asset(
                str(CODE),
                exclude=["*", "!endpoint_logs", "!endpoint_logs/*.py"],
                ignore_mode=IgnoreMode.GIT,
            ),
            handler="endpoint_logs.handler.handler",
            timeout=Duration.seconds(SECONDS),
            role=role,
            log_group=log,
        )
        function.node.add_dependency(policy)
        caller = self._role("FrameworkRole", log)
        Provider(
            self,
            "Provider",
            on_event_handler=function,
            framework_on_event_role=caller,
            log_group=log,
            provider_function_name=_name(place),
        )
        acknowledge_invocation(caller, function)

    def _role(self, id: str, log: logs.LogGroup) -> iam.Role:
        """A role for Lambda without AWS's managed policy, which writes to every log group."""
        role = iam.Role(self, id, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(role)
        return role


class OwnedLogs(Construct):
    """An endpoint's log groups; `owned` is there before anything may log."""

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        place = endpoint.place
        properties = {
            "ServiceToken": place.arn("lambda", f"function:{_name(place)}"),
            "LogGroups": list(endpoint.log_groups),
            "RetentionInDays": endpoint.retention_days,
            "Tags": dict(endpoint.tags),
            **({"KmsKey": place.kms_key} if place.kms_key else {}),
        }
        self.owned = CfnResource(self, "Owned", type="Custom::EndpointLogs", properties=properties)


def _statements(place: Place) -> list[Statement]:
    groups = ("/aws/sagemaker/Endpoints/*", "/triton-fleet/*")
    return [
        Statement(
            sid="OwnLogGroups",
            actions=OWN,
            resources=[place.arn("logs", f"log-group:{group}") for group in groups],
        ),
        Statement(
            sid="SeeStacks",
            actions=["cloudformation:DescribeStacks"],
            resources=[place.arn("cloudformation", f"stack/{place.stack}-*")],
        ),
    ]


def _name(place: Place) -> str:
    return f"{place.stack}-endpoint-logs"
