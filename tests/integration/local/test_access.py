"""The local fleet is reached whatever the user's own AWS settings and proxies are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.embedded_keys import KEYS
from triton_fleet.aws.deploy.failures import deploy_failure
from triton_fleet.awsapi.emulator import local_session, local_variables
from triton_fleet.catalog.images import partition_of
from triton_fleet.findings import CannotRunError
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.status import ask_status
from triton_fleet.spec.deployment import Deployment

DEPLOYMENT = Deployment(
    environment="local",
    account="210987654321",
    region="us-east-1",
    partition=partition_of("us-east-1"),
    tags={},
)


SUPERVISOR = Supervisor(
    pid=1, url="http://127.0.0.1:9", account=DEPLOYMENT.account, region=DEPLOYMENT.region, keys=KEYS
)


class Buckets(BaseHTTPRequestHandler):
    """Answers ListBuckets."""

    def do_GET(self) -> None:
        body = b"<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Buckets)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def odd_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile that does not exist, and a proxy that nobody answers at."""
    monkeypatch.setenv("AWS_PROFILE", "nope")
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


@pytest.mark.usefixtures("odd_settings")
def test_a_session_reads_no_profile_and_no_proxy(url: str) -> None:
    assert local_session("us-east-1", KEYS).client("s3", endpoint_url=url).list_buckets()["Buckets"] == []


@pytest.mark.usefixtures("odd_settings")
def test_a_process_is_started_without_them(url: str) -> None:
    code = f"import boto3; print(boto3.client('s3', endpoint_url={url!r}).list_buckets()['Buckets'])"
    variables = local_variables(os.environ, region="us-east-1", url=url, keys=KEYS)
    process = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    assert process.stdout == "[]\n"


def test_nobody_runs_it_once_its_process_is_gone(tmp_path: Path) -> None:
    state = LocalState(tmp_path)
    with state.hold_lock(threading.Event()):
        state.announce(SUPERVISOR)
        assert state.supervisor() == SUPERVISOR
    state.announce(SUPERVISOR)
    assert state.supervisor() is None


def test_a_process_that_nobody_can_find_any_more_learns_it_and_leaves_its_successor_alone(
    tmp_path: Path,
) -> None:
    state, stop = LocalState(tmp_path), threading.Event()
    with ExitStack() as successor:
        with state.hold_lock(stop) as can_be_found:
            assert can_be_found()
            shutil.rmtree(tmp_path / ".fleet")
            assert not can_be_found()
            assert not (tmp_path / ".fleet").exists()
            successor.enter_context(state.hold_lock(stop))
            state.announce(SUPERVISOR)
            assert not can_be_found()
        assert state.supervisor() == SUPERVISOR


def test_a_second_process_gives_up_when_it_is_told_to_stop(tmp_path: Path) -> None:
    state, stop = LocalState(tmp_path), threading.Event()
    stop.set()
    with (
        state.hold_lock(threading.Event()),
        pytest.raises(CannotRunError, match="another process has locked the local fleet"),
        state.hold_lock(stop),
    ):
        raise AssertionError("two processes run the local fleet")


def test_looking_whether_it_runs_makes_no_folder(tmp_path: Path) -> None:
    assert LocalState(tmp_path).supervisor() is None
    assert LocalState(tmp_path).logs() == {}
    assert list(tmp_path.iterdir()) == []


def test_looking_whether_it_runs_never_keeps_it_from_starting(tmp_path: Path) -> None:
    state, stop = LocalState(tmp_path), threading.Event()

    def look() -> None:
        while not stop.is_set():
            state.supervisor()

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(100):
        with state.hold_lock(threading.Event()) as can_be_found:
            assert can_be_found()
    stop.set()
    thread.join()


def test_a_supervisor_that_does_not_answer_is_told_with_its_process() -> None:
    with pytest.raises(CannotRunError, match=r"\(process 7\) does not answer"):
        ask_status(replace(SUPERVISOR, pid=7))


LOGS = "cdk.log has all of it"


class Events:
    """Stands in for CloudFormation with a history of events, newest first."""

    def __init__(self, *events: tuple[str, str, str]) -> None:
        self.events = events

    def get_paginator(self, _operation: str) -> Events:
        return self

    def paginate(self, StackName: str) -> Iterator[dict[str, Any]]:
        """Each event on a page of its own."""
        for number, (index, status, reason) in enumerate(self.events):
            event = {
                "EventId": f"event-{number}",
                "StackId": "stack",
                "PhysicalResourceId": index,
                "ResourceType": "AWS::X",
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
            }
            yield {"StackEvents": [event]}


def test_a_failure_is_told_by_the_resources_of_the_last_deploy_alone() -> None:
    history: Any = Events(
        ("role", "UPDATE_FAILED", "Resource update cancelled"),
        ("endpoint", "UPDATE_FAILED", "no version directory"),
        ("stack", "UPDATE_IN_PROGRESS", "User Initiated"),
        ("endpoint", "UPDATE_FAILED", "of last week"),
    )
    assert str(deploy_failure(history, "s", "", LOGS)).count("AWS::X of s: no version directory") == 1
    assert "cancelled" not in str(deploy_failure(history, "s", "", LOGS))
    assert "of last week" not in str(deploy_failure(history, "s", "", LOGS))


def test_what_failed_before_a_deploy_that_began_nothing_is_not_reported_as_its_failure() -> None:
    history: Any = Events(
        ("endpoint", "UPDATE_FAILED", "of last week"), ("stack", "UPDATE_IN_PROGRESS", "User Initiated")
    )
    assert "of last week" in str(deploy_failure(history, "s", "no change set", LOGS))
    failure = deploy_failure(history, "s", "no change set", LOGS, since="event-0")
    assert isinstance(failure, CannotRunError)
    assert failure.problem.endswith("no change set")


@pytest.mark.parametrize(
    ("is_created", "words"),
    [
        (False, "what was served before is still served"),
        (True, "nothing was deployed before; the stack was rolled back"),
    ],
)
def test_a_failure_tells_what_is_served_now(is_created: bool, words: str) -> None:
    history: Any = Events(("x", "CREATE_FAILED", "no"), ("stack", "CREATE_IN_PROGRESS", "User Initiated"))
    assert f"{words}; {LOGS}" in str(deploy_failure(history, "s", "", LOGS, is_new=is_created))


@pytest.mark.parametrize(
    "reason",
    [
        "Received response status [FAILED] from custom resource. Message returned: Error: It is wrong.\n\nLogs:"
        " /aws/lambda/f\n\n    at invoke (/var/task/framework.js:2:6)\n (RequestId: 1a-2b)",
        "Received response status [FAILED] from custom resource. Message returned: It is wrong. (RequestId: 1a)",
    ],
)
def test_a_function_that_fails_a_deploy_is_told_in_its_own_words(reason: str) -> None:
    history: Any = Events(("x", "UPDATE_FAILED", reason), ("stack", "UPDATE_IN_PROGRESS", "User Initiated"))
    (finding,) = deploy_failure(history, "s", "", LOGS).findings  # type: ignore[union-attr]
    assert finding.message == "AWS::X of s: It is wrong."


@pytest.mark.parametrize(
    "reason",
    [
        "Unable to fetch parameters [/triton-fleet/dev/alarm-topic/warning] from parameter store for this account.",
        "Function not found: arn:aws:lambda:us-east-1:111122223333:function:triton-fleet-dev-endpoint-check",
    ],
)
def test_what_foundation_lacks_is_told_with_its_remedy(reason: str) -> None:
    history: Any = Events(("x", "UPDATE_FAILED", reason), ("stack", "UPDATE_IN_PROGRESS", "User Initiated"))
    assert "Foundation is older than the specs: deploy it first" in str(
        deploy_failure(history, "s", "", LOGS)
    )


def test_a_change_set_that_is_refused_for_a_topic_of_foundation_has_its_remedy_and_no_older_failure() -> None:
    history: Any = Events(("x", "UPDATE_FAILED", "old"), ("stack", "UPDATE_IN_PROGRESS", "User Initiated"))
    output = (
        "ValidationError: Unable to fetch parameters [/triton-fleet/dev/alarm-topic/search/critical] from"
        " parameter store for this account."
    )
    failure = deploy_failure(history, "s", output, LOGS)
    assert isinstance(failure, CannotRunError)
    assert "Foundation is older than the specs: deploy it first" in str(failure)
    assert "old" not in str(failure).replace("older", "")


def test_a_failure_without_a_failed_resource_is_told_by_the_clis_last_lines() -> None:
    history: Any = Events(
        ("stack", "UPDATE_IN_PROGRESS", "User Initiated"), ("endpoint", "UPDATE_FAILED", "old")
    )
    failure = deploy_failure(history, "s", "one\ntwo [/x]\n", LOGS)
    assert isinstance(failure, CannotRunError)
    assert failure.problem.endswith("one\ntwo [/x]")
    assert failure.remedy == LOGS
