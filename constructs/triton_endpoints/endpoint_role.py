"""The role that SageMaker and the container act in."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from fleet.resolve.endpoint import ResolvedEndpoint
from triton_endpoints.acknowledgements import acknowledge_wildcards

PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
WRITE_LOGS = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]


class EndpointRole(Construct):
    """An execution role that reads one endpoint's archives, pulls its image, writes its logs and metrics.

    The registry is that of the account which really keeps the image. The archives are granted by the
    endpoint's prefix, not by object: while a new version is rolled out the old one still scales out.
    """

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(scope, id)
        self._endpoint = endpoint
        place = endpoint.place
        self.role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": place.account}}
            ),
            description=f"Execution role of the Triton endpoint {endpoint.name}",
        )
        self.policy = iam.Policy(self, "Policy", roles=[self.role], statements=self._statements())
        acknowledge_wildcards(self.policy)

    def _statements(self) -> list[iam.PolicyStatement]:
        place, image, prefix = self._endpoint.place, self._endpoint.image, self._endpoint.prefix
        bucket = f"arn:{place.partition.name}:s3:::{place.bucket}"
        return [
            iam.PolicyStatement(
                sid="ReadArchives", actions=["s3:GetObject"], resources=[f"{bucket}/{prefix}*"]
            ),
            iam.PolicyStatement(
                sid="ListArchives",
                actions=["s3:ListBucket"],
                resources=[bucket],
                conditions={"StringLike": {"s3:prefix": [f"{prefix}*"]}},
            ),
            iam.PolicyStatement(
                sid="LogInToRegistry", actions=["ecr:GetAuthorizationToken"], resources=["*"]
            ),
            iam.PolicyStatement(
                sid="PullImage",
                actions=PULL,
                resources=[self._arn("ecr", f"repository/{image.repository}", account=image.account)],
            ),
            iam.PolicyStatement(sid="WriteLogs", actions=WRITE_LOGS, resources=self._log_groups()),
            *self._metrics_statements(),
        ]

    def _metrics_statements(self) -> list[iam.PolicyStatement]:
        metrics = self._endpoint.triton_metrics
        if metrics is None:
            return []
        return [
            iam.PolicyStatement(
                sid="PublishTritonMetrics",
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": metrics.namespace}},
            )
        ]

    def _log_groups(self) -> list[str]:
        metrics = self._endpoint.triton_metrics
        groups = [
            f"/aws/sagemaker/Endpoints/{self._endpoint.name}",
            *([metrics.log_group] if metrics else []),
        ]
        arns = [self._arn("logs", f"log-group:{group}") for group in groups]
        return [arn + part for arn in arns for part in ("", ":*")]

    def _arn(self, service: str, resource: str, account: str | None = None) -> str:
        place = self._endpoint.place
        return f"arn:{place.partition.name}:{service}:{place.region}:{account or place.account}:{resource}"
