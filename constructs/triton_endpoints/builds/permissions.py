"""The rights of all builds: read their script, pull the images of the releases, write their log."""

from __future__ import annotations

from triton_endpoints.endpoint.role import PULL
from triton_endpoints.policy import Statement
from triton_fleet.builds.engines.artifacts import ENGINES
from triton_fleet.catalog.images import TRITON_REPOSITORY, registry_accounts
from triton_fleet.spec.deployment import Deployment

BUCKET_KEY = ("kms:Decrypt", "kms:GenerateDataKey")
"""For objects of the artifact bucket that are read and written."""


def source_statements(deployment: Deployment) -> list[Statement]:
    """For a build by CodeBuild, which asks where the bucket of its source is, and whose."""
    return [
        Statement(
            sid="FetchSource",
            actions=["s3:GetObject", "s3:GetObjectVersion"],
            resources=[f"{deployment.bucket_arn}/{ENGINES}scripts/*"],
        ),
        Statement(
            sid="SeeSource",
            actions=["s3:GetBucketAcl", "s3:GetBucketLocation"],
            resources=[deployment.bucket_arn],
        ),
    ]


def pull_statements(deployment: Deployment, *, own: bool) -> list[Statement]:
    """Pull releases, from each account that has them for the region; `own`: the environment's images, too."""
    repositories = [
        deployment.arn("ecr", f"repository/{TRITON_REPOSITORY}", account=account)
        for account in registry_accounts(deployment.region)
    ]
    if own:
        repositories.append(deployment.arn("ecr", f"repository/{deployment.image_repository}"))
    return [
        Statement(sid="LogInToRegistry", actions=["ecr:GetAuthorizationToken"], resources=["*"]),
        Statement(sid="PullImage", actions=PULL, resources=repositories),
    ]


def write_log(deployment: Deployment, group: str) -> Statement:
    """The log of a build, in a group that exists."""
    return Statement(
        sid="WriteLog",
        actions=["logs:CreateLogStream", "logs:PutLogEvents"],
        resources=[deployment.arn("logs", f"log-group:{group}:*")],
    )
