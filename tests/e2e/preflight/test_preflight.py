"""`fleet preflight` as a whole: lines, exit codes, permissions, and what all endpoints need of an account."""

from __future__ import annotations

import json

import pytest

from tests.support.embedded_app.stacks import TOPIC, absent_model
from tests.support.prepared_account import DIGEST, IMAGE, OF_TYPE, TOTAL_QUOTA, PreparedAccount
from triton_fleet.findings import Severity


def test_an_account_that_is_ready_exits_with_0_and_a_line_for_each_thing(account: PreparedAccount) -> None:
    report = account.preflight()
    assert (report.code, report.findings) == (0, "")
    assert report.lines == [
        "✓ account: 123456789012, us-east-1, as arn:aws:sts::123456789012:user/moto",
        "✓ bootstrap: version 31; the templates need 6",
        "✓ foundation: triton-fleet-dev is in CREATE_COMPLETE",
        f"✓ quota: {OF_TYPE}: 20; sentences needs 1 at `instance.count`, 2 while one is updated",
        f"✓ quota: {TOTAL_QUOTA}: 100; sentences needs 1 at `instance.count`, 2 while one is updated",
        f"✓ image: {IMAGE} exists, {DIGEST}",
        "✓ artifacts sentences: 1 of 1 in s3://triton-fleet-dev-123456789012-us-east-1/"
        + account.folder.resolve().archives[0].key,
        "✓ endpoint sentences: not deployed yet",
        "✓ alarms sentences: none yet: its stack is not deployed",
    ]


def test_a_deployed_endpoint_is_as_ready_for_an_update(account: PreparedAccount) -> None:
    account.deploy()
    report = account.preflight("sentences")
    assert (report.code, report.findings) == (0, "")
    assert report.of("endpoint sentences") == ["✓ InService"]
    assert report.of("alarms sentences") == ["✓ none in ALARM"]


def test_what_a_deploy_makes_itself_only_warns(empty: PreparedAccount) -> None:
    empty.quota(OF_TYPE, 20)
    empty.quota(TOTAL_QUOTA, 100)
    report = empty.preflight()
    assert report.code == 0
    assert report.of("bootstrap") == ["! none; the templates need version 6"]
    assert report.of("foundation") == ["! triton-fleet-dev is not deployed"]
    assert report.of("artifacts sentences") == [
        "! none of 1: the bucket triton-fleet-dev-123456789012-us-east-1 does not exist yet"
    ]
    assert (
        "environments/dev.yaml:2:1: warning[outdated-bootstrap] FL621: the CDK's bootstrap of 123456789012"
        in report.findings
    )
    assert "npx cdk bootstrap aws://123456789012/us-east-1" in report.findings
    assert "warning[missing-foundation] FL623: triton-fleet-dev is not deployed" in report.findings
    assert (
        "model_specs/sentences.yaml:4:1: warning[missing-published-archive] FL629: the Model of sentences cannot load its archives yet"
        in report.findings
    )
    assert report.findings.endswith("0 errors, 3 warnings\n")


def test_another_account_is_an_error_and_nothing_else_is_looked_at(account: PreparedAccount) -> None:
    account.folder.environment()
    report = account.preflight()
    assert report.code == 1
    assert report.lines == ["✗ account: not 111122223333, so nothing else is checked"]
    assert (
        "environments/dev.yaml:2:1: error[wrong-account] FL602: 'dev' is deployed to account 111122223333"
        in report.findings
    )


def test_an_old_bootstrap_is_told_with_both_versions(empty: PreparedAccount) -> None:
    empty.bootstrap(version=5)
    report = empty.preflight()
    assert report.of("bootstrap") == ["! version 5; the templates need version 6"]
    assert (
        "warning[outdated-bootstrap] FL621: the CDK's bootstrap of 123456789012 in us-east-1: version 5;"
        in report.findings
    )


def test_a_bootstrap_that_failed_is_told_by_its_status(account: PreparedAccount) -> None:
    stacks = account.stacks
    stacks.api.delete_stack(StackName="CDKToolkit")
    assert stacks.create("CDKToolkit", {"Topic": TOPIC, "Broken": absent_model()}) == "ROLLBACK_COMPLETE"
    report = account.preflight()
    assert (report.code, report.of("bootstrap")) == (
        0,
        ["! CDKToolkit is in ROLLBACK_COMPLETE; the templates need version 6"],
    )


def test_a_stuck_foundation_is_an_error_with_the_way_out(account: PreparedAccount) -> None:
    account.stack_status("triton-fleet-dev", "DELETE_FAILED")
    report = account.preflight()
    assert report.code == 1
    assert report.of("foundation") == ["✗ triton-fleet-dev is in DELETE_FAILED"]
    assert (
        "environments/dev.yaml:2:1: error[stuck-stack] FL622: the stack triton-fleet-dev is in DELETE_FAILED"
        in report.findings
    )
    assert (
        "delete-stack --region us-east-1 --stack-name triton-fleet-dev`, then deploy again" in report.findings
    )


@pytest.mark.parametrize(
    ("target", "action", "check"),
    [
        ("GetParameter", "ssm:GetParameter", "bootstrap"),
        ("ListServiceQuotas", "servicequotas:ListServiceQuotas", "quota"),
        ("ListEndpoints", "sagemaker:ListEndpoints", "quota"),
        ("BatchGetImage", "ecr:BatchGetImage", "image"),
    ],
)
def test_a_permission_that_lacks_is_named_and_stops_no_other_look(
    account: PreparedAccount, target: str, action: str, check: str
) -> None:
    account.deny(target, action)
    report = account.preflight()
    assert report.code == 0
    assert report.of(check) == [f"! not checked: no permission for {action}"]
    assert (
        f"warning[missing-read-permission] FL620: {check}: not checked, as these credentials may not call {target}"
        in report.findings
    )
    assert report.of("endpoint sentences") == ["✓ not deployed yet"]


def test_where_aws_does_not_say_which_permission_lacks_all_of_the_look_are_named(
    account: PreparedAccount,
) -> None:
    account.proxy.deny(lambda request: "list-type=2" in request.path)
    report = account.preflight()
    assert (report.code, report.of("artifacts")) == (
        0,
        ["! not checked: no permission for s3:GetObject and s3:ListBucket"],
    )


def test_a_service_that_cannot_be_asked_exits_with_2_when_all_others_were(account: PreparedAccount) -> None:
    account.refuse("ListServiceQuotas", "ServiceException", "out of order")
    report = account.preflight()
    assert report.code == 2
    assert report.of("quota") == ["✗ not checked: AWS could not be called"]
    assert report.of("alarms sentences") == ["✓ none yet: its stack is not deployed"]
    assert "cannot run: AWS refuses" in report.findings
    assert "out of order" in report.findings


def test_without_credentials_it_exits_with_2(
    account: PreparedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    report = account.preflight_by_settings()
    assert (report.code, report.lines) == (2, [])
    assert "AWS credentials are missing" in report.findings


def test_for_a_program_findings_are_a_document_and_nothing_else_is_said(account: PreparedAccount) -> None:
    account.quota(OF_TYPE, 0)
    report = account.preflight("--format", "json")
    (finding,) = json.loads("\n".join(report.lines))["findings"]
    assert (report.code, finding["code"], finding["severity"]) == (1, "FL625", Severity.ERROR)
    assert (finding["file"], finding["line"]) == ("model_specs/sentences.yaml", 3)


def test_nothing_is_written_to_the_account(account: PreparedAccount) -> None:
    account.deploy()
    before = len(account.proxy.requests)
    account.preflight()
    requested_requests = account.proxy.requests[before:]
    verbs = {
        requested_request.headers.get("X-Amz-Target", "").rpartition(".")[2]
        for requested_request in requested_requests
    }
    assert verbs - {""} == {
        "BatchGetImage",
        "DescribeAlarms",
        "DescribeEndpoint",
        "DescribeEndpointConfig",
        "GetParameter",
        "ListEndpoints",
        "ListServiceQuotas",
    }
    assert {
        requested_request.method
        for requested_request in requested_requests
        if "X-Amz-Target" not in requested_request.headers
    } == {"GET", "POST"}
