"""Stores a variant's scaling in S3 while the guard has suspended it."""

from __future__ import annotations

from typing import Any

from .scaling import Scaling
from .variant import Variant


class _StoredObject:
    """One object in S3, replaced as a whole."""

    def __init__(self, s3: Any, bucket: str, key: str) -> None:
        self._s3, self._place = s3, {"Bucket": bucket, "Key": key}

    def __str__(self) -> str:
        return "s3://{Bucket}/{Key}".format_map(self._place)

    def read(self) -> bytes | None:
        """Its content, or None if it does not exist."""
        return bytes(self._s3.get_object(**self._place)["Body"].read()) if self._exists() else None

    def write(self, content: bytes, content_type: str) -> None:
        """Replace it."""
        self._s3.put_object(**self._place, Body=content, ContentType=content_type)

    def delete(self) -> bool:
        """Delete it; False if it does not exist."""
        if not self._exists():
            return False
        self._s3.delete_object(**self._place)
        return True

    def _exists(self) -> bool:
        """List the key: GetObject of an absent one is "access denied" without permission to list all keys."""
        bucket, key = self._place["Bucket"], self._place["Key"]
        page = self._s3.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
        return any(entry["Key"] == key for entry in page.get("Contents", []))


class BackupStore:
    """The scaling in s3://BUCKET/scaling-guard/ENDPOINT/VARIANT.json."""

    def __init__(self, s3: Any, bucket: str, variant: Variant) -> None:
        self._object = _StoredObject(s3, bucket, f"scaling-guard/{variant.endpoint}/{variant.name}.json")

    def __str__(self) -> str:
        return str(self._object)

    def load(self) -> Scaling | None:
        """The scaling that is saved, or None."""
        content = self._object.read()
        return None if content is None else Scaling.from_json(content)

    def save(self, scaling: Scaling) -> None:
        """Replace the scaling that is saved."""
        self._object.write(scaling.to_json().encode(), "application/json")
        print(f"Saved in {self}: {scaling}")

    def delete(self) -> None:
        """Delete the scaling that is saved, if one is."""
        if self._object.delete():
            print(f"Deleted {self}")


class Looks:
    """The looks of a deletion since the endpoint was gone: s3://BUCKET/scaling-guard/ENDPOINT/VARIANT.looks.

    The framework calls each look with the same event; counted looks need no clock.
    """

    def __init__(self, s3: Any, bucket: str, variant: Variant) -> None:
        self._object = _StoredObject(s3, bucket, f"scaling-guard/{variant.endpoint}/{variant.name}.looks")

    def count(self) -> int:
        """Count this look; the number of looks with it."""
        count = 1 + int(self._object.read() or 0)
        self._object.write(str(count).encode(), "text/plain")
        return count

    def delete(self) -> None:
        """Delete the count."""
        self._object.delete()
