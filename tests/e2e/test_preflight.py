"""`fleet preflight` on accounts that are ready, and on accounts that lack one thing each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.findings import Severity
from fleet_folder import LOCK, SPEC
from prepared_account import OF_ALL, OF_TYPE, STACK, PreparedAccount, prepared_account, second_spec
from tests.e2e.embedded_app.stacks import TOPIC, Stacks, absent_model, endpoint
from tests.e2e.embedded_app.updates import create_config

IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
SCALED = "scaling: {min: 1, max: 8, gpu_utilization: 60}\n"


@pytest.fixture
def empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[PreparedAccount]:
    with prepared_account(tmp_path / "fleet", monkeypatch, capsys) as account:
        yield account


@pytest.fixture
def account(empty: PreparedAccount) -> PreparedAccount:
    """It has all that endpoints need, and no endpoint yet."""
    empty.prepare()
    return empty


def test_an_account_that_is_ready_exits_with_0_and_a_line_for_each_thing(account: PreparedAccount) -> None:
    told = account.preflight()
    assert (told.code, told.findings) == (0, "")
    assert told.lines == [
        "✓ account: 123456789012, us-east-1, as arn:aws:sts::123456789012:user/moto",
        "✓ bootstrap: version 31; the templates need 6",
        "✓ foundation: triton-fleet-dev is in CREATE_COMPLETE",
        f"✓ quota: {OF_TYPE}: 20; sentences needs 1 at `instance.count`, 2 while one is updated",
        f"✓ quota: {OF_ALL}: 100; sentences needs 1 at `instance.count`, 2 while one is updated",
        f"✓ image: {IMAGE} is there",
        "✓ artifacts sentences: 1 of 1 in s3://triton-fleet-dev-123456789012-us-east-1/"
        + account.folder.resolve().archives[0].key,
        "✓ endpoint sentences: not deployed yet",
        "✓ alarms sentences: none yet: its stack is not deployed",
    ]


def test_a_deployed_endpoint_is_as_ready_for_an_update(account: PreparedAccount) -> None:
    account.deploy()
    told = account.preflight("sentences")
    assert (told.code, told.findings) == (0, "")
    assert told.of("endpoint sentences") == ["✓ InService"]
    assert told.of("alarms sentences") == ["✓ quiet"]


def test_what_a_deploy_makes_itself_only_warns(empty: PreparedAccount) -> None:
    empty.quota(OF_TYPE, 20)
    empty.quota(OF_ALL, 100)
    told = empty.preflight()
    assert told.code == 0
    assert told.of("bootstrap") == ["! none"]
    assert told.of("foundation") == ["! triton-fleet-dev is not deployed"]
    assert told.of("artifacts sentences") == [
        "! none of 1: the bucket triton-fleet-dev-123456789012-us-east-1 is not there yet"
    ]
    assert "environments/dev.yaml:2:1: warning FL621: the CDK's bootstrap of 123456789012" in told.findings
    assert "npx cdk bootstrap aws://123456789012/us-east-1" in told.findings
    assert "warning FL623: triton-fleet-dev is not deployed" in told.findings
    assert "model_specs/sentences.yaml:4:1: warning FL629: archives of sentences" in told.findings
    assert told.findings.endswith("0 errors, 3 warnings\n")


def test_another_account_is_an_error_and_nothing_else_is_looked_at(account: PreparedAccount) -> None:
    account.folder.environment()
    told = account.preflight()
    assert told.code == 1
    assert told.lines == ["✗ account: not 111122223333, so nothing else is looked at"]
    assert (
        "environments/dev.yaml:2:1: error FL602: 'dev' is deployed to account 111122223333" in told.findings
    )


def test_an_old_bootstrap_is_told_with_both_versions(empty: PreparedAccount) -> None:
    empty.bootstrap(version=5)
    told = empty.preflight()
    assert told.of("bootstrap") == ["! version 5"]
    assert "made anew: version 5, and the templates need version 6" in told.findings


def test_a_bootstrap_that_failed_is_told_by_its_status(account: PreparedAccount) -> None:
    stacks = Stacks(account.aws)
    stacks.api.delete_stack(StackName="CDKToolkit")
    assert stacks.create("CDKToolkit", {"Topic": TOPIC, "Broken": absent_model()}) == "ROLLBACK_COMPLETE"
    told = account.preflight()
    assert (told.code, told.of("bootstrap")) == (0, ["! CDKToolkit is in ROLLBACK_COMPLETE"])


def test_a_stuck_foundation_is_an_error_with_the_way_out(account: PreparedAccount) -> None:
    stick(account, "triton-fleet-dev")
    told = account.preflight()
    assert told.code == 1
    assert told.of("foundation") == ["✗ triton-fleet-dev is in DELETE_FAILED"]
    assert (
        "environments/dev.yaml:2:1: error FL622: the stack triton-fleet-dev is in DELETE_FAILED"
        in told.findings
    )
    assert "delete it, then run the deploy again" in told.findings


def test_an_endpoints_stack_that_is_under_way_warns(account: PreparedAccount) -> None:
    account.host.may_finish.clear()
    api = account.client("cloudformation")
    api.create_stack(
        StackName=STACK, TemplateBody=json.dumps({"Resources": endpoint("sentences", data=data(account))})
    )
    told = account.preflight()
    account.host.may_finish.set()
    assert told.code == 0
    assert told.of("endpoint sentences") == [f"! {STACK} is in CREATE_IN_PROGRESS"]
    assert "model_specs/sentences.yaml:1:1: warning FL624" in told.findings


def test_a_quota_below_the_most_instances_is_an_error_at_the_key_that_says_them(
    account: PreparedAccount,
) -> None:
    account.folder.spec(SCALED)
    account.folder.write("locks/dev/sentences.lock.yaml", LOCK)
    account.quota(OF_TYPE, 4)
    others(account, 2)
    told = account.preflight()
    assert told.code == 1
    said = "sentences needs 8 at `scaling.max`, 2 run for others: 10 in all, 18 while one is updated"
    assert told.of("quota")[0] == f"✗ {OF_TYPE}: 4; {said}"
    assert f"model_specs/sentences.yaml:6:20: error FL625: {OF_TYPE}: the quota is 4; {said}" in told.findings
    assert (
        "--region us-east-1 --service-code sagemaker --quota-code L-1928E07B --desired-value 18"
        in told.findings
    )
    assert "or write 2 for `scaling.max`" in told.findings


def test_an_update_without_room_beside_what_runs_is_an_error(account: PreparedAccount) -> None:
    account.folder.spec(SCALED)
    account.deploy(count=5)
    account.quota(OF_TYPE, 9)
    told = account.preflight()
    assert told.code == 1
    assert "error FL626: ml.g5.xlarge for endpoint usage: the quota is 9" in told.findings
    assert "16 while one is updated; the next deploy needs 10 from what runs now" in told.findings
    assert "rollout: {strategy: rolling, step: ...}" in told.findings


def test_an_update_without_room_only_when_all_is_scaled_out_warns(account: PreparedAccount) -> None:
    account.folder.spec(SCALED)
    account.deploy(count=4)
    account.quota(OF_TYPE, 9)
    told = account.preflight()
    assert told.code == 0
    assert "warning FL626" in told.findings
    assert "the next deploy" not in told.findings


def test_endpoints_of_one_type_are_counted_together_and_all_types_against_the_total(
    account: PreparedAccount,
) -> None:
    second_spec(account.folder, "images", "scaling: {min: 1, max: 3, gpu_utilization: 60}\n")
    account.quota(OF_TYPE, 3)
    account.quota(OF_ALL, 3)
    told = account.preflight()
    needs = "images needs 3 at `scaling.max`, sentences needs 1 at `instance.count`: 4 in all, 7 while one is updated"
    assert told.of("quota") == [f"✗ {OF_TYPE}: 3; {needs}", f"✗ {OF_ALL}: 3; {needs}"]
    assert account.preflight("sentences").of("quota")[0].startswith("✓ ")


def test_a_quota_that_is_not_told_warns(account: PreparedAccount) -> None:
    account.folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g5.2xlarge"))
    told = account.preflight()
    assert (told.code, told.of("quota")[0]) == (0, "! ml.g5.2xlarge for endpoint usage: not told")
    assert (
        "warning FL627: Service Quotas has no quota of the name 'ml.g5.2xlarge for endpoint usage'"
        in told.findings
    )


def test_quotas_are_found_on_any_page(account: PreparedAccount) -> None:
    calls = lambda request: request.headers.get("X-Amz-Target", "").endswith("ListServiceQuotas")  # noqa: E731
    account.preflight()
    assert account.proxy.count(calls) == 1


def test_an_image_that_the_registry_lacks_is_an_error_at_the_release(account: PreparedAccount) -> None:
    body = {
        "images": [],
        "failures": [
            {"imageId": {}, "failureCode": "ImageNotFound", "failureReason": "Requested image not found"}
        ],
    }
    account.answer("BatchGetImage", body)
    told = account.preflight()
    assert told.code == 1
    assert told.of("image") == [f"✗ {IMAGE}: Requested image not found (ImageNotFound)"]
    assert f"model_specs/sentences.yaml:2:1: error FL628: {IMAGE} cannot be pulled" in told.findings


def test_a_registry_without_the_repository_is_an_error_as_well(account: PreparedAccount) -> None:
    account.refuse("BatchGetImage", "RepositoryNotFoundException", "The repository does not exist")
    told = account.preflight()
    assert (told.code, told.of("image")) == (1, [f"✗ {IMAGE}: The repository does not exist"])


def test_missing_archives_warn_with_what_publishes_them(account: PreparedAccount) -> None:
    account.client("s3").delete_object(Bucket=bucket(account), Key=account.folder.resolve().archives[0].key)
    told = account.preflight()
    assert told.code == 0
    assert told.of("artifacts sentences")[0].startswith("! 0 of 1 in s3://")
    assert "warning FL629" in told.findings
    assert "1 of 1 not published: sentences" in told.findings
    assert "`fleet publish --env dev sentences`" in told.findings


def test_a_place_of_a_live_set_that_is_taken_is_an_error(account: PreparedAccount) -> None:
    live = SPEC.replace("- {archive: sentences,", "- {archive: sentences, version: 1,")
    account.folder.spec("mode: multi-model\narchive_set: live\n", base=live)
    (artifact,) = account.folder.resolve().archives
    account.put(artifact.key, "sha256:" + "b" * 64)
    told = account.preflight()
    assert told.code == 1
    assert told.of("artifacts sentences")[0].startswith("✗ 0 of 1 in s3://")
    assert "model_specs/sentences.yaml:4:1: error FL304: s3://" in told.findings


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("Updating", "SageMaker refuses an update meanwhile"),
        ("Failed", "`fleet destroy sentences --env dev`"),
        ("UpdateRollbackFailed", "old and new instances serve side by side"),
    ],
)
def test_an_endpoint_that_cannot_be_updated_is_an_error(
    account: PreparedAccount, status: str, remedy: str
) -> None:
    account.deploy()
    account.status(status)
    told = account.preflight()
    assert (told.code, told.of("endpoint sentences")) == (1, [f"✗ {status}"])
    assert (
        f"model_specs/sentences.yaml:1:1: error FL631: the endpoint 'sentences' is {status}" in told.findings
    )
    assert remedy in told.findings


def test_a_name_that_somebody_else_has_taken_is_an_error(account: PreparedAccount) -> None:
    account.deploy(stack="another-team")
    told = account.preflight()
    assert (told.code, told.of("endpoint sentences")) == (1, ["✗ the name is taken"])
    assert (
        f"FL632: there is an endpoint 'sentences' in the account that {STACK} did not make" in told.findings
    )


def test_alarms_that_ring_warn_and_do_not_stop_what_mends_them(account: PreparedAccount) -> None:
    account.folder.spec("rollout: {}\n")
    account.deploy()
    for name in ("sentences-errors", "sentences-rollout"):
        account.client("cloudwatch").set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")
    told = account.preflight()
    assert told.code == 0
    assert told.of("alarms sentences") == ["! in ALARM: sentences-errors, sentences-rollout"]
    assert "warning FL630: sentences-errors is in ALARM: errors of the endpoint" in told.findings
    assert "sentences.yaml:6:1: warning FL630: sentences-rollout is in ALARM" in told.findings
    assert "a change of `rollout` alone keeps the configuration" in told.findings


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
    told = account.preflight()
    assert told.code == 0
    assert told.of(check) == [f"! not looked at: {action} is not allowed"]
    assert (
        f"warning FL620: {check}: not looked at, as these credentials may not ask ({target})" in told.findings
    )
    assert told.of("endpoint sentences") == ["✓ not deployed yet"]


def test_where_aws_does_not_say_which_permission_lacks_all_of_the_look_are_named(
    account: PreparedAccount,
) -> None:
    account.proxy.deny(lambda request: "list-type=2" in request.path)
    told = account.preflight()
    assert (told.code, told.of("artifacts")) == (
        0,
        ["! not looked at: s3:GetObject and s3:ListBucket is not allowed"],
    )


def test_a_service_that_cannot_be_asked_exits_with_2_when_all_others_were(account: PreparedAccount) -> None:
    account.refuse("ListServiceQuotas", "ServiceException", "out of order")
    told = account.preflight()
    assert told.code == 2
    assert told.of("quota") == ["✗ not looked at: AWS could not be asked"]
    assert told.of("alarms sentences") == ["✓ none yet: its stack is not deployed"]
    assert "cannot run: AWS refuses" in told.findings
    assert "out of order" in told.findings


def test_without_credentials_it_exits_with_2(
    account: PreparedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    told = account.preflight()
    assert (told.code, told.lines) == (2, [])
    assert "there are no credentials of AWS" in told.findings


def test_for_a_program_findings_are_a_document_and_nothing_else_is_said(account: PreparedAccount) -> None:
    account.quota(OF_TYPE, 0)
    told = account.preflight("--format", "json")
    (finding,) = json.loads("\n".join(told.lines))["findings"]
    assert (told.code, finding["code"], finding["severity"]) == (1, "FL625", Severity.ERROR)
    assert (finding["file"], finding["line"]) == ("model_specs/sentences.yaml", 3)


def test_nothing_is_written_to_the_account(account: PreparedAccount) -> None:
    account.deploy()
    before = len(account.proxy.requests)
    account.preflight()
    asked = account.proxy.requests[before:]
    verbs = {each.headers.get("X-Amz-Target", "").rpartition(".")[2] for each in asked}
    assert verbs - {""} == {
        "BatchGetImage",
        "DescribeAlarms",
        "DescribeEndpoint",
        "DescribeEndpointConfig",
        "GetParameter",
        "ListEndpoints",
        "ListServiceQuotas",
    }
    assert {each.method for each in asked if "X-Amz-Target" not in each.headers} == {"GET", "POST"}


def others(account: PreparedAccount, count: int) -> None:
    """An endpoint of somebody else, with so many instances."""
    sagemaker, s3 = account.client("sagemaker"), account.client("s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    create_config(sagemaker, "of-others", {"InitialInstanceCount": count})
    sagemaker.create_endpoint(EndpointName="of-others", EndpointConfigName="of-others")


def stick(account: PreparedAccount, stack: str) -> None:
    """Let DescribeStacks say that a stack could not be deleted."""
    old, new = b"<StackStatus>CREATE_COMPLETE", b"<StackStatus>DELETE_FAILED"
    account.change(
        lambda request: f"StackName={stack}&".encode() in request.body + b"&",
        lambda body: body.replace(old, new),
    )


def bucket(account: PreparedAccount) -> str:
    return account.folder.resolve().place.bucket


def data(account: PreparedAccount) -> str:
    return account.folder.resolve().model_data_url
