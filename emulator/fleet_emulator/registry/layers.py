"""Layers: they are kept in S3, where the URL that GetDownloadUrlForLayer answers with finds them, as on AWS.

Source: ECR User Guide, vpc-endpoints, "Create the Amazon S3 gateway endpoint": the bucket's name.
"""

from __future__ import annotations

import hashlib

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.ecr.models import LayerUpload, Repository
from moto.s3.models import s3_backends
from moto.utilities.utils import get_partition

from fleet_emulator import process_state
from fleet_emulator.registry.errors import (
    EmptyUploadError,
    InvalidLayerError,
    LayerAlreadyExistsError,
    LayerPartTooSmallError,
)

OWNER = "000000000000"
"""Stands in for the account of AWS that owns the bucket: it is not listed among the caller's."""
MIN_PART_BYTES = 5 << 20
SECONDS_OF_A_URL = 3600


class Upload(LayerUpload):
    """A layer that is uploaded in parts."""

    def __init__(self, repository_name: str, registry_id: str) -> None:
        super().__init__(repository_name, registry_id)
        self._last_size = 0
        self._has_small_part = False

    def add(self, part: bytes) -> None:
        """The part that follows."""
        self._has_small_part |= 0 < self._last_size < MIN_PART_BYTES
        self._last_size = len(part)
        self.layer_parts += part

    def require_layer(self, repository: Repository, digests: list[str]) -> str:
        """The digest of the layer.

        Raises:
            ServiceException: nothing was uploaded, parts were too small, it has another digest, or exists.
        """
        if not self.layer_parts:
            raise EmptyUploadError
        if self._has_small_part:
            raise LayerPartTooSmallError
        digest = f"sha256:{hashlib.sha256(self.layer_parts).hexdigest()}"
        if digest not in digests:
            raise InvalidLayerError(digests, digest)
        if digest in repository.layers:
            raise LayerAlreadyExistsError(repository.name, repository.registry_id, digest)
        return digest


def keep_layer(repository: Repository, digest: str, content: bytes) -> None:
    """Put a layer where its URL leads."""
    s3 = s3_backends[OWNER][get_partition(repository.region_name)]
    bucket = _bucket(repository)
    if bucket not in s3.buckets:
        s3.create_bucket(bucket, repository.region_name)
    s3.put_object(bucket, _key(repository, digest), content)
    repository.layers[digest] = len(content)


def read_layer(repository: Repository, digest: str) -> bytes:
    """The content of a layer or a configuration."""
    s3 = s3_backends[OWNER][get_partition(repository.region_name)]
    found = s3.get_object(_bucket(repository), _key(repository, digest))
    assert found is not None  # noqa: S101 (an image names what exists)
    return bytes(found.value)


def layer_url(repository: Repository, digest: str) -> str:
    """A URL that reads the layer for an hour."""
    running = process_state.current()
    url = f"{running.url}/{_bucket(repository)}/{_key(repository, digest)}"
    request = AWSRequest(method="GET", url=url)
    keys = running.accounts.keys_of(OWNER)
    credentials = Credentials(keys.access_key_id, keys.secret_access_key)
    S3SigV4QueryAuth(credentials, "s3", repository.region_name, expires=SECONDS_OF_A_URL).add_auth(request)
    return str(request.url)


def _bucket(repository: Repository) -> str:
    return f"prod-{repository.region_name}-starport-layer-bucket"


def _key(repository: Repository, digest: str) -> str:
    return f"{repository.registry_id}/{repository.name}/{digest.removeprefix('sha256:')}"
