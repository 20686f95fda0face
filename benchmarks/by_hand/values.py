"""What is known of an endpoint before its stack is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FILE = "values.json"
"""In a fleet's folder: the values of each of its endpoints."""
VARIANT = "AllTraffic"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The values of one endpoint, as they stand in the template; times in seconds."""

    name: str
    environment: str
    stack: str
    account: str
    region: str
    bucket: str
    image: str
    image_arn: str
    mode: str
    model_data_url: str
    variables: Mapping[str, str]
    instance_type: str
    instance_count: int
    gpus: int
    vcpus: int
    ami: str | None
    download_timeout: int
    startup_timeout: int
    namespace: str | None
    log_groups: list[str]
    tags: Mapping[str, str]
    guard: str
    logs: str
    check: str
    samples: str
    warm: list[str]
    scaling: Mapping[str, Any] | None
    rollout: Mapping[str, Any] | None
    alarms: Sequence[Mapping[str, Any]]
    thresholds: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    queries: Mapping[str, str]
    last_errors: str
