"""Resources of the account that have the custom name which a template declares."""

from __future__ import annotations

from typing import Any

from moto.ecr.models import ecr_backends
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends
from moto.utilities.utils import get_partition

from fleet_emulator.types.moto_types import MotoResource
from fleet_emulator.types.resource import Declaration, Resource

NAMES = {
    "AWS::ECR::Repository": "RepositoryName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
}
"""The types that are looked up, with the property that has the name; on AWS all with a read handler are."""


def existing_resource(declared: Declaration) -> Resource | None:
    """The resource of the account with the declared name; None if there is none, or no name is declared."""
    name = declared.properties.get(NAMES.get(declared.type, ""))
    model = None if name is None else _models(declared).get(name)
    return None if model is None else MotoResource(model, name=str(name))


def _models(declared: Declaration) -> dict[str, Any]:
    account, region = declared.account_id, declared.region
    if declared.type == "AWS::ECR::Repository":
        return dict(ecr_backends[account][region].repositories)
    if declared.type == "AWS::Logs::LogGroup":
        return dict(logs_backends[account][region].groups)
    return dict(s3_backends[account][get_partition(region)].buckets)
