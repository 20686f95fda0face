"""Waits for an endpoint that scales: deploys, rollbacks that are continued, and deletions."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.deployment import DEPLOYMENT
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.endpoint_capacity import await_service
from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy import endpoint_wait
from triton_fleet.aws.deploy.destroy import destroy, plan_deletion
from triton_fleet.aws.deploy.endpoint_wait import GuardWatch, await_endpoint
from triton_fleet.aws.deploy.failed_rollback import failed_rollback
from triton_fleet.aws.deploy.stack_repair import ready_stack, with_failed_rollback
from triton_fleet.aws.running_configuration import endpoint_stacks
from triton_fleet.findings import CannotRunError, FindingsError


class Notices(list[str]):
    """The text of a wait; the instances serve as soon as something is shown."""

    def __init__(self, host: RecordingHost) -> None:
        super().__init__()
        self._host = host

    def __call__(self, text: str) -> None:
        self.append(text)
        self._host.may_scale.set()


@pytest.fixture
def notices(host: RecordingHost) -> Notices:
    return Notices(host)


def scale(sagemaker: Any, host: RecordingHost, name: str, count: int = 2) -> None:
    host.may_scale.clear()
    expected_values = [{"VariantName": "AllTraffic", "DesiredInstanceCount": count}]
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName=name, DesiredWeightsAndCapacities=expected_values
    )


def deploy_endpoint(stacks: Stacks, name: str) -> str:
    stack = f"{DEPLOYMENT.stack}-{name}"
    assert stacks.create(stack, endpoint(name)) == "CREATE_COMPLETE"
    return stack


def test_an_endpoint_that_scales_is_waited_for_and_the_wait_is_shown(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost, notices: Notices
) -> None:
    deploy_endpoint(stacks, "scales")
    await_endpoint(access, "scales", notices)
    assert notices == []
    scale(sagemaker, host, "scales")
    await_endpoint(access, "scales", notices)
    waits = "the endpoint scales is Updating: waiting until SageMaker has finished, at most 60 minutes"
    assert notices == [waits]
    assert sagemaker.describe_endpoint(EndpointName="scales")["EndpointStatus"] == "InService"


def test_an_endpoint_that_does_not_exist_is_not_waited_for(access: Access, notices: Notices) -> None:
    await_endpoint(access, "absent", notices)
    assert notices == []


def test_a_wait_ends_with_a_remedy(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_endpoint(stacks, "stuck")
    scale(sagemaker, host, "stuck")
    monkeypatch.setattr(endpoint_wait, "MAX_WAIT", timedelta(0))
    with pytest.raises(CannotRunError, match="the endpoint stuck is still Updating after 0 minutes") as error:
        await_endpoint(access, "stuck", lambda _: None)
    assert "describe-scaling-activities" in error.value.remedy
    assert "run the command again when it is InService" in error.value.remedy
    host.may_scale.set()
    await_service(sagemaker, "stuck")


def test_a_deletion_waits_until_the_endpoint_can_be_deleted(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost, notices: Notices
) -> None:
    deploy_endpoint(stacks, "ends")
    scale(sagemaker, host, "ends")
    deletion = plan_deletion(access, "ends")
    assert deletion is not None
    destroy(access, deletion, notices)
    assert [text.partition(":")[0] for text in notices] == ["the endpoint ends is Updating"]
    assert "ends" not in endpoint_stacks(access.client("cloudformation"), access.deployment)


def test_a_deletion_shows_that_the_role_is_kept_where_sagemaker_cleans_up_with_it(
    access: Access, stacks: Stacks, notices: Notices
) -> None:
    resources = endpoint("cleans")
    resources["Endpoint"]["Metadata"] = {"CleanupLooks": 15}
    assert stacks.create(f"{DEPLOYMENT.stack}-cleans", resources) == "CREATE_COMPLETE"
    deletion = plan_deletion(access, "cleans")
    assert deletion is not None
    destroy(access, deletion, notices)
    assert notices == [
        "the stack keeps the endpoint's role for five minutes after it: SageMaker cleans up with it"
    ]


def test_a_deploy_shows_what_its_scaling_guard_waits_for_once(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost
) -> None:
    deploy_endpoint(stacks, "guarded")
    scale(sagemaker, host, "guarded")
    lines: list[str] = []
    watch = GuardWatch(access, cast(Any, SimpleNamespace(name="guarded")), lines.append)
    event = "s | 1/9 | 7:57:43 PM | UPDATE_{} | Custom::ScalingGuard | Update/Before (UpdateBefore70821B27)\n"
    initial_text = event.format("IN_PROGRESS")
    watch("s: creating CloudFormation changeset...\n")
    assert lines == []
    for _ in range(50):
        watch(initial_text)
    assert lines == ["the endpoint guarded is Updating: its scaling guard waits for it"]
    host.may_scale.set()
    await_service(sagemaker, "guarded")
    watch = GuardWatch(access, cast(Any, SimpleNamespace(name="guarded")), lines.append)
    watch(initial_text)
    watch(initial_text + event.format("COMPLETE"))
    assert len(lines) == 1


def refused_update(stacks: Stacks, sagemaker: Any, host: RecordingHost, name: str) -> str:
    """A stack whose update met a scaling activity, as did its rollback."""
    stack = deploy_endpoint(stacks, name)
    scale(sagemaker, host, name)
    assert stacks.update(stack, endpoint(name, image="new")) == "UPDATE_ROLLBACK_FAILED"
    return stack


def test_a_rollback_that_met_scaling_is_continued_when_the_endpoint_is_in_service(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost, notices: Notices
) -> None:
    stack = refused_update(stacks, sagemaker, host, "meets")
    questions: list[str] = []

    def agree(question: str) -> bool:
        questions.append(question)
        return True

    actual_stack = ready_stack(access, stack, agree, notices).stack
    assert actual_stack is not None
    assert actual_stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert [text.partition(":")[0] for text in notices] == ["the endpoint meets is Updating"]
    assert "Continue its rollback without Endpoint?" in questions[0]


def test_a_failed_deploy_waits_before_it_looks_whether_the_rollback_can_be_continued(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost, notices: Notices
) -> None:
    stack = refused_update(stacks, sagemaker, host, "failed")
    failure = with_failed_rollback(FindingsError([]), access, stack, lambda _: True, notices)
    assert stacks.status(stack) == "UPDATE_ROLLBACK_COMPLETE"
    assert "FL607" in str(failure)
    assert [text.partition(":")[0] for text in notices] == ["the endpoint failed is Updating"]


def test_what_a_stopped_rollback_needs_while_the_endpoint_scales_is_a_deploy_that_waits(
    access: Access, stacks: Stacks, sagemaker: Any, host: RecordingHost
) -> None:
    refused_update(stacks, sagemaker, host, "asked")
    stack = endpoint_stacks(access.client("cloudformation"), access.deployment)["asked"]
    stopped_rollback = failed_rollback(access, stack)
    assert stopped_rollback.resources_to_skip == []
    assert stopped_rollback.remedy == "deploy again: it waits until asked is InService, then compares again"
    host.may_scale.set()
    await_service(sagemaker, "asked")
    assert failed_rollback(access, stack).resources_to_skip == ["Endpoint"]
