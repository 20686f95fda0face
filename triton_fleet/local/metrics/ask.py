"""How a command asks the supervisor to publish what has collected."""

from __future__ import annotations

import urllib3

from triton_fleet.findings import CannotRunError
from triton_fleet.local.state import Supervisor

METRICS = "/_fleet/metrics"
SECONDS_TO_ANSWER = 30.0


def ask_to_publish(supervisor: Supervisor) -> None:
    """Return when the embedded CloudWatch has all that was measured until now.

    Raises:
        CannotRunError: the supervisor does not answer.
    """
    problem = f"the local fleet (process {supervisor.pid}) does not publish its metrics"
    remedy = "run `fleet local down`, then `fleet local up`"
    try:
        answer = supervisor.ask("POST", METRICS, seconds=SECONDS_TO_ANSWER)
    except urllib3.exceptions.HTTPError as error:
        raise CannotRunError(f"{problem}: {error}", remedy) from error
    if answer.status != 200:
        raise CannotRunError(f"{problem}: it answered {answer.status}", remedy)
