"""The repository of an environment's images."""

from __future__ import annotations

import json

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ecr as ecr
from constructs import Construct

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
