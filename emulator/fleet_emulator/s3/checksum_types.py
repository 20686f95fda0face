"""Of what a multipart object's checksum is: of its whole content, or of its parts' checksums.

Source: Amazon S3 User Guide, "Checking object integrity", full object and composite checksum types.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping

from moto.s3.exceptions import S3ClientError

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import COMPOSITE, FULL_OBJECT, Checksum

_ONLY_FULL_OBJECT = "CRC64NVME"


def algorithm_and_type(headers: Mapping[str, str]) -> tuple[str, str]:
    """What CreateMultipartUpload asks for; both "" when it asks for none.

    Raises:
        S3ClientError: InvalidRequest, the two do not go together.
    """
    algorithm = headers.get(checksums.ALGORITHM, "").upper()
    asked = headers.get(checksums.TYPE, "").upper()
    if not algorithm:
        if asked:
            text = "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header."
            raise S3ClientError("InvalidRequest", text)
        return "", ""
    wanted = asked or (FULL_OBJECT if algorithm == _ONLY_FULL_OBJECT else COMPOSITE)
    impossible = algorithm == _ONLY_FULL_OBJECT if wanted == COMPOSITE else not algorithm.startswith("CRC")
    if impossible:
        text = f"The {wanted} checksum type cannot be used with the {algorithm.lower()} checksum algorithm."
        raise S3ClientError("InvalidRequest", text)
    return algorithm, wanted


def composite(algorithm: str, parts: Iterable[str | None]) -> Checksum | None:
    """The checksum of the parts' checksums, with their number; None where it cannot be computed here."""
    values = list(parts)
    if algorithm not in checksums.SIZES or None in values:
        return None
    digest = checksums.digest(algorithm, (b64decode(value) for value in values if value is not None))
    return Checksum(algorithm, f"{b64encode(digest).decode()}-{len(values)}")
