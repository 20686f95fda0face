"""Waits for endpoints in progress: SageMaker refuses their updates and deletions until it has finished."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from fleet.aws.access import Access
from fleet.aws.api.clock import answered_at
from fleet.aws.api.describe import STATUSES_IN_PROGRESS, described_endpoint
from fleet.aws.api.stack import pauses
from fleet.findings import CannotRunError

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
                _remedy(access.place.region, name),
            )
        if status != shown:
            limit = f"at most {_minutes(MAX_WAIT)} minutes"
            notice(f"the endpoint {name} is {status}: waiting until SageMaker has finished, {limit}")
            shown = status
        pause.wait(next(seconds))
        found = described_endpoint(sagemaker, name)


def _minutes(time: timedelta) -> int:
    return time // timedelta(minutes=1)


def _remedy(region: str, name: str) -> str:
    activities = "aws application-autoscaling describe-scaling-activities --service-namespace sagemaker"
    return (
        f"find what changes it (`{activities} --region {region}`, and"
        f" `aws sagemaker describe-endpoint --region {region} --endpoint-name {name}`);"
        " run the command again when it is InService"
    )
