"""The embedded AWS's CodeBuild is that of a new account: one build at a time, and one that waits for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.builds import IMAGE, ROLE, Builds, commands, phases
from tests.support.running_aws import running_aws

ENDLESS_COMMANDS = commands("echo running; while :; do sleep 0.05; done")
OVER_THE_ACCOUNT = (
    "Project-level concurrent build limit cannot exceed the account-level concurrent build limit of 1"
)


@pytest.fixture
def builds() -> Iterator[Builds]:
    with running_aws() as aws:
        yield Builds(aws)


def stop_build(builds: Builds, id: str) -> dict[str, Any]:
    builds.api.stop_build(id=id)
    return builds.final_build(id)


def test_a_second_build_is_queued_until_the_first_one_is_over(builds: Builds) -> None:
    first = builds.start(builds.project("first", ENDLESS_COMMANDS))
    second = builds.start(builds.project("second", commands("echo ran")))
    builds.log_contains(builds.current_build(first), "running")
    waiting_values = builds.current_build(second)
    assert (waiting_values["buildStatus"], waiting_values["currentPhase"]) == ("IN_PROGRESS", "QUEUED")
    assert not waiting_values["buildComplete"]
    stop_build(builds, first)
    build = builds.final_build(second)
    assert (build["buildStatus"], builds.lines(build)) == ("SUCCEEDED", ["ran"])


def test_a_third_build_is_refused(builds: Builds) -> None:
    project = builds.project("any", ENDLESS_COMMANDS)
    ids = [builds.start(project), builds.start(project)]
    with pytest.raises(
        ClientError, match="Cannot have more than 1 builds in queue for the account"
    ) as caught:
        builds.start(project)
    assert caught.value.response["Error"]["Code"] == "AccountLimitExceededException"
    for id in reversed(ids):
        stop_build(builds, id)
    assert stop_build(builds, builds.start(project))["buildStatus"] == "STOPPED"


def test_each_compute_type_has_its_own_limit(builds: Builds) -> None:
    first = builds.start(builds.project("cpu", ENDLESS_COMMANDS))
    larger = builds.project("larger", commands("echo ran"))
    second = builds.final_build(builds.start(larger, computeTypeOverride="BUILD_GENERAL1_MEDIUM"))
    assert second["buildStatus"] == "SUCCEEDED"
    assert stop_build(builds, first)["buildStatus"] == "STOPPED"


def test_a_build_that_is_stopped_in_the_queue_never_runs(builds: Builds) -> None:
    project = builds.project("any", ENDLESS_COMMANDS)
    first, second = builds.start(project), builds.start(project)
    waiting_values = stop_build(builds, second)
    assert (waiting_values["buildStatus"], phases(waiting_values)["QUEUED"]) == ("STOPPED", "STOPPED")
    stop_build(builds, first)
    assert builds.lines(builds.current_build(second)) == []


def test_a_build_beyond_the_limit_of_its_project_is_refused_and_not_queued(builds: Builds) -> None:
    project = builds.project("limited", ENDLESS_COMMANDS, ConcurrentBuildLimit=1)
    first = builds.start(project)
    with pytest.raises(ClientError, match="AccountLimitExceededException"):
        builds.start(project)
    stop_build(builds, first)
    assert stop_build(builds, builds.start(project))["buildStatus"] == "STOPPED"


def test_a_limit_above_that_of_the_account_is_refused_by_the_api(builds: Builds) -> None:
    with pytest.raises(ClientError, match=OVER_THE_ACCOUNT) as caught:
        builds.api.create_project(
            name="any",
            serviceRole=ROLE,
            concurrentBuildLimit=2,
            source={"type": "NO_SOURCE", "location": "moto wants one", "buildspec": "version: 0.2"},
            artifacts={"type": "NO_ARTIFACTS"},
            environment={"type": "LINUX_CONTAINER", "image": IMAGE, "computeType": "BUILD_GENERAL1_SMALL"},
        )
    assert caught.value.response["Error"]["Code"] == "InvalidInputException"
    assert builds.api.list_projects()["projects"] == []


def test_a_limit_above_that_of_the_account_is_refused_by_cloudformation(builds: Builds) -> None:
    assert OVER_THE_ACCOUNT in builds.refusal("any", ConcurrentBuildLimit=2)
    builds.project("taken", commands("true"), ConcurrentBuildLimit=1)


def test_what_waits_in_the_queue_ends_with_the_embedded_aws() -> None:
    with running_aws() as aws:
        builds = Builds(aws)
        project = builds.project("any", ENDLESS_COMMANDS)
        first = builds.start(project)
        builds.start(project)
        builds.log_contains(builds.current_build(first), "running")
    assert not [item for item in threading.enumerate() if item.name.startswith("build-")]
