"""S3's checksums: read from a request, computed, compared; of a whole object, or of its parts' checksums.

Source: Amazon S3 User Guide, "Checking object integrity" with its full object and composite checksum types,
and botocore's model of PutObject, UploadPart and CompleteMultipartUpload. CRC32, SHA1 and SHA256 are
computed; no library here computes the others: they are kept as they were given.
"""

from __future__ import annotations

import binascii
import hashlib
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from botocore.model import StringShape
from botocore.session import Session
from moto.s3.exceptions import S3ClientError

FULL_OBJECT, COMPOSITE = "FULL_OBJECT", "COMPOSITE"
ALGORITHM, TYPE, SDK_ALGORITHM = (
    "x-amz-checksum-algorithm",
    "x-amz-checksum-type",
    "x-amz-sdk-checksum-algorithm",
)
SIZES = {"CRC32": 4, "SHA1": 20, "SHA256": 32}
"""Bytes of the checksums that are computed here."""
_TRAILER = re.compile(rb"x-amz-checksum-([0-9a-z]+):([0-9A-Za-z+/=]+)")
_MAX_TRAILER = 512
_ONLY_FULL_OBJECT = "CRC64NVME"


@dataclass(frozen=True)
class Checksum:
    """A checksum as headers have it: base64; a composite one has the number of parts behind a dash."""

    algorithm: str
    value: str

    @property
    def header(self) -> str:
        """The header that carries it."""
        return _header(self.algorithm)

    @property
    def plain(self) -> str:
        """Algorithm and value without the number of parts, which a request may leave out."""
        return f"{self.algorithm} {self.value.partition('-')[0]}"


def _header(algorithm: str) -> str:
    return f"x-amz-checksum-{algorithm.lower()}"


@cache
def algorithms() -> tuple[str, ...]:
    """All algorithms of S3, as botocore's service model lists them."""
    shape = Session().get_service_model("s3").shape_for("ChecksumAlgorithm")
    assert isinstance(shape, StringShape)  # noqa: S101 (a string with an enum, in every version of botocore)
    return tuple(shape.enum)


def digest(algorithm: str, blocks: Iterable[bytes]) -> bytes:
    """The checksum of a content; KeyError for an algorithm that is not among SIZES."""
    if algorithm == "CRC32":
        crc = 0
        for block in blocks:
            crc = zlib.crc32(block, crc)
        return crc.to_bytes(4, "big")
    sha = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256}[algorithm](usedforsecurity=False)
    for block in blocks:
        sha.update(block)
    return sha.digest()


def compute_checksum(algorithm: str, blocks: Iterable[bytes]) -> Checksum | None:
    """The checksum of a content, None where it cannot be computed here."""
    return Checksum(algorithm, b64encode(digest(algorithm, blocks)).decode()) if algorithm in SIZES else None


def request_checksum(headers: Mapping[str, str], body: bytes = b"") -> Checksum | None:
    """The checksum that a request gives in a header, or behind its body as a trailer.

    Raises:
        S3ClientError: there is an algorithm without a checksum, or what is given is none.
    """
    checksums = {name: headers[_header(name)] for name in algorithms() if _header(name) in headers}
    if not checksums and "x-amz-trailer" in headers:
        trailers = _TRAILER.findall(body[-_MAX_TRAILER:])
        checksums = {name.decode().upper(): value.decode() for name, value in trailers}
    if not checksums:
        if SDK_ALGORITHM in headers:
            raise S3ClientError(
                "InvalidRequest",
                f"{SDK_ALGORITHM} specified, but no corresponding x-amz-checksum-* or x-amz-trailer "
                "headers were found.",
            )
        return None
    if len(checksums) > 1:
        message = "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."
        raise S3ClientError("InvalidRequest", message)
    return _parse_checksum(*checksums.popitem())


def _parse_checksum(algorithm: str, value: str) -> Checksum:
    # A composite checksum may be given with the number of parts.
    base64_text = value.partition("-")[0]
    try:
        size = len(b64decode(base64_text, validate=True))
    except binascii.Error:
        size = -1
    if size != SIZES.get(algorithm, size) or size < 0:
        raise S3ClientError("InvalidRequest", f"Value for {_header(algorithm)} header is invalid.")
    return Checksum(algorithm, value)


def compare(checksum: Checksum, blocks: Iterable[bytes]) -> None:
    """Compare the checksum of a request with its content.

    Raises:
        S3ClientError: BadDigest.
    """
    if compute_checksum(checksum.algorithm, blocks) not in (None, checksum):
        raise bad_digest(checksum.algorithm)


def bad_digest(algorithm: str) -> S3ClientError:
    """S3's refusal of content that does not match the request's checksum."""
    return S3ClientError("BadDigest", f"The {algorithm} you specified did not match the calculated checksum.")


def algorithm_and_type(headers: Mapping[str, str]) -> tuple[str, str]:
    """The algorithm and type of a CreateMultipartUpload; both "" when it names none.

    Raises:
        S3ClientError: InvalidRequest, the two do not go together.
    """
    algorithm = headers.get(ALGORITHM, "").upper()
    requested_type = headers.get(TYPE, "").upper()
    if not algorithm:
        if requested_type:
            text = "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header."
            raise S3ClientError("InvalidRequest", text)
        return "", ""
    kind = requested_type or (FULL_OBJECT if algorithm == _ONLY_FULL_OBJECT else COMPOSITE)
    impossible = algorithm == _ONLY_FULL_OBJECT if kind == COMPOSITE else not algorithm.startswith("CRC")
    if impossible:
        text = f"The {kind} checksum type cannot be used with the {algorithm.lower()} checksum algorithm."
        raise S3ClientError("InvalidRequest", text)
    return algorithm, kind


def composite(algorithm: str, parts: Iterable[str | None]) -> Checksum | None:
    """The checksum of the parts' checksums, with their number; None where it cannot be computed here."""
    values = list(parts)
    if algorithm not in SIZES or None in values:
        return None
    content = digest(algorithm, (b64decode(value) for value in values if value is not None))
    return Checksum(algorithm, f"{b64encode(content).decode()}-{len(values)}")
