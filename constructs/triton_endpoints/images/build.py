"""The builds of container images: their project, their rights, and the repository that they push to."""

from __future__ import annotations

import json

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ecr as ecr
from constructs import Construct

from triton_endpoints.builds.project import (
    BUCKET_KEY,
    BUILDS_IMAGES,
    BuildFailures,
    BuildProject,
    build_log,
    pull_statements,
    source_statements,
    write_log,
)
from triton_endpoints.endpoint.role import PULL
from triton_endpoints.policy import Statement, service_role, use_key
from triton_fleet.builds.images.artifacts import BUILDS, CONTEXTS, DRAFT, FAILURE, MANIFEST
from triton_fleet.spec.deployment import Deployment

UNTAGGED_DAYS = 14
_LIFECYCLE = {
    "rules": [
        {
            "rulePriority": 1,
            "description": "Untagged images: pushes that never completed, since a pushed image keeps its tag",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": UNTAGGED_DAYS,
            },
            "action": {"type": "expire"},
        }
    ]
}


class ImageRepository(Construct):
    """A repository whose tags never move, which is scanned on push and retained.

    Nothing that has a tag expires: an instance that scales out pulls the image of its endpoint, whenever that
    was deployed.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, id)
        encryption = ecr.CfnRepository.EncryptionConfigurationProperty(
            encryption_type="KMS" if deployment.kms_key else "AES256", kms_key=deployment.kms_key
        )
        self.repository = ecr.CfnRepository(
            self,
            "Resource",
            repository_name=deployment.image_repository,
            image_tag_mutability="IMMUTABLE",
            image_scanning_configuration=ecr.CfnRepository.ImageScanningConfigurationProperty(
                scan_on_push=True
            ),
            encryption_configuration=encryption,
            lifecycle_policy=ecr.CfnRepository.LifecyclePolicyProperty(
                lifecycle_policy_text=json.dumps(_LIFECYCLE)
            ),
        )
        # A first deploy that failed leaves none, whose name the next one would meet.
        self.repository.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)


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
        BuildFailures(self, "Failures", deployment=deployment, noun="image", projects=("image",), topic=topic)


def image_statements(deployment: Deployment) -> list[Statement]:
    """A build of an image: it reads contexts and requests, and writes its record once; it deletes nothing."""
    bucket = deployment.bucket_arn
    return [
        Statement(
            sid="ReadContexts",
            actions=["s3:GetObject"],
            resources=[f"{bucket}/{CONTEXTS}*", f"{bucket}/{BUILDS}*"],
        ),
        Statement(
            sid="WriteFailures",
            actions=["s3:PutObject"],
            resources=[f"{bucket}/{BUILDS}*/{DRAFT}", f"{bucket}/{BUILDS}*/{FAILURE}"],
        ),
        Statement(
            sid="WriteManifests",
            actions=["s3:PutObject"],
            resources=[f"{bucket}/{BUILDS}*/{MANIFEST}"],
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
