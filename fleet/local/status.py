"""What runs locally, asked of the supervisor and of the embedded AWS."""

from __future__ import annotations

import json
from dataclasses import dataclass

import urllib3

from fleet.findings import CannotRunError
from fleet.local.state import Supervisor

STATUS = "/_fleet/status"


@dataclass(frozen=True, kw_only=True)
class ServedEndpoint:
    """One endpoint as its host reports it."""

    endpoint: str
    configuration: str
    state: str
    restarts: int
    differences: list[str]


@dataclass(frozen=True, kw_only=True)
class Status:
    """The endpoints that are served, and the resources that the embedded AWS does not host."""

    endpoints: list[ServedEndpoint]
    skipped: list[str]


def ask_status(supervisor: Supervisor) -> Status:
    """The status of the local fleet.

    Raises:
        CannotRunError: it does not answer.
    """
    try:
        answer = urllib3.request("GET", f"{supervisor.url}{STATUS}", timeout=10.0, retries=False)
    except urllib3.exceptions.HTTPError as error:
        problem = f"the local fleet (process {supervisor.pid}) does not answer: {error}"
        raise CannotRunError(problem, "run `fleet local down`, then `fleet local up`") from error
    said = json.loads(answer.data)
    return Status(
        endpoints=[ServedEndpoint(**served) for served in said["endpoints"]], skipped=said["skipped"]
    )
