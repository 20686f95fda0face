"""AWS::S3: buckets, of which moto deletes a full one only in name, and their policies, which moto lacks."""

from __future__ import annotations

import json

from moto.s3.exceptions import BucketNotEmpty
from moto.s3.models import FakeBucket, S3Backend, s3_backends
from moto.utilities.utils import get_partition

from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, Resource, ResourceType


def _backend(declaration: Declaration) -> S3Backend:
    return s3_backends[declaration.account_id][get_partition(declaration.region)]


class Bucket(MotoType):
    """`Ref` is the bucket's name."""

    replacing_properties = frozenset({"BucketName"})

    def __init__(self) -> None:
        super().__init__(FakeBucket)  # type: ignore[type-abstract]

    def create(self, declaration: Declaration) -> Resource:
        """Create the bucket with its versioning and what it blocks."""
        return self._apply_settings(super().create(declaration), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Update the bucket with its versioning and what it blocks."""
        return self._apply_settings(super().update(resource, before, declaration), declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the bucket, which has to be empty."""
        if _backend(declaration).get_bucket(resource.physical_resource_id).keys:
            raise BucketNotEmpty(resource.physical_resource_id)
        super().delete(resource, declaration)

    @staticmethod
    def _apply_settings(resource: Resource, declaration: Declaration) -> Resource:
        block = declaration.properties.get("PublicAccessBlockConfiguration")
        if block is not None:
            settings = {name: str(on) for name, on in block.items()}
            _backend(declaration).put_public_access_block(resource.physical_resource_id, settings)
        if "VersioningConfiguration" in declaration.properties:
            status = declaration.properties["VersioningConfiguration"]["Status"]
            _backend(declaration).put_bucket_versioning(resource.physical_resource_id, status)
        return resource


class BucketPolicy(ResourceType):
    """`Ref` is the bucket's name."""

    replacing_properties = frozenset({"Bucket"})

    def create(self, declaration: Declaration) -> Resource:
        """Put the policy on its bucket."""
        bucket = declaration.properties["Bucket"]
        document = json.dumps(declaration.properties["PolicyDocument"])
        _backend(declaration).put_bucket_policy(bucket, document.encode())
        return Resource(bucket)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put the policy again."""
        return self.create(declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Take the policy off its bucket."""
        _backend(declaration).delete_bucket_policy(resource.physical_resource_id)
