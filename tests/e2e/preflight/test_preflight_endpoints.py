"""Needs of endpoints: room for their instances, images, archives, a state in which they can be updated."""

from __future__ import annotations

import pytest

from tests.support.embedded_app.updates import create_config
from tests.support.fleet_folder import LOCK, SPEC
from tests.support.prepared_account import (
    BUCKET,
    DIGEST,
    IMAGE,
    OF_TYPE,
    STACK,
    TOTAL_QUOTA,
    PreparedAccount,
    is_call,
    second_spec,
)

SCALING_KEYS = "scaling: {min: 1, max: 8, gpu_utilization: 60}\n"


def test_an_endpoints_stack_that_is_under_way_warns(account: PreparedAccount) -> None:
    account.deploy()
    account.stack_status(STACK, "UPDATE_IN_PROGRESS")
    report = account.preflight()
    assert report.code == 0
    assert report.of("endpoint sentences") == [f"! {STACK} is in UPDATE_IN_PROGRESS"]
    assert "model_specs/sentences.yaml:1:1: warning[busy-stack] FL624" in report.findings


def test_a_quota_below_the_most_instances_is_an_error_at_the_key_that_says_them(
    account: PreparedAccount,
) -> None:
    account.folder.spec(SCALING_KEYS)
    account.folder.write("locks/dev/sentences.lock.yaml", LOCK)
    account.quota(OF_TYPE, 4)
    create_endpoints(account, 2)
    report = account.preflight()
    assert report.code == 1
    text = (
        "sentences needs 8 at `scaling.max`, 2 run for other endpoints: 10 in total, 18 while one is updated"
    )
    assert report.of("quota")[0] == f"✗ {OF_TYPE}: 4; {text}"
    assert (
        f"model_specs/sentences.yaml:6:19: error[insufficient-quota] FL625: {OF_TYPE}: the quota is 4; {text}"
        in report.findings
    )
    assert (
        "--region us-east-1 --service-code sagemaker --quota-code L-1928E07B --desired-value 18"
        in report.findings
    )
    assert "or write 2 for `scaling.max`" in report.findings


def test_an_update_without_room_beside_what_runs_is_an_error(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    account.deploy(count=5)
    account.quota(OF_TYPE, 9)
    report = account.preflight()
    assert report.code == 1
    assert (
        "error[insufficient-update-quota] FL626: ml.g5.xlarge for endpoint usage: the quota is 9"
        in report.findings
    )
    assert "16 while one is updated; beside the running instances the next deploy needs 10" in report.findings
    assert "rollout: {strategy: rolling, step: ...}" in report.findings


def test_an_update_without_room_only_when_all_is_scaled_out_warns(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    account.deploy(count=4)
    account.quota(OF_TYPE, 8)
    report = account.preflight()
    assert report.code == 0
    assert "warning[insufficient-update-quota] FL626" in report.findings
    assert "16 while one is updated; beside the running instances the next deploy needs 8" in report.findings


def test_endpoints_of_one_type_are_counted_together_and_all_types_against_the_total(
    account: PreparedAccount,
) -> None:
    second_spec(account.folder, "images", "scaling: {min: 1, max: 3, gpu_utilization: 60}\n")
    account.quota(OF_TYPE, 3)
    account.quota(TOTAL_QUOTA, 3)
    report = account.preflight()
    needs = "images needs 3 at `scaling.max`, sentences needs 1 at `instance.count`: 4 in total, 7 while one is updated"
    assert report.of("quota") == [f"✗ {OF_TYPE}: 3; {needs}", f"✗ {TOTAL_QUOTA}: 3; {needs}"]
    assert account.preflight("sentences").of("quota")[0].startswith("✓ ")


def test_a_quota_that_is_not_told_warns(account: PreparedAccount) -> None:
    account.folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g5.2xlarge"))
    report = account.preflight()
    assert (report.code, report.of("quota")[0]) == (0, "! ml.g5.2xlarge for endpoint usage: unknown")
    assert (
        "warning[unknown-quota] FL627: Service Quotas has no quota with the name 'ml.g5.2xlarge for endpoint usage'"
        in report.findings
    )


def test_quotas_are_looked_for_page_by_page_until_all_are_found(empty: PreparedAccount) -> None:
    empty.further_quotas(150)
    empty.quota(OF_TYPE, 20)
    empty.quota(TOTAL_QUOTA, 100)
    empty.further_quotas(300)
    assert [line[0] for line in empty.preflight().of("quota")] == ["✓", "✓"]
    assert empty.proxy.count(lambda request: is_call(request, "ListServiceQuotas")) == 2


def test_an_image_that_the_registry_lacks_is_an_error_at_the_release(account: PreparedAccount) -> None:
    body = {
        "images": [],
        "failures": [
            {"imageId": {}, "failureCode": "ImageNotFound", "failureReason": "Requested image not found"}
        ],
    }
    account.answer("BatchGetImage", body)
    report = account.preflight()
    assert report.code == 1
    assert report.of("image") == [f"✗ {IMAGE}: Requested image not found (ImageNotFound)"]
    assert (
        f"model_specs/sentences.yaml:2:1: error[missing-image] FL628: {IMAGE} cannot be pulled"
        in report.findings
    )


def test_an_image_may_be_named_by_the_digest_that_preflight_tells(account: PreparedAccount) -> None:
    account.folder.spec(f"image_digest: {DIGEST}\n")
    report = account.preflight()
    assert (report.code, report.of("image")) == (0, [f"✓ {IMAGE.rpartition(':')[0]}@{DIGEST} exists"])


def test_a_digest_that_the_registry_lacks_is_an_error_at_its_line(account: PreparedAccount) -> None:
    account.folder.spec(f"image_digest: sha256:{0:064}\n")
    report = account.preflight()
    assert report.code == 1
    assert "error[missing-image] FL628: " in report.findings
    assert (
        "remove `image_digest`: preflight then shows the digest of sagemaker-tritonserver:25.04-py3"
        in report.findings
    )


def test_a_registry_without_the_repository_is_an_error_as_well(account: PreparedAccount) -> None:
    account.refuse("BatchGetImage", "RepositoryNotFoundException", "The repository does not exist")
    report = account.preflight()
    assert (report.code, report.of("image")) == (1, [f"✗ {IMAGE}: The repository does not exist"])


def test_an_image_that_the_lock_expects_is_not_missing_because_the_deploy_builds_it(
    account: PreparedAccount,
) -> None:
    account.folder.write("images/detector/Dockerfile", "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n")
    account.folder.spec("image: {build: ../images/detector}\n")
    account.folder.write("locks/dev/sentences.lock.yaml", f"{LOCK}image: {{key: '{DIGEST}'}}\n")
    (line,) = account.preflight().of("image")
    assert line.endswith(f"/triton-fleet-dev:{DIGEST[7:]} is not built yet: the deploy builds it")
    assert line.startswith("✓")


def test_missing_archives_warn_with_what_publishes_them(account: PreparedAccount) -> None:
    account.client("s3").delete_object(Bucket=BUCKET, Key=account.folder.resolve().archives[0].key)
    report = account.preflight()
    assert report.code == 0
    assert report.of("artifacts sentences")[0].startswith("! 0 of 1 in s3://")
    assert "warning[missing-published-archive] FL629" in report.findings
    assert "1 of 1 not published: sentences" in report.findings
    assert "`fleet publish --env dev sentences`" in report.findings


def test_a_place_of_a_live_set_that_is_taken_is_an_error(account: PreparedAccount) -> None:
    live = SPEC.replace("- {archive: sentences,", "- {archive: sentences, version: 1,")
    account.folder.spec("mode: multi-model\narchive_set: live\n", base=live)
    (artifact,) = account.folder.resolve().archives
    account.put(artifact.key, "sha256:" + "b" * 64)
    report = account.preflight()
    assert report.code == 1
    assert report.of("artifacts sentences")[0].startswith("✗ 0 of 1 in s3://")
    assert "model_specs/sentences.yaml:4:1: error[archive-content-conflict] FL304: s3://" in report.findings


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("Failed", "`fleet destroy sentences --env dev`"),
        ("UpdateRollbackFailed", "old and new instances serve side by side"),
    ],
)
def test_an_endpoint_that_cannot_be_updated_is_an_error(
    account: PreparedAccount, status: str, remedy: str
) -> None:
    account.deploy()
    account.status(status)
    report = account.preflight()
    assert (report.code, report.of("endpoint sentences")) == (1, [f"✗ {status}"])
    assert (
        f"model_specs/sentences.yaml:1:1: error[blocked-endpoint] FL631: the endpoint 'sentences' is {status}"
        in report.findings
    )
    assert remedy in report.findings


@pytest.mark.parametrize("status", ["Creating", "Updating", "SystemUpdating", "RollingBack"])
def test_an_endpoint_that_a_deploy_waits_for_is_a_warning(account: PreparedAccount, status: str) -> None:
    account.deploy()
    account.status(status)
    report = account.preflight()
    assert (report.code, report.of("endpoint sentences")) == (0, [f"! {status}"])
    assert f"warning[blocked-endpoint] FL631: the endpoint 'sentences' is {status}" in report.findings
    assert "`fleet deploy` waits for it" in report.findings


def test_a_name_that_somebody_else_has_taken_is_an_error(account: PreparedAccount) -> None:
    account.deploy(stack="another-team")
    report = account.preflight()
    assert (report.code, report.of("endpoint sentences")) == (1, ["✗ the name is taken"])
    assert (
        f"FL632: the account has an endpoint 'sentences' that does not belong to the stack {STACK}"
        in report.findings
    )


def test_alarms_that_ring_warn_and_do_not_stop_what_mends_them(account: PreparedAccount) -> None:
    account.folder.spec("rollout: {}\n")
    account.deploy()
    for name in ("sentences-errors", "sentences-rollout"):
        account.client("cloudwatch").set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")
    report = account.preflight()
    assert report.code == 0
    assert report.of("alarms sentences") == ["! in ALARM: sentences-errors, sentences-rollout"]
    assert (
        "warning[firing-alarm] FL630: sentences-errors is in ALARM: errors of the endpoint" in report.findings
    )
    assert "sentences.yaml:6:1: warning[firing-alarm] FL630: sentences-rollout is in ALARM" in report.findings
    assert "a new configuration has its own alarms" in report.findings


def create_endpoints(account: PreparedAccount, count: int) -> None:
    """An endpoint of somebody else, with so many instances."""
    sagemaker, s3 = account.client("sagemaker"), account.client("s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    create_config(sagemaker, "of-others", {"InitialInstanceCount": count})
    sagemaker.create_endpoint(EndpointName="of-others", EndpointConfigName="of-others")
