"""Status of the local fleet, from the supervisor and the embedded AWS."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import urllib3

from triton_fleet.findings import CannotRunError
from triton_fleet.local.state import Supervisor

STATUS = "/_fleet/status"


@dataclass(frozen=True, kw_only=True)
class TargetModelStatus:
    """One target model: `loaded` or `on disk`, and the bytes that it takes of both."""

    target: str
    state: str
    memory: int
    disk: int


@dataclass(frozen=True, kw_only=True)
class EndpointStatus:
    """One endpoint as its host reports it; a multi-model one has models, and targets that had to leave.

    `log` is the name under which `fleet local logs` finds its log: unique among all accounts and regions.
    `missing_permissions` is what SageMaker would leave out as well, for want of a permission of its role, and
    `problems` is what is wrong with a Triton that answers.
    """

    endpoint: str
    account: str
    region: str
    log: str
    configuration: str
    state: str
    restarts: int
    differences: list[str]
    missing_permissions: list[str]
    problems: list[str] = field(default_factory=list)
    models: list[TargetModelStatus] = field(default_factory=list)
    evictions: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Status:
    """The endpoints that are served, and the resources that the embedded AWS does not host."""

    endpoints: list[EndpointStatus]
    skipped_resources: list[str]


def ask_status(supervisor: Supervisor) -> Status:
    """The status of the local fleet.

    Raises:
        CannotRunError: it does not answer.
    """
    try:
        answer = supervisor.ask("GET", STATUS, seconds=10.0)
    except urllib3.exceptions.HTTPError as error:
        problem = f"the local fleet (process {supervisor.pid}) does not answer: {error}"
        raise CannotRunError(problem, "run `fleet local down`, then `fleet local up`") from error
    report = json.loads(answer.data)
    endpoints = [_endpoint_status(**fields) for fields in report["endpoints"]]
    return Status(endpoints=endpoints, skipped_resources=report["skipped"])


def _endpoint_status(*, models: Sequence[dict[str, Any]] = (), **fields: Any) -> EndpointStatus:
    return EndpointStatus(models=[TargetModelStatus(**model) for model in models], **fields)
