"""Where the handler remembers its events: an object for each, in their order."""

from __future__ import annotations

import json
import time
from typing import Any


def remember(s3: Any, bucket: str, event: dict[str, Any]) -> None:
    key = f"events/{event['LogicalResourceId']}/{time.monotonic_ns():020}.json"
    s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(event).encode())


def remembered_events(s3: Any, bucket: str, resource: str) -> list[dict[str, Any]]:
    contents = s3.list_objects_v2(Bucket=bucket, Prefix=f"events/{resource}/").get("Contents", [])
    bodies = [s3.get_object(Bucket=bucket, Key=content["Key"])["Body"] for content in contents]
    return [json.loads(body.read()) for body in bodies]
