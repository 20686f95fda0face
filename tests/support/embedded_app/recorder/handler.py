"""Handlers that do what the properties of a resource say; the embedded AWS runs them in its own process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import boto3

from .memory import remember, remembered_events

log = logging.getLogger(__name__)


def on_event(
    event: dict[str, Any],
    context: Any,
    client: Callable[..., Any] = boto3.client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any] | None:
    """Fail, or answer with the id and the data that the properties name."""
    properties = event["ResourceProperties"]
    print("asked for", event["RequestType"])
    remember(client("s3"), environ["BUCKET"], event)
    if properties.get("Fails") == event["RequestType"]:
        raise RuntimeError("the table is locked")
    if "Id" not in properties:
        return None
    physical_id = "another" if properties.get("Renames") == event["RequestType"] else properties["Id"]
    data = {"Greeting": environ.get("GREETING", "hello"), "Count": 3}
    return {"PhysicalResourceId": physical_id, "Data": data, "Ticket": "from on_event"}


def is_complete(
    event: dict[str, Any],
    context: Any,
    client: Callable[..., Any] = boto3.client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Be complete at the second look, or never."""
    bucket, records = environ["BUCKET"], {**event, "LogicalResourceId": f"Looks{event['LogicalResourceId']}"}
    remember(client("s3"), bucket, records)
    looks = remembered_events(client("s3"), bucket, records["LogicalResourceId"])
    if len(looks) < 2 or event["ResourceProperties"].get("Never") == event["RequestType"]:
        return {"IsComplete": False}
    return {"IsComplete": True, "Data": {"Looks": len(looks)}}


def describe(event: Any, context: Any, client: Any = boto3.client, environ: Any = os.environ) -> Any:
    """Facts of the call; a `fail` in the event fails, and a `wait` outlasts a second."""
    log.warning("described")
    if "fail" in event:
        raise ValueError(event["fail"])
    if "wait" in event:
        threading.Event().wait(10)
    remaining_time = context.get_remaining_time_in_millis()
    account = client("sts").get_caller_identity()["Account"]
    return {
        "event": event,
        "function": [context.function_name, context.invoked_function_arn],
        "request": context.aws_request_id,
        "remaining": remaining_time,
        "account": account,
        "environment": dict(environ),
        "host": "PATH" in environ,
    }
