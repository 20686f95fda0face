"""A stack whose rollback has stopped: told with what its endpoint runs, and continued where nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.e2e.test_deploy_states import refuse_question
from tests.support import aws_cli_stand_in
from tests.support.deployment import DEPLOYMENT
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import TOPIC, Stacks, absent_model, endpoint
from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.failed_rollback import FailedRollback, failed_rollback
from triton_fleet.aws.deploy.stack_repair import ready_stack, with_failed_rollback
from triton_fleet.aws.preflight.stacks import stack_state_finding
from triton_fleet.awsapi.stack import LiveStack, find_stack
from triton_fleet.findings import CannotRunError, Finding, FindingsError


def rollback_failure(access: Access, name: str) -> FailedRollback:
    stack = find_stack(access.client("cloudformation"), name)
    assert stack is not None
    return failed_rollback(access, stack)


def back_by_itself(stacks: Stacks, host: RecordingHost, name: str) -> None:
    """SageMaker has called an update back."""
    stacks.create(name, endpoint(name))
    host.failure = "no capacity"
    assert stacks.update(name, endpoint(name, image="new")) == "UPDATE_ROLLBACK_FAILED"
    host.failure = ""


def lose_endpoint(stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The endpoint serves the new configuration, and the old one does not come up any more."""
    stacks.create(name, endpoint(name))
    monkeypatch.setattr(host, "serve", fails_from_the_second(host))
    broken_values: dict[str, Any] = {**endpoint(name, image="new"), "Broken": absent_model(), "Topic": TOPIC}
    broken_values["Broken"]["DependsOn"] = ["Endpoint", "Topic"]
    assert stacks.update(name, broken_values) == "UPDATE_ROLLBACK_FAILED"
    monkeypatch.undo()
    host.failure = ""


def fails_from_the_second(host: RecordingHost) -> Callable[[Any], None]:
    serve = host.serve

    def serve_first(deployed_value: Any) -> None:
        serve(deployed_value)
        host.failure = "the GPU is gone"

    return serve_first


def test_an_endpoint_that_is_back_is_told_with_the_commands_that_skip_it(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "back")
    runs = access.client("sagemaker").describe_endpoint(EndpointName="back")["EndpointConfigName"]
    request = list[str]()

    def disagree(question: str) -> bool:
        request.append(question)
        return False

    with pytest.raises(CannotRunError) as refusal:
        ready_stack(access, "back", disagree)
    assert f"back is InService with the configuration {runs}, the one from before" in refusal.value.problem
    command = (
        "aws cloudformation continue-update-rollback --region us-east-1 --stack-name back"
        " --resources-to-skip Endpoint"
    )
    assert command in refusal.value.remedy
    assert refusal.value.remedy.startswith("run `fleet deploy --env dev --yes back`, which continues it")
    assert request[0].endswith("Continue its rollback without Endpoint?")
    assert stacks.status("back") == "UPDATE_ROLLBACK_FAILED"


def test_it_is_continued_where_that_is_agreed_to(access: Access, stacks: Stacks, host: RecordingHost) -> None:
    back_by_itself(stacks, host, "agreed")
    ready = ready_stack(access, "agreed", lambda _: True)
    assert isinstance(ready.stack, LiveStack)
    assert ready.stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert (
        ready.continuation == "continued the rollback of agreed: it serves what it served before the update"
    )
    assert stacks.update("agreed", endpoint("agreed", image="newer")) == "UPDATE_COMPLETE"


def test_a_description_that_is_late_is_not_taken_for_another_failure(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "late")
    cloudformation = access.client("cloudformation")
    late = list[str]()

    def say_once_what_was(parsed: dict[str, Any], **_: Any) -> None:
        if late:
            parsed["Stacks"][0]["StackStatus"] = late.pop()

    events = cloudformation.meta.events
    events.register(
        "after-call.cloudformation.ContinueUpdateRollback", lambda **_: late.append("UPDATE_ROLLBACK_FAILED")
    )
    events.register("after-call.cloudformation.DescribeStacks", say_once_what_was)
    ready = ready_stack(access, "late", lambda _: True).stack
    assert ready is not None
    assert (ready.status, late) == ("UPDATE_ROLLBACK_COMPLETE", [])


class TestTheCauseOfAFailedDeploy:
    CAUSE = Finding(code="FL601", message="the GPU is gone")

    def test_it_is_told_beside_the_rollback(
        self, access: Access, stacks: Stacks, host: RecordingHost
    ) -> None:
        back_by_itself(stacks, host, "beside")
        error = with_failed_rollback(FindingsError([self.CAUSE]), access, "beside", lambda _: False)
        assert isinstance(error, FindingsError)
        assert [finding.code for finding in error.findings] == ["FL601", "FL607"]

    def test_it_is_told_where_the_rollback_cannot_be_looked_at(
        self, access: Access, stacks: Stacks, host: RecordingHost
    ) -> None:
        back_by_itself(stacks, host, "denied")
        error = with_failed_rollback(
            FindingsError([self.CAUSE]), denied_access(access), "denied", lambda _: True
        )
        assert isinstance(error, FindingsError)
        assert error.findings[0] == self.CAUSE
        assert "DescribeStackResources" in error.findings[1].message

    def test_a_command_that_could_not_run_stays_one(
        self, access: Access, stacks: Stacks, host: RecordingHost
    ) -> None:
        back_by_itself(stacks, host, "unrun")
        failure = CannotRunError("cdk deploy failed", "read the log")
        error = with_failed_rollback(failure, access, "unrun", lambda _: False)
        assert isinstance(error, CannotRunError)
        assert error.problem.startswith("cdk deploy failed\nthe stack unrun is in UPDATE_ROLLBACK_FAILED")
        assert error.remedy.startswith("read the log; ")


def denied_access(access: Access) -> Access:
    """The same, without the permission to look at a stack's resources."""

    def deny(**_: Any) -> None:
        error = {"Error": {"Code": "AccessDenied", "Message": "not authorized"}}
        raise ClientError(error, "DescribeStackResources")  # type: ignore[arg-type]

    events = access.client("cloudformation").meta.events
    events.register("before-call.cloudformation.DescribeStackResources", deny)
    return access


def test_preflight_names_the_stack_where_it_may_not_look_at_its_resources(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "unseen")
    stack = find_stack(access.client("cloudformation"), "unseen")
    assert stack is not None
    finding = stack_state_finding(
        denied_access(access),
        stack,
        lambda code, message, hint: Finding(code=code, message=message, hint=hint),
    )
    assert finding is not None
    assert (finding.code, "UPDATE_ROLLBACK_FAILED" in finding.message) == ("FL622", True)
    assert "(DescribeStackResources is denied)" in finding.hint


def test_the_command_that_is_told_continues_it(
    access: Access, aws: EmbeddedAws, stacks: Stacks, host: RecordingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    back_by_itself(stacks, host, "typed")
    program, *words = rollback_failure(access, "typed").command.split()
    assert program == "aws"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in access.cdk_environment.items():
            patch.setenv(name, value)
        aws_cli_stand_in.run(words, url=aws.url, region=DEPLOYMENT.region)
    assert capsys.readouterr().err == ""
    assert stacks.final_status("typed") == "UPDATE_ROLLBACK_COMPLETE"


def test_an_endpoint_that_runs_something_else_is_never_skipped(
    access: Access, stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_endpoint(stacks, host, monkeypatch, "lost")
    with pytest.raises(CannotRunError) as refusal:
        ready_stack(access, "lost", refuse_question)
    stopped_rollback = rollback_failure(access, "lost")
    assert stopped_rollback.endpoint is not None
    assert f"CloudFormation tried to restore {stopped_rollback.endpoint.target}" in refusal.value.problem
    assert "nothing can be skipped: restore it (`aws sagemaker update-endpoint" in refusal.value.remedy


def test_an_endpoint_that_was_brought_back_by_hand_is_skipped(
    access: Access, stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_endpoint(stacks, host, monkeypatch, "by-hand")
    stopped_rollback = rollback_failure(access, "by-hand")
    assert stopped_rollback.endpoint is not None
    assert stopped_rollback.endpoint.target is not None
    access.client("sagemaker").update_endpoint(
        EndpointName="by-hand", EndpointConfigName=stopped_rollback.endpoint.target
    )
    ready = ready_stack(access, "by-hand", lambda _: True).stack
    assert ready is not None
    assert ready.status == "UPDATE_ROLLBACK_COMPLETE"


def test_an_endpoint_that_was_deleted_is_not_skipped(
    access: Access, stacks: Stacks, host: RecordingHost
) -> None:
    back_by_itself(stacks, host, "gone")
    access.client("sagemaker").delete_endpoint(EndpointName="gone")
    with pytest.raises(CannotRunError, match="the endpoint gone no longer exists"):
        ready_stack(access, "gone", refuse_question)
