"""What a CompleteMultipartUpload expects of the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import xmltodict  # type: ignore[import-untyped]
from moto.s3.exceptions import InvalidPartOrder

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import Checksum


@dataclass(frozen=True, kw_only=True)
class Completion:
    """`size` in bytes; by number its parts' ETags and their checksums, "" where none is given."""

    size: int | None
    checksum: Checksum | None
    checksum_type: str
    etags: Mapping[int, str]
    checksums: Mapping[int, str]

    @classmethod
    def of(cls, headers: Mapping[str, str], body: bytes, algorithm: str) -> Completion:
        """Read a request; the upload's `algorithm` decides which of a part's checksums counts.

        Raises:
            S3ClientError: InvalidPartOrder (moto compares with 0 each time), or an invalid checksum.
        """
        size = headers.get("x-amz-mp-object-size")
        listed = xmltodict.parse(body, force_list=("Part",)) if body else {}
        parts: list[dict[str, Any]] = (listed.get("CompleteMultipartUpload") or {}).get("Part", [])
        numbers = [int(part["PartNumber"]) for part in parts]
        if any(after <= before for before, after in pairwise(numbers)):
            raise InvalidPartOrder
        return cls(
            size=None if size is None else int(size),
            checksum=checksums.request_checksum(headers),
            checksum_type=headers.get(checksums.TYPE, ""),
            etags={int(part["PartNumber"]): part["ETag"] for part in parts},
            checksums={int(part["PartNumber"]): part.get(f"Checksum{algorithm}") or "" for part in parts},
        )
