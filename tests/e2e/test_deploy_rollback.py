"""A stack whose rollback has stopped: told with what its endpoint runs, and continued where nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import aws_cli_stand_in
from fleet.aws.access import Access, embedded_access
from fleet.aws.failed_rollback import FailedRollback, failed_rollback
from fleet.aws.stack import LiveStack, find_stack
from fleet.aws.stack_ready import ready_stack
from fleet.findings import CannotRunError
from fleet.local.aws.server import EmbeddedAws
from tests.e2e.embedded_app.host import RecordingHost
from tests.e2e.embedded_app.stacks import TOPIC, Stacks, absent_model, endpoint
from tests.e2e.test_deploy_states import PLACE, refusing


@pytest.fixture
def access(aws: EmbeddedAws) -> Access:
    return embedded_access(PLACE, aws.url)


def found(access: Access, name: str) -> FailedRollback:
    stack = find_stack(access.client("cloudformation"), name)
    assert stack is not None
    return failed_rollback(access, stack)


def back_by_itself(stacks: Stacks, host: RecordingHost, name: str) -> None:
    """SageMaker has called an update back."""
    stacks.create(name, endpoint(name))
    host.failure = "no capacity"
    assert stacks.update(name, endpoint(name, image="new")) == "UPDATE_ROLLBACK_FAILED"
    host.failure = ""


def lost(stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The endpoint serves the new configuration, and the old one does not come up any more."""
    stacks.create(name, endpoint(name))
    monkeypatch.setattr(host, "serve", fails_from_the_second(host))
    broken: dict[str, Any] = {**endpoint(name, image="new"), "Broken": absent_model(), "Topic": TOPIC}
    broken["Broken"]["DependsOn"] = ["Endpoint", "Topic"]
    assert stacks.update(name, broken) == "UPDATE_ROLLBACK_FAILED"
    monkeypatch.undo()
    host.failure = ""


def fails_from_the_second(host: RecordingHost) -> Callable[[Any], None]:
    serve = host.serve

    def serve_once(deployed: Any) -> None:
        serve(deployed)
        host.failure = "the GPU is gone"

    return serve_once


def test_an_endpoint_that_is_back_is_told_with_the_command_that_skips_it(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "back")
    runs = access.client("sagemaker").describe_endpoint(EndpointName="back")["EndpointConfigName"]
    asked = list[str]()

    def disagree(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(CannotRunError) as told:
        ready_stack(access, "back", disagree)
    assert f"back is InService with the configuration {runs}, the one from before" in told.value.problem
    command = "aws cloudformation continue-update-rollback --stack-name back --resources-to-skip Endpoint"
    assert command in told.value.remedy
    assert asked[0].endswith("Continue its rollback without Endpoint?")
    assert stacks.status("back") == "UPDATE_ROLLBACK_FAILED"


def test_it_is_continued_where_that_is_agreed_to(access: Access, stacks: Stacks, host: RecordingHost) -> None:
    back_by_itself(stacks, host, "agreed")
    ready = ready_stack(access, "agreed", lambda _: True)
    assert isinstance(ready, LiveStack)
    assert ready.status == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.update("agreed", endpoint("agreed", image="newer")) == "UPDATE_COMPLETE"


def test_the_command_that_is_told_continues_it(
    access: Access, aws: EmbeddedAws, stacks: Stacks, host: RecordingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    back_by_itself(stacks, host, "typed")
    program, *words = found(access, "typed").command.split()
    assert program == "aws"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in access.cdk_environment.items():
            patch.setenv(name, value)
        aws_cli_stand_in.run(words, url=aws.url, region=PLACE.region)
    assert capsys.readouterr().err == ""
    assert stacks.settled("typed") == "UPDATE_ROLLBACK_COMPLETE"


def test_an_endpoint_that_runs_something_else_is_never_skipped(
    access: Access, stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost(stacks, host, monkeypatch, "lost")
    with pytest.raises(CannotRunError) as told:
        ready_stack(access, "lost", refusing)
    stopped = found(access, "lost")
    assert stopped.endpoint is not None
    assert f"and CloudFormation wanted {stopped.endpoint.wanted}" in told.value.problem
    assert "nothing is skipped: bring it back (`aws sagemaker update-endpoint" in told.value.remedy


def test_an_endpoint_that_was_brought_back_by_hand_is_skipped(
    access: Access, stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost(stacks, host, monkeypatch, "by-hand")
    stopped = found(access, "by-hand")
    assert stopped.endpoint is not None
    assert stopped.endpoint.wanted is not None
    access.client("sagemaker").update_endpoint(
        EndpointName="by-hand", EndpointConfigName=stopped.endpoint.wanted
    )
    ready = ready_stack(access, "by-hand", lambda _: True)
    assert ready is not None
    assert ready.status == "UPDATE_ROLLBACK_COMPLETE"


def test_an_endpoint_that_was_deleted_is_not_skipped(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "gone")
    access.client("sagemaker").delete_endpoint(EndpointName="gone")
    with pytest.raises(CannotRunError, match="there is no endpoint gone any more"):
        ready_stack(access, "gone", refusing)
