"""Whether the quotas have room for an endpoint with instance pools, each of which may get all of its instances."""

from __future__ import annotations

from tests.support.embedded_app.updates import create_config
from tests.support.fleet_folder import SPEC
from tests.support.prepared_account import OF_TYPE, PreparedAccount, second_spec

OF_POOL = "ml.g6.xlarge for endpoint usage"
POOLS = """cloudformation:
  EndpointConfig:
    ProductionVariants.0.InstancePools:
      - {InstanceType: ml.g5.xlarge, Priority: 1}
      - {InstanceType: ml.g6.xlarge, Priority: 2}
"""
SCALING_KEYS = "scaling: {min: 1, max: 8, gpu_utilization: 60}\n"


def test_a_pool_without_quota_is_an_error_at_the_pool(account: PreparedAccount) -> None:
    account.folder.spec(f"{SCALING_KEYS}{POOLS}")
    account.quota(OF_POOL, 0)
    report = account.preflight()
    assert report.code == 1
    needs = "sentences needs 8 at `scaling.max` in instance pool 2, 16 while one is updated"
    assert report.of("quota")[:2] == [
        f"✓ {OF_TYPE}: 20; sentences needs 8 at `scaling.max`, 16 while one is updated",
        f"✗ {OF_POOL}: 0; {needs}",
    ]
    assert (
        f"model_specs/sentences.yaml:11:10: error[insufficient-quota] FL625: {OF_POOL}: the quota is 0; {needs}"
        in report.findings
    )
    assert (
        "SageMaker refuses an endpoint that names a type without free quota, also as a fallback"
        in report.findings
    )
    assert "--quota-code L-6821E9A1 --desired-value 16`; or leave the pool out" in report.findings


def test_a_pool_with_less_quota_than_all_instances_warns(account: PreparedAccount) -> None:
    account.folder.spec(f"{SCALING_KEYS}{POOLS}")
    account.quota(OF_POOL, 3)
    report = account.preflight()
    assert (report.code, report.of("quota")[1][0]) == (0, "!")
    assert (
        f"warning[insufficient-quota] FL625: {OF_POOL}: the quota is 3; sentences needs 8" in report.findings
    )
    assert "it is not known how many of them SageMaker counts for a pool" in report.findings


def test_a_pool_whose_quota_is_used_up_by_others_is_an_error(account: PreparedAccount) -> None:
    account.folder.spec(POOLS)
    sagemaker, s3 = account.client("sagemaker"), account.client("s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    create_config(sagemaker, "of-others", {"InitialInstanceCount": 3, "InstanceType": "ml.g6.xlarge"})
    sagemaker.create_endpoint(EndpointName="of-others", EndpointConfigName="of-others")
    for quota in (2, 3):
        account.quota(OF_POOL, quota)
        report = account.preflight()
        assert report.code == 1
        assert f"10:10: error[insufficient-quota] FL625: {OF_POOL}: the quota is {quota}; " in report.findings
        assert "also as a fallback" in report.findings
    account.quota(OF_POOL, 4)
    assert account.preflight().code == 0


def test_an_update_of_pools_that_may_lack_room_warns(account: PreparedAccount) -> None:
    account.folder.spec(POOLS)
    account.deploy(count=1)
    account.quota(OF_POOL, 1)
    report = account.preflight()
    assert (report.code, report.of("quota")[1][0]) == (0, "!")
    assert (
        f"model_specs/sentences.yaml:10:10: warning[insufficient-update-quota] FL626: {OF_POOL}"
        in report.findings
    )


def test_a_pool_of_a_type_that_another_endpoint_runs_on_counts_with_it(account: PreparedAccount) -> None:
    account.folder.spec(POOLS)
    scaled_text = "scaling: {min: 1, max: 3, gpu_utilization: 60}\n"
    second_spec(account.folder, "images", scaled_text)
    base = SPEC.replace("endpoint: sentences", "endpoint: images").replace("ml.g5.xlarge", "ml.g6.xlarge")
    account.folder.spec(scaled_text, name="images", base=base)
    account.quota(OF_POOL, 3)
    report = account.preflight()
    assert report.code == 0
    needs = "images needs 3 at `scaling.max`, sentences needs 1 at `instance.count` in instance pool 2: 4 in total"
    assert report.of("quota")[0].startswith(f"! {OF_POOL}: 3; {needs}")
    account.quota(OF_POOL, 2)
    assert account.preflight().code == 1
