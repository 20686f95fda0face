"""Waits for endpoints in progress: SageMaker refuses their updates and deletions until it has finished."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.clock import answered_at
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS, described_endpoint
from triton_fleet.awsapi.stack import pauses
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError

GUARD_EVENT = re.compile(r"\| (\w+) \| Custom::ScalingGuard \| \S*Before ")
"""An event of the step of the scaling guard that waits, as the CDK's toolkit 1.43 prints it."""
MAX_WAIT = timedelta(hours=1)
"""An instance may take a quarter of an hour to start, and scaling may begin again."""


def await_endpoint(access: Access, name: str, notice: Callable[[str], None]) -> None:
    """Wait until SageMaker takes changes of an endpoint; an endpoint that does not exist needs none.

    `notice` is called with each status that is waited for. Time is AWS's.

    Raises:
        CannotRunError: SageMaker is still changing it after `MAX_WAIT`.
        ClientError: access is denied.
    """
    sagemaker = access.client("sagemaker")
    pause, seconds, shown = threading.Event(), pauses(), ""
    found = begin = described_endpoint(sagemaker, name)
    if begin is None:
        return
    while found is not None and (status := found["EndpointStatus"]) in STATUSES_IN_PROGRESS:
        if answered_at(found) - answered_at(begin) >= MAX_WAIT:
            raise CannotRunError(
                f"the endpoint {name} is still {status} after {_minutes(MAX_WAIT)} minutes, and SageMaker"
                " refuses to update or delete it meanwhile",
                _remedy(access.deployment.region, name),
            )
        if status != shown:
            limit = f"at most {_minutes(MAX_WAIT)} minutes"
            notice(f"the endpoint {name} is {status}: waiting until SageMaker has finished, {limit}")
            shown = status
        pause.wait(next(seconds))
        found = described_endpoint(sagemaker, name)


class GuardWatch:
    """Shows for which statuses of an endpoint the scaling guard waits within a deploy of its stack.

    The guard waits at most 50 minutes, in CloudFormation, which shows a resource in progress meanwhile.
    """

    def __init__(
        self, access: Access, endpoint: ResolvedEndpoint | None, notice: Callable[[str], None]
    ) -> None:
        """Watch the deploy of an endpoint's stack; None for Foundation, which has no such step."""
        self._sagemaker, self._notice = access.client("sagemaker"), notice
        self._name = endpoint.name if endpoint is not None else ""
        self._calls, self._shown = 0, ""

    def __call__(self, output: str) -> None:
        """Look at the CDK's output so far; ask for the endpoint at every twentieth call within the guard."""
        events = GUARD_EVENT.findall(output)
        if not events or not events[-1].endswith("_IN_PROGRESS"):
            return
        self._calls += 1
        if self._calls % 20 != 1:
            return
        with suppress(ClientError):
            found = described_endpoint(self._sagemaker, self._name)
            status = found["EndpointStatus"] if found is not None else ""
            if status in STATUSES_IN_PROGRESS and status != self._shown:
                self._notice(f"the endpoint {self._name} is {status}: its scaling guard waits for it")
                self._shown = status


def _minutes(time: timedelta) -> int:
    return time // timedelta(minutes=1)


def _remedy(region: str, name: str) -> str:
    activities = "aws application-autoscaling describe-scaling-activities --service-namespace sagemaker"
    return (
        f"find what changes it (`{activities} --region {region}`, and"
        f" `aws sagemaker describe-endpoint --region {region} --endpoint-name {name}`);"
        " run the command again when it is InService"
    )
