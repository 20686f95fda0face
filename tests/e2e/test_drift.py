"""`fleet drift`: what is changed by hand in an account is named in words, and reverted by the command that is named."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.support.deployment import DEPLOYMENT
from tests.support.deploys import action
from tests.support.faulty_s3 import Answer, Request
from tests.support.kills import KILLS, Tally, Victims, has_died, kill_after, kills, needs_kills
from tests.support.manual_changes import (
    Change,
    delete_an_alarm,
    edit_a_policy,
    edit_the_dashboard,
    forget_a_policy,
    keep_logs,
    open_the_bucket,
    outgrow,
    retarget,
    run_another_configuration,
    schedule,
    shorten_a_function,
    silence,
    suspend,
    trust_another,
    weigh,
    widen,
    widen_the_role,
)
from tests.support.updated_account import SCALING, STACK, TARGET, Account, deployed_account
from triton_endpoints.access.permissions import drift_statements
from triton_fleet.catalog.cloudformation import detected_types

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

SCHEDULE_KEYS = f"{SCALING[:-1]}, schedules: [{{name: day, at: 'cron(0 8 ? * * *)', min: 2}}]}}"
SIGNED_AS = {"monitoring": "cloudwatch"}


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with deployed_account(tmp_path_factory.mktemp("drift") / "fleet") as account:
        account.deployed_with(scaling=SCHEDULE_KEYS, alarms="{errors: 1%}")
        yield account


def compare_stack(account: Account, *arguments: str) -> subprocess.CompletedProcess[str]:
    return account.deploys.fleet("drift", "--env", "dev", *arguments)


def messages(account: Account, *arguments: str) -> list[str]:
    process = compare_stack(account, "--format", "json", *arguments)
    assert process.returncode == 1, process.stdout + process.stderr
    return [finding["message"] for finding in json.loads(process.stdout)["findings"]]


SETTINGS: list[tuple[Change, str]] = [
    (widen, r"sentences: max instances 6 → 20 \(Application Auto Scaling\)"),
    (suspend, r"sentences: suspended DynamicScalingInSuspended off → on \(Application Auto Scaling\)"),
    (
        retarget,
        r"sentences: \S+ TargetValue 60 → 95.* \(Application Auto Scaling, policy GpuUtilization-\S+\)",
    ),
    (schedule, r"sentences: schedule night none → .*22.* \(Application Auto Scaling\)"),
    (silence, r"sentences: actions on → off \(alarm \S+\)"),
    (edit_the_dashboard, r"sentences: widgets (\d+) → \d+, of which 1 differ \(dashboard \S+\)"),
    (keep_logs, r"sentences: days of retention 30 → 3653 \(log group /aws/sagemaker/Endpoints/sentences\)"),
    (widen_the_role, r"sentences: inline policy mine none → Allow s3:\* on \* \(role \S+\)"),
    (edit_a_policy, r"sentences: inline policy \S+ Statement ReadArchives Resource arn.* → \* \(role \S+\)"),
    (trust_another, r"sentences: trust Statement 1 Principal AWS none → \S+:root \(role \S+\)"),
    (weigh, r"sentences: weight 1.0 → 0.25 \(variant AllTraffic\)"),
    (outgrow, r"sentences: instances 1 to 6 → 9 \(variant AllTraffic\)"),
]
PARTS: list[tuple[Change, str]] = [
    (forget_a_policy, r"sentences: deleted \(Application Auto Scaling, policy InvocationsPerInstance-\S+\)"),
    (delete_an_alarm, r"sentences: deleted \(alarm \S+\)"),
    (run_another_configuration, r"sentences: endpoint configuration \S+ → by-hand \(endpoint\)"),
]
SHARED_CHANGES: list[tuple[Change, str]] = [
    (open_the_bucket, r"Foundation: \S+ BlockPublicPolicy true → false \(bucket \S+\)"),
    (shorten_a_function, r"Foundation: Timeout 120 → 3 \(function \S+\)"),
]
"""What a person changes by hand, and how it is named."""


def test_what_was_deployed_and_only_scales_within_its_limits_has_no_drift(account: Account) -> None:
    account.set_instances(3)
    process = compare_stack(account)
    assert (process.returncode, process.stderr) == (0, ""), process.stdout + process.stderr
    assert process.stdout == "dev: no drift in Foundation, sentences\n"


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        (SETTINGS, "drift --env dev sentences --revert"),
        (PARTS, "drift --env dev sentences --revert"),
        (SHARED_CHANGES, "drift --env dev --foundation --revert"),
    ],
    ids=["settings", "parts", "foundation"],
)
def test_each_change_by_hand_is_named_and_reverted_by_the_command_that_is_named(
    account: Account, changes: list[tuple[Change, str]], command: str
) -> None:
    for change, _ in changes:
        change(account.deploys.client)
    process = compare_stack(account, "--format", "json")
    assert process.returncode == 1, process.stderr
    findings = json.loads(process.stdout)["findings"]
    assert {finding["hint"] for finding in findings} == {f"`fleet {command}` reverts it"}
    for _, named_values in changes:
        assert [
            finding["message"] for finding in findings if re.fullmatch(named_values, finding["message"])
        ], (
            named_values,
            findings,
        )
    result = account.deploys.fleet(*command.split(), "--yes")
    assert result.returncode == 0, result.stderr
    assert compare_stack(account).returncode == 0


def test_a_plain_deploy_does_not_revert_it_as_its_template_is_unchanged(account: Account) -> None:
    silence(account.deploys.client)
    account.deploys.deploy_stack(STACK)
    (message,) = messages(account)
    assert re.fullmatch(r"sentences: actions on → off \(alarm \S+\)", message)
    process = compare_stack(account, "sentences", "--revert")
    assert (process.returncode, "pass --yes" in process.stderr) == (2, True)
    assert compare_stack(account, "sentences", "--revert", "--yes").returncode == 0


def test_the_role_of_drift_may_do_what_was_called_and_nothing_more(account: Account) -> None:
    account.deploys.proxy.forget()
    assert compare_stack(account).returncode == 0
    calls = {name for request in account.deploys.proxy.requests if (name := permission(request))}
    statements = drift_statements(DEPLOYMENT)
    granted_actions = {action for statement in statements for action in statement.actions}
    of_cloudformation = {action for actions in detected_types().values() for action in actions}
    assert calls - granted_actions == {"sts:GetCallerIdentity"}, "which needs no permission"
    # Stacks of earlier releases have dynamic references to the topics of their alarms.
    of_earlier_stacks = {"ssm:GetParameter"}
    assert granted_actions - calls - of_cloudformation - of_earlier_stacks == {
        "cloudformation:DetectStackResourceDrift"
    }


def test_while_the_endpoint_is_updated_nothing_is_compared_and_that_is_no_drift(account: Account) -> None:
    silence(account.deploys.client)
    account.deploys.proxy.change_answers(
        lambda request: request.headers.get("X-Amz-Target", "").endswith(".DescribeEndpoint"),
        lambda answer: Answer(
            answer.status, answer.headers, answer.body.replace(b'"InService"', b'"Updating"')
        ),
    )
    process = compare_stack(account, "sentences")
    account.deploys.proxy.forget()
    assert process.returncode == 0
    assert "sentences is not compared: the endpoint is Updating" in process.stderr
    assert compare_stack(account, "sentences", "--revert", "--yes").returncode == 0


def test_what_is_updated_after_it_was_compared_is_not_reverted(account: Account) -> None:
    silence(account.deploys.client)
    proxy, remaining_numbers = account.deploys.proxy, [2]

    def update(answer: Answer) -> Answer:
        remaining_numbers[0] -= 1
        body = (
            answer.body if remaining_numbers[0] >= 0 else answer.body.replace(b'"InService"', b'"Updating"')
        )
        return Answer(answer.status, answer.headers, body)

    proxy.change_answers(
        lambda request: request.headers.get("X-Amz-Target", "").endswith(".DescribeEndpoint"), update
    )
    process = compare_stack(account, "sentences", "--revert", "--yes")
    proxy.forget()
    assert process.returncode == 2
    assert "sentences is not reverted: the endpoint is Updating" in process.stderr
    assert len(messages(account, "sentences")) == 1
    assert compare_stack(account, "sentences", "--revert", "--yes").returncode == 0


def test_a_revert_leaves_the_range_that_a_schedule_has_set(account: Account) -> None:
    client = account.deploys.client
    target = {**TARGET, "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
    client("application-autoscaling").register_scalable_target(**target, MinCapacity=2)
    suspend(client)
    (message,) = messages(account, "sentences")
    assert "suspended" in message
    assert compare_stack(account, "sentences", "--revert", "--yes").returncode == 0
    assert account.scaling()["range"] == [(2, 6)]


def test_throttled_calls_are_made_again_and_denied_ones_are_named(account: Account) -> None:
    proxy, remaining_numbers = account.deploys.proxy, [2]

    def throttle(answer: Answer) -> Answer:
        remaining_numbers[0] -= 1
        return refusal("Throttling") if remaining_numbers[0] >= 0 else answer

    proxy.change_answers(action("ListStackResources"), throttle)
    assert compare_stack(account, "sentences").returncode == 0
    assert remaining_numbers == [-1]
    proxy.change_answers(action("GetRolePolicy"), lambda _: refusal("AccessDenied"))
    process = compare_stack(account, "sentences")
    proxy.forget()
    assert (process.returncode, "AccessDenied" in process.stderr) == (2, True)


def test_a_stack_that_aws_refuses_to_revert_leaves_out_no_other(account: Account) -> None:
    for change in (silence, shorten_a_function):
        change(account.deploys.client)
    account.deploys.proxy.change_answers(action("CreateChangeSet"), lambda _: refusal("AccessDenied"))
    process = compare_stack(account, "--revert", "--yes", "--format", "json")
    account.deploys.proxy.forget()
    assert (process.returncode, "AccessDenied" in process.stderr) == (2, True)
    assert "sentences: reverted" in process.stderr, "stdout has only the findings"
    assert {finding["code"] for finding in json.loads(process.stdout)["findings"]} == {"FL605"}
    (remaining_message,) = messages(account)
    assert remaining_message.startswith("Foundation: ")
    assert compare_stack(account, "--foundation", "--revert", "--yes").returncode == 0


def test_an_endpoint_that_nobody_deployed_is_refused(account: Account) -> None:
    unknown = compare_stack(account, "sentence")
    assert (unknown.returncode, "did you mean `sentences`?" in unknown.stderr) == (1, True)


def test_a_deleted_endpoint_is_created_again_and_then_its_scaling(account: Account) -> None:
    account.sagemaker.delete_endpoint(EndpointName="sentences")
    assert messages(account, "sentences") == ["sentences: deleted (endpoint)"]
    second_process = compare_stack(account, "sentences", "--revert", "--yes")
    assert (second_process.returncode, "sentences: reverted, except deleted (" in second_process.stdout) == (
        1,
        True,
    )
    assert "sentences: deleted (Application Auto Scaling)" in messages(account, "sentences")
    assert compare_stack(account, "sentences", "--revert", "--yes").returncode == 0
    assert compare_stack(account).returncode == 0


def refusal(code: str) -> Answer:
    body = f"<ErrorResponse><Error><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>"
    return Answer(400, [("Content-Type", "text/xml")], body.encode())


def permission(request: Request) -> str:
    """The IAM action of an API call; no signed request has none."""
    signed_match = re.search(
        r"/[a-z0-9-]+/([a-z0-9-]+)/aws4_request", request.headers.get("Authorization", "")
    )
    service = SIGNED_AS.get(signed_match[1], signed_match[1]) if signed_match else ""
    target = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
    named_match = re.search(r"(?:^|&)Action=(\w+)", request.body.decode(errors="replace"))
    operation = target or (named_match[1] if named_match else "")
    return f"{service}:{operation}" if operation else ""


@needs_kills
def test_a_revert_that_was_killed_at_any_moment_is_finished_by_the_next(account: Account) -> None:
    revert = ("drift", "--env", "dev", "sentences", "--revert", "--yes")

    def change() -> None:
        for item in (widen, silence, keep_logs):
            item(account.deploys.client)

    change()
    start = time.monotonic()
    assert account.deploys.fleet(*revert).returncode == 0
    seconds, tally = time.monotonic() - start, Tally()
    for kill in kills([Victims.WHOLE_GROUP, Victims.COMMAND]):
        change()
        process = account.deploys.start(*revert)
        kill_after(process, kill.share * seconds, kill.victims)
        tally.ended_before += not has_died(process)
        result = account.deploys.fleet(*revert)
        while "run the command again when that is over" in result.stdout + result.stderr:
            result = account.deploys.fleet(*revert)
        assert result.returncode == 0, f"{kill}: {result.stdout}{result.stderr}"
        assert compare_stack(account, "sentences").returncode == 0, kill
        tally.continuations += 1
    print(tally)
    assert tally.continuations == KILLS
