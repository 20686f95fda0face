"""AWS::S3: buckets, of which moto deletes a full one only in name, and their policies, which moto lacks."""

from __future__ import annotations

import json

from moto.s3.exceptions import BucketNotEmpty
from moto.s3.models import FakeBucket, S3Backend, s3_backends
from moto.utilities.utils import get_partition

from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, Resource


def _backend(declared: Declaration) -> S3Backend:
    return s3_backends[declared.account_id][get_partition(declared.region)]


class Bucket(MotoType):
    """`Ref` is the bucket's name."""

    def __init__(self) -> None:
        super().__init__(FakeBucket)  # type: ignore[type-abstract]

    def create(self, declared: Declaration) -> Resource:
        """Create the bucket with its versioning and what it blocks."""
        return self._apply_settings(super().create(declared), declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name."""
        return "BucketName" in declared.changed(before)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Update the bucket with its versioning and what it blocks."""
        return self._apply_settings(super().update(resource, before, declared), declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the bucket, which has to be empty."""
        if _backend(declared).get_bucket(resource.physical_resource_id).keys:
            raise BucketNotEmpty(resource.physical_resource_id)
        super().delete(resource, declared)

    @staticmethod
    def _apply_settings(resource: Resource, declared: Declaration) -> Resource:
        block = declared.properties.get("PublicAccessBlockConfiguration")
        if block is not None:
            given = {name: str(on) for name, on in block.items()}
            _backend(declared).put_public_access_block(resource.physical_resource_id, given)
        if "VersioningConfiguration" in declared.properties:
            status = declared.properties["VersioningConfiguration"]["Status"]
            _backend(declared).put_bucket_versioning(resource.physical_resource_id, status)
        return resource


class BucketPolicy:
    """`Ref` is the bucket's name."""

    def create(self, declared: Declaration) -> Resource:
        """Put the policy on its bucket."""
        bucket = declared.properties["Bucket"]
        document = json.dumps(declared.properties["PolicyDocument"])
        _backend(declared).put_bucket_policy(bucket, document.encode())
        return Resource(bucket)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it belongs to another bucket."""
        return "Bucket" in declared.changed(before)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Put the policy again."""
        return self.create(declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Take the policy off its bucket."""
        _backend(declared).delete_bucket_policy(resource.physical_resource_id)
