"""Configurations and layers of images, downloaded from Amazon ECR and compared with their digests.

Source: ECR's API reference, GetDownloadUrlForLayer; ECR User Guide, vpc-endpoints, for the bucket's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.images.manifest import Blob
from triton_fleet.awsapi.images.reference import ImageReference
from triton_fleet.findings import CannotRunError
from triton_fleet.repository.stream import PIECE, Stream, UnreadableError

if TYPE_CHECKING:
    from botocore.httpsession import URLLib3Session

SECONDS_WITHOUT_DATA = 60
CA_BUNDLES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
"""Variables that name the certificates which boto3 trusts."""
NETWORK_REMEDY = "check this machine's network, and run the command again"


class BlobStream(Stream):
    """The bytes of a blob as they arrive: as many as its manifest states, and no more."""

    def __init__(self, source: Any, blob: Blob) -> None:
        super().__init__()
        self._source, self._blob = source, blob
        self._byte_count, self._digest = 0, sha256()

    def finish(self) -> None:
        """Read what is left.

        Raises:
            UnreadableError: these are not the bytes that the digest was made of.
        """
        while self._next():
            pass
        if f"sha256:{self._digest.hexdigest()}" != self._blob.digest:
            raise UnreadableError(f"the registry's content of {self._blob.digest} has another digest")

    def _next(self) -> bytes:
        from urllib3.exceptions import HTTPError

        try:
            chunk: bytes = self._source.read(PIECE)
        except (HTTPError, OSError) as error:
            raise CannotRunError(
                f"the download of {self._blob.digest} broke off: {error}", NETWORK_REMEDY
            ) from error
        self._byte_count += len(chunk)
        if not chunk and self._byte_count < self._blob.size:
            problem = f"{self._blob.digest} ends after {self._byte_count} of {self._blob.size} bytes"
            raise CannotRunError(f"the download of {problem}", NETWORK_REMEDY)
        if self._byte_count > self._blob.size:
            raise UnreadableError(
                f"{self._blob.digest} is larger than the {self._blob.size} bytes of its manifest"
            )
        self._digest.update(chunk)
        return chunk


@contextmanager
def open_blob(ecr: Any, image: ImageReference, blob: Blob) -> Iterator[BlobStream]:
    """Open a blob of an image; the caller finishes it.

    Raises:
        ClientError: the registry has no such blob, or refuses it.
        CannotRunError: it cannot be downloaded.
    """
    answer = ecr.get_download_url_for_layer(
        registryId=image.account, repositoryName=image.repository, layerDigest=blob.digest
    )
    from botocore.awsrequest import AWSRequest

    request = AWSRequest(method="GET", url=answer["downloadUrl"], stream_output=True)
    session = _session(ecr, answer["downloadUrl"])
    try:
        response = session.send(request.prepare())
        try:
            if response.status_code != 200:
                _refuse(image, blob, response.status_code)
            yield BlobStream(response.raw, blob)
        finally:
            response.raw.close()
    finally:
        session.close()


def read_blob(ecr: Any, image: ImageReference, blob: Blob) -> bytes:
    """All of a small blob.

    Raises:
        UnreadableError: its content has another size or digest.
    """
    with open_blob(ecr, image, blob) as stream:
        content = stream.read_exact(blob.size)
        stream.finish()
    return content


def _session(ecr: Any, url: str) -> URLLib3Session:
    """A session with the proxies and certificates of the client: botocore's own ones are not to be had."""
    from botocore.httpsession import URLLib3Session
    from botocore.utils import get_environ_proxies

    proxies = ecr.meta.config.proxies
    verify: Any = next((os.environ[name] for name in CA_BUNDLES if os.environ.get(name)), True)
    return URLLib3Session(
        verify=verify,
        proxies=get_environ_proxies(url) if proxies is None else proxies,
        timeout=SECONDS_WITHOUT_DATA,
    )


def _refuse(image: ImageReference, blob: Blob, status: int) -> None:
    remedy = NETWORK_REMEDY
    if status == 403:
        bucket = f"prod-{image.region}-starport-layer-bucket"
        remedy = f"let the policy of this network's VPC endpoint for S3 allow s3:GetObject on {bucket}/*"
    raise CannotRunError(
        f"the download of {blob.digest} of {image.uri} failed with HTTP status {status}", remedy
    )
