"""Interruptions of `fleet deploy` at its steps, and the state of the account afterwards."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence

from tests.support.deploys import BUCKET, Deploys, action
from tests.support.faulty_s3 import Request

FOUNDATION, ENDPOINT = "triton-fleet-dev", "triton-fleet-dev-sentences"
COMPLETE = {"CDKToolkit": "CREATE_COMPLETE", FOUNDATION: "CREATE_COMPLETE", ENDPOINT: "CREATE_COMPLETE"}


def is_upload(request: Request) -> bool:
    return request.method == "PUT" and request.path.startswith(f"/{BUCKET}/archives/")


def is_release_listed(request: Request) -> bool:
    return request.method == "GET" and "prefix=releases" in request.path


Interruption = tuple[Callable[[Request], bool], signal.Signals, dict[str, str]]
INTERRUPTIONS: list[Interruption] = [
    (action("ExecuteChangeSet", "CDKToolkit"), signal.SIGTERM, {}),
    (
        action("CreateChangeSet", f"StackName={FOUNDATION}&"),
        signal.SIGKILL,
        {FOUNDATION: "REVIEW_IN_PROGRESS"},
    ),
    (is_upload, signal.SIGTERM, {FOUNDATION: "CREATE_COMPLETE"}),
    (
        action("ExecuteChangeSet", f"StackName={ENDPOINT}&"),
        signal.SIGKILL,
        {FOUNDATION: "CREATE_COMPLETE", ENDPOINT: "CREATE_COMPLETE"},
    ),
    (is_release_listed, signal.SIGKILL, {FOUNDATION: "CREATE_COMPLETE", ENDPOINT: "CREATE_COMPLETE"}),
]
"""A request at which it is interrupted, how, and the stacks that are there then beside the bootstrap's."""


def interrupt(account: Deploys, interruptions: Sequence[Interruption]) -> None:
    for request, number, stacks in interruptions:
        code, text = account.interrupt(request, number)
        assert code == (130 if number is signal.SIGTERM else -signal.SIGKILL), text
        assert ("not started" in text) is (number is signal.SIGTERM and ENDPOINT not in stacks), text
        account.settle()
        assert account.statuses() == {"CDKToolkit": "CREATE_COMPLETE", **stacks}
        assert account.keys("releases/sentences/") == []


def assert_empty_account(account: Deploys) -> None:
    assert account.statuses() == COMPLETE
    assert len(account.keys("releases/sentences/")) == 1
    assert account.client("s3").list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []
    for stack in COMPLETE:
        summaries = account.client("cloudformation").list_change_sets(StackName=stack)["Summaries"]
        assert [summary for summary in summaries if summary["ExecutionStatus"] == "AVAILABLE"] == []
    assert [len(account.keys(prefix)) for prefix in ("archives/", "endpoints/")] == [1, 1]
    sagemaker = account.client("sagemaker")
    assert len(sagemaker.list_models()["Models"]) == 1
    assert len(sagemaker.list_endpoint_configs()["EndpointConfigs"]) == 1
    assert len(account.host.served) == 1
