"""How calls move while a configuration is replaced, and what that asks of quotas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fleet_changes import change
from triton_fleet.changes.environment_change import quota_changes
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.capacity import InstanceLimit, instance_limit
from triton_fleet.context.traffic import InstanceNeed, Phase, instance_need, update_traffic
from triton_fleet.spec.endpoint import EndpointSpec

QUOTA_OF_INSTANCES = "Number of instances across active endpoints"


def spec(rollout: dict[str, Any], count: int = 4) -> EndpointSpec:
    return EndpointSpec.model_validate(
        {
            "endpoint": "sentences",
            "triton": "25.04",
            "instance": {"type": "ml.g5.xlarge", "count": count},
            "models": [{"archive": "sentences", "repository": "models"}],
            "rollout": rollout,
        }
    )


class TestPhases:
    @pytest.mark.parametrize(
        ("rollout", "phases"),
        [
            ({"strategy": "canary", "canary": "25%", "bake": "60s"}, [(25, 60), (100, 60)]),
            ({"strategy": "all-at-once", "bake": "60s"}, [(100, 60)]),
            ({"strategy": "linear", "step": "40%", "bake": "60s"}, [(40, 60), (80, 60), (100, 60)]),
            (
                {"strategy": "linear", "step": "10%", "bake": "60s"},
                [(25, 60), (50, 60), (75, 60), (100, 60)],
            ),
            ({"strategy": "rolling", "step": "50%", "bake": "60s"}, [(50, 60), (100, 60)]),
            (
                {"strategy": "canary", "canary": "50%", "bake": "60s", "termination_wait": "30s"},
                [(50, 60), (100, 60), (100, 30)],
            ),
        ],
    )
    def test_each_step_is_one_and_so_is_the_wait_for_the_old_fleets_end(
        self, rollout: dict[str, Any], phases: list[tuple[float, int]]
    ) -> None:
        traffic = update_traffic(spec(rollout))
        assert traffic.phases == tuple(Phase(share=share, seconds=seconds) for share, seconds in phases)
        assert traffic.shortest == sum(phase.seconds for phase in traffic.phases)


class TestQuotas:
    def test_a_type_that_is_left_is_a_change_of_two_quotas_and_not_of_their_sum(self) -> None:
        limits = (
            InstanceLimit(types=("ml.g5.xlarge",), max_instances=8),
            InstanceLimit(types=("ml.g6.xlarge",), max_instances=8),
        )
        need = InstanceNeed(type="ml.g6.xlarge", beside=2, max_instances=8)
        moved_change = change(effect=UpdateEffect.CONFIGURATION, limits=limits, need=need)
        assert [str(change) for change in quota_changes([moved_change])] == [
            "ml.g5.xlarge for endpoint usage: 8 → 0 at the most",
            "ml.g6.xlarge for endpoint usage: 0 → 8 at the most, and 2 beside them during an update",
            f"{QUOTA_OF_INSTANCES}: 8 → 8 at the most, and 2 beside them during an update",
        ]

    def test_the_largest_second_fleet_counts_and_a_new_endpoint_starts_none(self) -> None:
        limit = InstanceLimit(types=("ml.g5.xlarge",), max_instances=4)
        changes = [
            change(
                name,
                limits=(limit, limit),
                need=InstanceNeed(type="ml.g5.xlarge", beside=beside, max_instances=4),
            )
            for name, beside in (("a", 1), ("b", 3))
        ]
        new = change(
            "c", limits=(None, limit), need=InstanceNeed(type="ml.g5.xlarge", beside=4, max_instances=4)
        )
        actual_changes = quota_changes([*changes, new])
        assert [
            (actual_change.before, actual_change.after, actual_change.beside)
            for actual_change in actual_changes
        ] == [(8, 12, 3), (8, 12, 3)]

    def test_an_instance_pool_asks_for_the_quota_of_its_type_too(self) -> None:
        pools = [{"InstanceType": f"ml.{item}.xlarge", "Priority": at} for at, item in ((1, "g5"), (2, "g6"))]
        raw = {"EndpointConfig": {"ProductionVariants.0.InstancePools": pools}}
        before = spec({})
        after = before.model_copy(update={"cloudformation": raw})
        moved_change = change(
            effect=UpdateEffect.CONFIGURATION,
            limits=(instance_limit(before), instance_limit(after)),
            need=instance_need(before, after, is_replaced=True),
        )
        assert [str(change) for change in quota_changes([moved_change])] == [
            "ml.g5.xlarge for endpoint usage: 4 → 4 at the most, and 4 beside them during an update",
            "ml.g6.xlarge for endpoint usage: 0 → 4 at the most, and 4 beside them during an update",
            f"{QUOTA_OF_INSTANCES}: 4 → 4 at the most, and 4 beside them during an update",
        ]

    def test_the_same_instances_ask_for_nothing(self) -> None:
        limit = InstanceLimit(types=("ml.g5.xlarge",), max_instances=4)
        assert quota_changes([change(limits=(limit, limit))]) == ()
