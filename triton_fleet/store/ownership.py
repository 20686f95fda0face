"""The contents that an endpoint may have: a record in the bucket for each one, written after a proof.

Digests of archives and images are in everybody's locks, so naming one proves nothing
(docs/decisions/0040-an-endpoint-gets-what-is-its-own.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import OWNERS
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.content_store import list_objects
from triton_fleet.store.releases import released_digests

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_WRITES = 16
OF_REPOSITORY, OF_BUILD, OF_RELEASE, OF_LIVE_SET = "repository", "build", "release", "live set"
"""Proofs: what was read or built, an earlier release, and what `fleet models add` has read."""


def owner_prefix(endpoint: str) -> str:
    """The prefix of an endpoint's records."""
    return f"{OWNERS}{endpoint}/"


def owner_key(endpoint: str, digest: str) -> str:
    """The record that an endpoint owns a content: an archive by its lock's digest, or an image."""
    return f"{owner_prefix(endpoint)}{hexadecimal(digest)}"


def contents_to_own(endpoint: ResolvedEndpoint) -> list[str]:
    """The digests of an endpoint's archives, and of an image that was built for it."""
    own, image = endpoint.spec.own_image, endpoint.image.digest
    is_built = endpoint.image.is_own and own is not None and own.uri is None
    return [*(archive.digest for archive in endpoint.archives), *([image] if is_built and image else [])]


class Owners:
    """The records of one bucket; those of an endpoint are listed once, when it is first asked for."""

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3, self._bucket = s3, bucket
        self._cache: dict[str, set[str]] = {}

    def known_digests(self, endpoint: str, digests: Collection[str]) -> set[str]:
        """Those of these digests that the endpoint owns: by a record, else by one of its releases.

        Raises:
            ClientError: access is denied.
        """
        digests_on_record = {
            digest for digest in digests if owner_key(endpoint, digest) in self._records(endpoint)
        }
        if len(digests_on_record) == len(set(digests)):
            return digests_on_record
        return digests_on_record | released_digests(self._s3, self._bucket, endpoint).intersection(digests)

    def owned_digests(self, endpoint: str, digests: Collection[str]) -> set[str]:
        """The same as `known_digests`, and record those that only a release shows.

        What was deployed before there were records has releases alone.

        Raises:
            ClientError: access is denied.
        """
        digests_of_endpoint = self.known_digests(endpoint, digests)
        self.record(endpoint, digests_of_endpoint, OF_RELEASE)
        return digests_of_endpoint

    def record(self, endpoint: str, digests: Collection[str], proof: str) -> None:
        """Write the records that are missing; `proof` shows a reader of the bucket how that was known.

        Two writers of one record mean the same, so that neither has to win.

        Raises:
            ClientError: access is denied.
        """
        records = self._records(endpoint)
        new_records = {
            key: digest for digest in digests if (key := owner_key(endpoint, digest)) not in records
        }

        def write(key: str) -> None:
            text = json.dumps({"endpoint": endpoint, "digest": new_records[key], "proof": proof})
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=text.encode())

        all_in_parallel(new_records, write, MAX_PARALLEL_WRITES)
        records.update(new_records)

    def _records(self, endpoint: str) -> set[str]:
        if endpoint not in self._cache:
            self._cache[endpoint] = set(list_objects(self._s3, self._bucket, owner_prefix(endpoint)))
        return self._cache[endpoint]
