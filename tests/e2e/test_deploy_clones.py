"""Two clones of a fleet that deploy different commits of one endpoint at once, with the real CDK."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deploys import BUCKET, SECONDS, Deploys, empty_account
from tests.support.faulty_s3 import Request, faulty_s3
from tests.support.fleet_folder import FleetFolder

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

STACK = "triton-fleet-dev-sentences"
DESCRIBE_OPERATION = "SageMaker.DescribeEndpoint"


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deploys, Deploys]]:
    """An account to which one clone has deployed, and another clone; each has a proxy of its own."""
    folder = tmp_path_factory.mktemp("deploy")
    with empty_account(folder / "fleet") as first:
        first.deploy()
        shutil.copytree(folder / "fleet", folder / "other", symlinks=True)
        with faulty_s3(first.aws.url) as proxy:
            yield first, Deploys(FleetFolder(folder / "other"), first.aws, first.host, proxy)


def lock_another(clone: Deploys, code: str) -> None:
    clone.model(f"{code}\n")
    clone.lock()


def process_end(process: subprocess.Popen[str]) -> tuple[int, str]:
    text, _ = process.communicate(timeout=SECONDS)
    assert "Traceback" not in text, text
    return process.returncode, text


def require_release_of(clone: Deploys) -> None:
    """Stack, endpoint, newest release and records of ownership are of this clone's lock."""
    declared_endpoint = clone.folder.resolve()
    assert clone.statuses()[STACK] == "UPDATE_COMPLETE"
    assert clone.model_data() == declared_endpoint.model_data_url
    newest = max(clone.keys("releases/sentences/"))
    release = json.loads(clone.client("s3").get_object(Bucket=BUCKET, Key=newest)["Body"].read())
    assert release["model_data"] == declared_endpoint.model_data
    assert {Path(key).name for key in clone.keys("owners/sentences/")} >= {
        archive.digest.removeprefix("sha256:") for archive in declared_endpoint.archives
    }
    summaries = clone.client("cloudformation").list_change_sets(StackName=STACK)["Summaries"]
    assert [summary for summary in summaries if summary["ExecutionStatus"] == "AVAILABLE"] == []


def test_of_clones_that_deploy_at_once_the_second_waits_names_the_first_and_does_not_replace_it_unasked(
    clones: tuple[Deploys, Deploys],
) -> None:
    for number, clone in enumerate(clones):
        lock_another(clone, f"x = 1{number}")
    first, second = clones

    def is_being_deployed(request: Request) -> bool:
        return request.headers.get("X-Amz-Target") == DESCRIBE_OPERATION

    came, may_go = first.proxy.hold(is_being_deployed)
    initial_process = first.start_deploy()
    assert came.wait(SECONDS)
    waiting_process, text = second.start_deploy(), list[str]()
    assert waiting_process.stdout is not None
    for line in waiting_process.stdout:
        text.append(line)
        if "waiting for it to end" in line:
            break
    may_go.set()
    assert process_end(initial_process)[0] == 0
    code, rest = process_end(waiting_process)
    assert re.search(rf"{STACK}: \S+ has been deploying it since \d\d:\d\d:\d\d UTC; waiting", "".join(text))
    assert (code, "has deployed" in rest, "run the command again" in rest) == (2, True, True), rest
    require_release_of(first)
    second.deploy()
    require_release_of(second)


def test_a_clone_whose_release_was_replaced_before_it_was_recorded_records_nothing(
    clones: tuple[Deploys, Deploys],
) -> None:
    first, second = clones
    lock_another(first, "x = 20")
    lock_another(second, "x = 21")

    def is_deployed(request: Request) -> bool:
        is_asked = request.headers.get("X-Amz-Target") == DESCRIBE_OPERATION
        return is_asked and first.model_data() == first.folder.resolve().model_data_url

    came, may_go = first.proxy.hold(is_deployed)
    process = first.start_deploy()
    assert came.wait(SECONDS)
    assert second.fleet("publish", "--env", "dev").returncode == 0
    second.deploy_stack(STACK)  # the CDK alone knows no lease
    may_go.set()
    code, text = process_end(process)
    assert (code, "another deploy replaced this one of sentences" in text) == (2, True), text
    second.deploy()
    require_release_of(second)
    first.deploy()
    require_release_of(first)
