"""The scaling of a variant that was taken aside, in S3."""

from __future__ import annotations

from typing import Any

from .scaling import Scaling
from .variant import Variant


class Saved:
    """One object: s3://BUCKET/scaling-guard/ENDPOINT/VARIANT.json; S3 has no older version of what is put."""

    def __init__(self, s3: Any, bucket: str, variant: Variant) -> None:
        self._s3 = s3
        self._bucket = bucket
        self._key = f"scaling-guard/{variant.endpoint}/{variant.name}.json"

    def __str__(self) -> str:
        return f"s3://{self._bucket}/{self._key}"

    def load(self) -> Scaling | None:
        """What is saved, or None."""
        if not self._exists():
            return None
        answer = self._s3.get_object(Bucket=self._bucket, Key=self._key)
        return Scaling.from_json(answer["Body"].read())

    def save(self, scaling: Scaling) -> None:
        """Replace what is saved."""
        body = scaling.to_json().encode()
        self._s3.put_object(Bucket=self._bucket, Key=self._key, Body=body, ContentType="application/json")
        print(f"Saved in {self}: {scaling}")

    def forget(self) -> None:
        """Delete what is saved, if anything is."""
        if self._exists():
            self._s3.delete_object(Bucket=self._bucket, Key=self._key)
            print(f"Deleted {self}")

    def _exists(self) -> bool:
        """Asked by listing: GetObject of an absent key is "access denied" to who may not list all keys."""
        found = self._s3.list_objects_v2(Bucket=self._bucket, Prefix=self._key, MaxKeys=1)
        return any(each["Key"] == self._key for each in found.get("Contents", []))


class Looks:
    """How often a deletion has looked since the endpoint was gone: s3://BUCKET/scaling-guard/ENDPOINT/VARIANT.looks.

    The framework calls each look with the same event; counted looks need no clock.
    """

    def __init__(self, s3: Any, bucket: str, variant: Variant) -> None:
        self._s3 = s3
        self._object = {"Bucket": bucket, "Key": f"scaling-guard/{variant.endpoint}/{variant.name}.looks"}

    def count(self) -> int:
        """How many there are with this one."""
        bucket, key = self._object["Bucket"], self._object["Key"]
        is_counted = "Contents" in self._s3.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
        count = 1 + (int(self._s3.get_object(**self._object)["Body"].read()) if is_counted else 0)
        self._s3.put_object(**self._object, Body=str(count).encode(), ContentType="text/plain")
        return count

    def forget(self) -> None:
        """Delete the count."""
        self._s3.delete_object(**self._object)
