"""Waits for endpoints in progress: SageMaker refuses their updates and deletions until it has finished."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS, described_endpoint
from triton_fleet.awsapi.errors import answered_at
from triton_fleet.awsapi.stack import pauses
from triton_fleet.context.rollout import steps
from triton_fleet.context.traffic import shown_seconds
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
    pause, seconds, last_status = threading.Event(), pauses(), ""
    description = begin = described_endpoint(sagemaker, name)
    if begin is None:
        return
    while description is not None and (status := description["EndpointStatus"]) in STATUSES_IN_PROGRESS:
        if answered_at(description) - answered_at(begin) >= MAX_WAIT:
            raise CannotRunError(
                f"the endpoint {name} is still {status} after {_minutes(MAX_WAIT)} minutes, and SageMaker"
                " refuses to update or delete it meanwhile",
                _remedy(access.deployment.region, name),
            )
        if status != last_status:
            limit = f"at most {_minutes(MAX_WAIT)} minutes"
            notice(f"the endpoint {name} is {status}: waiting until SageMaker has finished, {limit}")
            last_status = status
        pause.wait(next(seconds))
        description = described_endpoint(sagemaker, name)


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
        self._calls, self._last_status = 0, ""

    def __call__(self, output: str) -> None:
        """Look at the CDK's output so far; ask for the endpoint at every twentieth call within the guard."""
        events = GUARD_EVENT.findall(output)
        if not events or not events[-1].endswith("_IN_PROGRESS"):
            return
        self._calls += 1
        if self._calls % 20 != 1:
            return
        with suppress(ClientError):
            description = described_endpoint(self._sagemaker, self._name)
            status = description["EndpointStatus"] if description is not None else ""
            if status in STATUSES_IN_PROGRESS and status != self._last_status:
                self._notice(f"the endpoint {self._name} is {status}: its scaling guard waits for it")
                self._last_status = status


def _minutes(time: timedelta) -> int:
    return time // timedelta(minutes=1)


def _remedy(region: str, name: str) -> str:
    activities = "aws application-autoscaling describe-scaling-activities --service-namespace sagemaker"
    return (
        f"find what changes it (`{activities} --region {region}`, and"
        f" `aws sagemaker describe-endpoint --region {region} --endpoint-name {name}`);"
        " run the command again when it is InService"
    )


def configuration_to_replace(access: Access, endpoint: ResolvedEndpoint | None) -> str:
    """The configuration that an endpoint runs before its deploy.

    Empty where no wait of a rollout is skipped: on AWS, for Foundation (None), without a rollout, and if the
    endpoint does not exist.

    Raises:
        ClientError: access is denied.
    """
    if endpoint is None or endpoint.rollout is None or not access.is_local_fleet:
        return ""
    description = described_endpoint(access.client("sagemaker"), endpoint.name)
    return description["EndpointConfigName"] if description is not None else ""


def skipped_waits(access: Access, endpoint: ResolvedEndpoint | None, previous_config: str) -> str:
    """How long the rollout that replaced a configuration would have waited on AWS; empty without a rollout.

    Raises:
        ClientError: access is denied.
    """
    if not previous_config or configuration_to_replace(access, endpoint) in ("", previous_config):
        return ""
    return "" if endpoint is None else rollout_waits(endpoint)


def rollout_waits(endpoint: ResolvedEndpoint) -> str:
    """The waits of an endpoint's rollout on AWS, as a clause; empty if it has none."""
    rollout, settings = endpoint.rollout, endpoint.spec.rollout
    if rollout is None or settings is None:
        return ""
    count, waits = steps(endpoint.spec, settings), list[str]()
    if rollout.bake:
        waits.append(f"bake {f'{count} × ' if count > 1 else ''}{shown_seconds(rollout.bake)}")
    if rollout.termination_wait:
        waits.append(f"keep the old fleet for {shown_seconds(rollout.termination_wait)}")
    return f"on AWS it would {' and '.join(waits)}" if waits else ""
