"""The execution role of an endpoint, and the role of its callers."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Token
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.policy import Statement, document, lasting_policy, service_trust, use_key, use_key_of
from triton_endpoints.wildcards import GIVEN_DATA
from triton_fleet.catalog.metrics import granted_namespace
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.endpoint import Mode

PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
SEE_NETWORK = [
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
]
USE_INTERFACES = [
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
]
WRITE_LOGS = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]


def _names(values: Sequence[str]) -> Sequence[str]:
    """The names in a list; a list that is a token has unknown ones."""
    return ["*"] if Token.is_unresolved(list(values)) else values


class EndpointRole(Construct):
    """An execution role that reads one endpoint's archives, pulls its image, writes its logs and metrics.

    The registry is that of the account which really keeps the image. The archives are granted by the
    endpoint's prefix, not by object: while a new version is rolled out the old one still scales out. The
    alarms that roll rollouts back are granted by their prefix, whether there is a rollout or not, so that no
    permission is new when SageMaker asks for them. The role of a multi-model endpoint may list the whole
    bucket: it sees the names, sizes and dates of all objects, and reads nothing more. So may the role of data
    whose address only the deploy knows. What the old fleet
    needs is granted until an update ends.

    A role of somebody else's is given the same policies, unless it is imported as immutable.
    """

    def __init__(
        self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint, given_role: iam.IRole | None = None
    ) -> None:
        super().__init__(scope, id)
        self._endpoint = endpoint
        self.role: iam.CfnRole | None = None
        self.given_role = given_role
        grantee: str | iam.IRole
        if given_role is None:
            self.role = role = self._own_role()
            self.arn, grantee = role.attr_arn, role.ref
        else:
            self.arn, grantee = given_role.role_arn, given_role
        grants = {
            "Policy": self._statements(),
            "Network": self._network_statements(),
            "Capture": self._capture_statements(),
            "Keys": self._key_statements(),
        }
        further = [GIVEN_DATA] if endpoint.given_data else []
        # One for each subject: during a change the role has the old and the new one, and IAM limits the sum
        # to 10,240 characters. Source: IAM user guide, reference_iam-quotas.html.
        self.policies = tuple(
            lasting_policy(self, id, role=grantee, statements=statements, further=further)
            for id, statements in grants.items()
            if statements
        )

    def _own_role(self) -> iam.CfnRole:
        return iam.CfnRole(
            self,
            "Resource",
            assume_role_policy_document=service_trust("sagemaker", self._endpoint.deployment),
            description=f"Execution role of the Triton endpoint {self._endpoint.name}",
        )

    def _statements(self) -> list[Statement]:
        deployment, (bucket, objects, _) = self._endpoint.deployment, self._endpoint.readable_data
        return [
            Statement(sid="ReadArchives", actions=["s3:GetObject"], resources=[objects]),
            Statement(
                sid="ListArchives",
                actions=["s3:ListBucket"],
                resources=[bucket],
                conditions=self._listed_prefix(),
            ),
            Statement(sid="LogInToRegistry", actions=["ecr:GetAuthorizationToken"], resources=["*"]),
            *self._pull_statements(),
            Statement(sid="WriteLogs", actions=WRITE_LOGS, resources=self._log_groups()),
            self._metrics_statement(),
            Statement(
                sid="SeeRollbackAlarms",
                actions=["cloudwatch:DescribeAlarms"],
                resources=[deployment.arn("cloudwatch", f"alarm:{self._endpoint.rollback_alarm_prefix}*")],
            ),
        ]

    def _pull_statements(self) -> list[Statement]:
        repositories = [
            repository.arn
            or self._endpoint.deployment.arn(
                "ecr", f"repository/{repository.name}", account=repository.account
            )
            for repository in self._endpoint.repositories
        ]
        return [Statement(sid="PullImage", actions=PULL, resources=repositories)] if repositories else []

    def _listed_prefix(self) -> dict[str, object] | None:
        # A look for one object has no s3:prefix: under this condition S3 answers 403 where it is missing,
        # not 404, and an invocation may name a target that does not exist.
        _, _, keys = self._endpoint.readable_data
        if self._endpoint.spec.mode is Mode.MULTI_MODEL or keys is None:
            return None
        return {"StringLike": {"s3:prefix": [keys]}}

    def _metrics_statement(self) -> Statement:
        metrics = self._endpoint.triton_metrics
        namespaces = [granted_namespace(), *([metrics.namespace] if metrics else [])]
        return Statement(
            sid="PublishMetrics",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringLike": {"cloudwatch:namespace": namespaces}},
        )

    def _network_statements(self) -> list[Statement]:
        network, interfaces = (
            self._endpoint.spec.network,
            self._endpoint.deployment.arn("ec2", "network-interface/*"),
        )
        if not network.subnets:
            return []
        # SageMaker tries these out before it takes the VPC; its guide warns of conditions, so there are none.
        # Source of the resources: the service authorization reference of EC2.
        network_arns = [
            *(self._network_arn("subnet", subnet) for subnet in _names(network.subnets)),
            *(
                self._network_arn("security-group", security_group)
                for security_group in network.security_groups
            ),
        ]
        return [
            Statement(sid="SeeNetwork", actions=SEE_NETWORK, resources=["*"]),
            Statement(
                sid="AttachToVpc",
                actions=["ec2:CreateNetworkInterface"],
                resources=[interfaces, *network_arns],
            ),
            Statement(sid="UseInterfaces", actions=USE_INTERFACES, resources=[interfaces]),
        ]

    def _network_arn(self, kind: str, name: str) -> str:
        # The ARN of a subnet that another account shares has that account; one of the app's own has not.
        account = "" if Token.is_unresolved(name) else "*"
        return self._endpoint.deployment.arn("ec2", f"{kind}/{name}", account=account)

    def _capture_statements(self) -> list[Statement]:
        endpoint = self._endpoint
        if endpoint.spec.capture is None:
            return []
        resource = f"{endpoint.deployment.bucket_arn}/{endpoint.capture_prefix}*"
        return [Statement(sid="KeepCapturedCalls", actions=["s3:PutObject"], resources=[resource])]

    def _key_statements(self) -> list[Statement]:
        volume, model_data, deployment = (
            self._endpoint.volume_key,
            self._endpoint.given_data,
            self._endpoint.deployment,
        )
        writes = ["kms:GenerateDataKey"] if self._endpoint.spec.capture else []
        statements = use_key(deployment, "kms:Decrypt", *writes)
        if model_data:
            statements += use_key_of(deployment, "UseDataKey", model_data.kms_key, "kms:Decrypt")
        if volume:
            for_aws = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
            statements += [
                Statement(sid="SeeVolumeKey", actions=["kms:DescribeKey"], resources=[volume]),
                Statement(
                    sid="GrantVolumeKey", actions=["kms:CreateGrant"], resources=[volume], conditions=for_aws
                ),
            ]
        return statements

    def _log_groups(self) -> list[str]:
        arns = [
            self._endpoint.deployment.arn("logs", f"log-group:{group}") for group in self._endpoint.log_groups
        ]
        return [arn + part for arn in arns for part in ("", ":*")]


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
        self.policy = lasting_policy(self, "Policy", role=self.role.ref, statements=[call])
