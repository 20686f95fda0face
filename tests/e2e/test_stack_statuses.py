"""A stack in each status that CloudFormation has: what a deploy, the doctor, preflight and the list make of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.cloudformation.models import cloudformation_backends

from tests.support.deployment import ACCOUNT, REGION
from tests.support.embedded_app.stacks import TOPIC, Stacks, endpoint
from tests.support.fleet_folder import LOCK, ROOT, FleetFolder
from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.cdk import Cdk
from triton_fleet.aws.deploy.stack_repair import ready_stack
from triton_fleet.aws.doctor.diagnosis import SpecCheck, diagnosis, is_well
from triton_fleet.aws.doctor.evidence import evidence
from triton_fleet.aws.inventory import take_inventory
from triton_fleet.aws.preflight.stacks import stack_state_finding
from triton_fleet.awsapi.stack import find_stack
from triton_fleet.catalog.data_file import data_file
from triton_fleet.findings import CannotRunError, Finding
from triton_fleet.project.project import open_project

pytestmark = pytest.mark.nightly

STACK = "triton-fleet-dev-sentences"
STATUSES = tuple(data_file("stack_statuses.yaml")["statuses"])
UNDER_WAY = [
    status for status in STATUSES if status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS"
]
ROLLED_BACK = f"`aws cloudformation rollback-stack --region {REGION} --stack-name {STACK}`"
REMEDIES = {
    "CREATE_FAILED": ROLLED_BACK,
    "UPDATE_FAILED": ROLLED_BACK,
    "DELETE_FAILED": f"`aws cloudformation delete-stack --region {REGION} --stack-name {STACK}`",
    "IMPORT_ROLLBACK_FAILED": "ask AWS Support",
    "UPDATE_ROLLBACK_FAILED": "`aws cloudformation continue-update-rollback --region us-east-1 --stack-name",
}
"""What gets a stack out of the statuses in which no deploy can help."""
READY = [status for status in STATUSES if status not in (*UNDER_WAY, *REMEDIES, "DELETE_COMPLETE")]
RARE = ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "IMPORT_COMPLETE", "IMPORT_ROLLBACK_COMPLETE"]
"""Those of them in which no other test has a stack that the CDK CLI deploys to."""


@pytest.fixture
def folder(folder: FleetFolder) -> FleetFolder:
    """A locked spec of the account."""
    folder.spec()
    folder.write("environments/dev.yaml", f'environment: dev\naccount: "{ACCOUNT}"\nregion: {REGION}\n')
    folder.write("locks/dev/sentences.lock.yaml", LOCK)
    return folder


@pytest.fixture
def stack(stacks: Stacks) -> Iterator[str]:
    """An endpoint that runs, and its stack."""
    assert stacks.create(STACK, endpoint("sentences")) == "CREATE_COMPLETE"
    yield STACK
    put(STACK, "CREATE_COMPLETE")
    stacks.api.delete_stack(StackName=STACK)
    stacks.api.get_waiter("stack_delete_complete").wait(StackName=STACK, WaiterConfig={"Delay": 0.02})


def put(name: str, status: str) -> None:
    """Have a stack be in a status, however it came there."""
    backend: Any = cloudformation_backends[ACCOUNT][REGION]
    backend.get_stack(name).status = status


def refuse_question(question: str) -> bool:
    raise AssertionError(question)


@pytest.mark.parametrize("status", READY)
def test_a_deploy_begins_at_once(access: Access, stack: str, status: str) -> None:
    put(stack, status)
    lines: list[str] = []
    actual_stack = ready_stack(access, stack, refuse_question, lines.append).stack
    assert actual_stack is not None
    assert (actual_stack.status, lines) == (status, [])


@pytest.mark.parametrize("status", UNDER_WAY)
def test_a_deploy_says_what_it_waits_for_and_begins_when_that_is_over(
    access: Access, stack: str, status: str
) -> None:
    put(stack, status)
    lines: list[str] = []

    def end(line: str) -> None:
        lines.append(line)
        put(stack, "UPDATE_COMPLETE")

    actual_stack = ready_stack(access, stack, refuse_question, end).stack
    assert actual_stack is not None
    assert actual_stack.status == "UPDATE_COMPLETE"
    (line,) = lines
    assert line.startswith(f"the stack {stack} is in {status}: waiting until the operation has ended")
    assert ("cancel-update-stack" in line) == (status == "UPDATE_IN_PROGRESS")


@pytest.mark.parametrize(("status", "remedy"), REMEDIES.items())
def test_a_deploy_that_cannot_begin_names_the_way_out(
    access: Access, stack: str, status: str, remedy: str
) -> None:
    put(stack, status)
    with pytest.raises(CannotRunError) as refusal:
        ready_stack(access, stack, refuse_question)
    assert f"the stack {stack} is in {status}" in refusal.value.problem
    assert remedy in (refusal.value.remedy or "")


@pytest.mark.parametrize(("status", "remedy"), REMEDIES.items())
def test_the_doctor_preflight_and_the_list_name_the_same_way_out(
    access: Access, stack: str, folder: FleetFolder, status: str, remedy: str
) -> None:
    put(stack, status)
    observation = evidence(access, "sentences")
    assert not is_well(observation)
    hints = [finding.hint or "" for finding in diagnosis(observation, SpecCheck(None, None))]
    live = find_stack(access.client("cloudformation"), stack)
    assert live is not None
    finding = stack_state_finding(
        access, live, lambda code, message, hint: Finding(code=code, message=message, hint=hint)
    )
    assert finding is not None
    assert (finding.code, finding.hint in hints, remedy in (finding.hint or "")) == ("FL622", True, True)
    (entry,) = take_inventory(open_project(folder.root, "dev"), access)
    assert f"the stack {stack} is in {status}" in entry.remedy
    assert (
        remedy in entry.remedy
    ) or "`fleet deploy --env dev sentences` continues its rollback" in entry.remedy


@pytest.mark.parametrize("status", UNDER_WAY)
def test_the_list_says_what_is_under_way(
    access: Access, stack: str, folder: FleetFolder, status: str
) -> None:
    put(stack, status)
    (entry,) = take_inventory(open_project(folder.root, "dev"), access)
    assert entry.remedy.startswith(f"the stack {stack} is in {status}: wait until the operation has ended")
    observation = evidence(access, "sentences")
    assert observation.stack is not None
    assert observation.stack.under_way


@pytest.mark.cdk
def test_the_cdk_cli_deploys_to_a_stack_in_a_rare_status(
    access: Access, stacks: Stacks, tmp_path: Path
) -> None:
    names = {f"any-{status.lower().replace('_', '-')}": status for status in RARE}
    for name, status in names.items():
        stacks.create(name, {"Topic": TOPIC})
        put(name, status)
    (tmp_path / "any.template.json").write_text(json.dumps({"Resources": {"Topic": TOPIC, "Other": TOPIC}}))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://{ACCOUNT}/{REGION}",
        "properties": {"templateFile": "any.template.json"},
    }
    (tmp_path / "manifest.json").write_text(
        json.dumps({"version": "36.0.0", "artifacts": dict.fromkeys(names, stack)})
    )
    cdk = Cdk(ROOT, access.cdk_environment, log=tmp_path / "cdk.log", where_logs="", home=tmp_path)
    run = cdk.run(
        "deploy", "--all", "--concurrency", "8", "--app", str(tmp_path), "--require-approval", "never"
    )
    assert run.exit_code == 0, run.output
    assert {stacks.status(name) for name in names} == {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
