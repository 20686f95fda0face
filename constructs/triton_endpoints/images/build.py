"""What builds container images: a CodeBuild project with Docker, and the repository that it pushes to.

Nothing of it runs or costs while no image is built.
"""

from __future__ import annotations

from constructs import Construct

from triton_endpoints.builds.failures import BuildFailures
from triton_endpoints.builds.permissions import BUCKET_KEY, pull_statements, source_statements, write_log
from triton_endpoints.builds.project import BUILDS_IMAGES, BuildProject, build_log
from triton_endpoints.endpoint.role import PULL
from triton_endpoints.images.repository import ImageRepository
from triton_endpoints.policy import Statement, service_role, use_key
from triton_fleet.builds.images.artifacts import BUILT, CONTEXTS, DRAFT, FAILURE, MANIFEST
from triton_fleet.spec.deployment import Deployment

_PUSH = [
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:CompleteLayerUpload",
    "ecr:DescribeImages",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
]
"""To see what is pushed, and push; without ecr:GetDownloadUrlForLayer nobody's layers can be read.

Source: ECR user guide, image-push-iam.html; ecr:DescribeImages is of the build script.
"""


class ImageBuild(Construct):
    """The project and the repository of an environment, known by their names.

    `topic` is the ARN of the one that is notified of failed builds.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, topic: str) -> None:
        super().__init__(scope, id)
        ImageRepository(self, "Repository", deployment=deployment)
        log = build_log(self, deployment, deployment.image_log_group)
        role = service_role(
            self,
            "Role",
            service="codebuild",
            deployment=deployment,
            description=f"Role of CodeBuild that builds the images of {deployment.environment}",
            statements=image_statements(deployment),
        )
        BuildProject(self, "Project", deployment=deployment, kind=BUILDS_IMAGES, role=role, log=log)
        BuildFailures(self, "Failures", deployment=deployment, what="image", projects=("image",), topic=topic)


def image_statements(deployment: Deployment) -> list[Statement]:
    """A build of an image: it reads contexts and requests, and writes its record once; it deletes nothing."""
    bucket = deployment.bucket_arn
    return [
        Statement(
            sid="ReadContexts",
            actions=["s3:GetObject"],
            resources=[f"{bucket}/{CONTEXTS}*", f"{bucket}/{BUILT}*"],
        ),
        Statement(
            sid="WriteFailures",
            actions=["s3:PutObject"],
            resources=[f"{bucket}/{BUILT}*/{DRAFT}", f"{bucket}/{BUILT}*/{FAILURE}"],
        ),
        Statement(
            sid="WriteManifests",
            actions=["s3:PutObject"],
            resources=[f"{bucket}/{BUILT}*/{MANIFEST}"],
            conditions={"Null": {"s3:if-none-match": "false"}},
        ),
        # Without conditions: S3 reports a missing object as missing only to a caller that may list.
        Statement(sid="SeeBucket", actions=["s3:ListBucket"], resources=[bucket]),
        *source_statements(deployment),
        *pull_statements(deployment, own=False),
        *_allowed_pull_statements(deployment),
        Statement(
            sid="PushImage",
            actions=_PUSH,
            resources=[deployment.arn("ecr", f"repository/{deployment.image_repository}")],
        ),
        write_log(deployment, deployment.image_log_group),
        *use_key(deployment, *BUCKET_KEY),
    ]


def _allowed_pull_statements(deployment: Deployment) -> list[Statement]:
    """Pull what the Dockerfiles may name of other accounts, whose repositories have to allow it as well."""
    repositories = [
        deployment.arn("ecr", "repository/*", account=account) for account in deployment.allowed_accounts
    ]
    if not repositories:
        return []
    return [Statement(sid="PullAllowed", actions=PULL, resources=repositories)]
