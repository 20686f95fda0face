"""How many second fleets the quotas of an account have room for."""

from __future__ import annotations

from tests.support.fleet_folder import LOCK, SPEC
from tests.support.prepared_account import OF_TYPE, TOTAL_QUOTA, PreparedAccount
from triton_fleet.aws.deploy.worker_pool import Headroom, Need
from triton_fleet.aws.preflight.quotas import headroom
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

OF_POOL = "ml.g6.xlarge for endpoint usage"
OF_LARGER = "ml.g5.2xlarge for endpoint usage"


def headroom_of(account: PreparedAccount, **instances: str) -> Headroom:
    """For endpoints with these instances in their specs."""
    for name, instance in instances.items():
        base = SPEC.replace("sentences", name).replace("{type: ml.g5.xlarge}", instance)
        account.folder.spec(name=name, base=base)
        account.folder.write(f"locks/dev/{name}.lock.yaml", LOCK.replace("sentences", name))
    fleet = resolve_project(open_project(account.folder.root, "dev", list(instances)))
    return headroom(account.watch.access, fleet.endpoints)


def test_an_update_needs_a_second_fleet_and_a_new_endpoint_its_instances_for_good(
    account: PreparedAccount,
) -> None:
    account.deploy(count=2)
    account.quota(OF_TYPE, 5)
    headroom = headroom_of(
        account, sentences="{type: ml.g5.xlarge, count: 2}", added="{type: ml.g5.xlarge, count: 3}"
    )
    assert headroom.free == {OF_TYPE: 3, TOTAL_QUOTA: 98}
    assert headroom.needs == {
        "sentences": Need(peak={OF_TYPE: 2, TOTAL_QUOTA: 2}, after={OF_TYPE: 0, TOTAL_QUOTA: 0}),
        "added": Need(peak={OF_TYPE: 3, TOTAL_QUOTA: 3}, after={OF_TYPE: 3, TOTAL_QUOTA: 3}),
    }
    assert headroom.notices == (f"{OF_TYPE}: 3 free, 5 needed: deploys that need them run one after another",)


def test_another_instance_type_frees_the_former_ones_afterwards(account: PreparedAccount) -> None:
    account.deploy(count=2)
    headroom = headroom_of(account, sentences="{type: ml.g5.2xlarge, count: 1}", added="{type: ml.g5.xlarge}")
    assert headroom.needs["sentences"] == Need(
        peak={OF_LARGER: 1, TOTAL_QUOTA: 1}, after={OF_LARGER: 1, OF_TYPE: -2, TOTAL_QUOTA: -1}
    )
    assert headroom.free == {OF_TYPE: 18, TOTAL_QUOTA: 98}
    assert headroom.notices == ()


def test_an_endpoint_with_pools_needs_room_in_the_quota_of_each(account: PreparedAccount) -> None:
    account.deploy(count=2)
    account.quota(OF_POOL, 1)
    pools = "[{InstanceType: ml.g5.xlarge, Priority: 1}, {InstanceType: ml.g6.xlarge, Priority: 2}]"
    raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}"
    headroom = headroom_of(account, sentences=f"{{type: ml.g5.xlarge, count: 2}}\n{raw}")
    assert headroom.free == {OF_TYPE: 18, OF_POOL: 1, TOTAL_QUOTA: 98}
    assert headroom.needs["sentences"] == Need(
        peak={OF_TYPE: 2, OF_POOL: 2, TOTAL_QUOTA: 2}, after={OF_TYPE: 0, OF_POOL: 2, TOTAL_QUOTA: 0}
    )


def test_where_the_quotas_cannot_be_read_it_is_said_and_nothing_is_held_back(
    account: PreparedAccount,
) -> None:
    account.deny("ListServiceQuotas", "servicequotas:ListServiceQuotas")
    headroom = headroom_of(account, sentences="{type: ml.g5.xlarge}")
    (notice,) = headroom.notices
    assert notice.startswith(
        "the quotas cannot be read, so they do not limit parallel deploys: AWS refuses: "
    )
    assert (headroom.needs, headroom.free) == ({}, {})
