"""How many instances a fleet comes to: at rest, while it is deployed, and while it is updated."""

from __future__ import annotations

import pytest

from triton_fleet.context.capacity import Capacity, Demand, capacity, demand
from triton_fleet.spec.endpoint import EndpointSpec

G5, G6 = "ml.g5.xlarge", "ml.g6.xlarge"


def of(
    name: str = "a",
    *,
    maximum: int = 8,
    first: int = 2,
    running_number: int = 0,
    of_type: str = G5,
    pools: tuple[str, ...] = (),
    runs_on: str = G5,
    is_scaled: bool = True,
    batch: float | None = None,
) -> Capacity:
    return Capacity(
        endpoint=name,
        types=(of_type, *pools),
        first=first,
        max_instances=maximum,
        key=("scaling", "max"),
        is_scaled=is_scaled,
        batch=batch,
        running_counts={runs_on: running_number} if running_number else {},
    )


def numbers(demand: Demand) -> tuple[int, int, int]:
    return demand.rest, demand.deploy, demand.update


def test_at_rest_all_are_at_their_most_beside_the_others() -> None:
    assert demand([of(maximum=8), of("b", maximum=4)], 3, G5).rest == 15


def test_a_first_deploy_starts_what_the_spec_begins_with() -> None:
    assert demand([of(first=2)], 1, G5).deploy == 3


def test_endpoints_are_created_one_after_the_other_and_stay() -> None:
    assert demand([of(first=2), of("b", first=3)], 0, G5).deploy == 5


def test_an_update_of_a_scaled_endpoint_starts_as_many_as_run() -> None:
    assert numbers(demand([of(maximum=8, first=2, running_number=5)], 0, G5)) == (8, 10, 16)


def test_an_update_of_an_endpoint_without_scaling_starts_what_the_spec_says() -> None:
    assert numbers(demand([of(maximum=3, first=3, running_number=5, is_scaled=False)], 0, G5)) == (3, 8, 6)


def test_of_several_updates_one_second_fleet_is_there_at_a_time() -> None:
    fleets = [of(maximum=8, running_number=5), of("b", maximum=4, running_number=4)]
    assert numbers(demand(fleets, 1, G5)) == (13, 15, 21)


@pytest.mark.parametrize(("batch", "beside"), [(50, 4), (5, 1), (30, 3)])
def test_a_rolling_update_needs_a_batch_beside_what_runs(batch: float, beside: int) -> None:
    assert numbers(demand([of(maximum=8, running_number=8, batch=batch)], 0, G5)) == (
        8,
        8 + beside,
        8 + beside,
    )


def test_a_rolling_update_to_more_instances_ends_with_them() -> None:
    assert demand([of(maximum=9, first=9, running_number=2, is_scaled=False, batch=50)], 0, G5).deploy == 9


def test_another_instance_type_needs_room_for_all_of_them_and_gives_the_old_ones_back() -> None:
    fleets = [of(of_type=G6, maximum=4, running_number=3, batch=50), of("b", maximum=2, first=2)]
    assert numbers(demand(fleets, 0, G6)) == (4, 3, 6)
    assert numbers(demand(fleets, 0, G5)) == (2, 3, 4)
    assert numbers(demand(fleets, 0)) == (6, 6, 8)


def test_what_runs_of_another_type_does_not_count_against_a_type() -> None:
    assert numbers(demand([of(of_type=G6, maximum=4)], 7, G5)) == (7, 7, 7)


def test_instances_of_a_variant_with_pools_count_against_the_quota_of_each_type_and_once_in_all() -> None:
    fleets = [of(maximum=8, first=2, pools=(G6,))]
    assert [numbers(demand(fleets, 0, item)) for item in (G5, G6, None)] == [(8, 2, 16)] * 3
    assert [fleets[0].falls_back_to(item) for item in (G5, G6, None)] == [False, True, False]


def test_a_rolling_update_stays_in_batches_when_instances_run_in_another_pool() -> None:
    fleet = of(maximum=8, running_number=8, runs_on=G6, pools=(G6,), batch=25)
    assert (fleet.added_count, fleet.growth(G6), fleet.growth(G5)) == (2, 0, 8)


def test_the_types_are_those_of_the_spec_and_of_its_own_variants_pools() -> None:
    pools = [{"InstanceType": G5, "Priority": 1}, {"InstanceType": G6, "Priority": 2}]
    raw = {"EndpointConfig": {"ProductionVariants.0.InstancePools": pools}}
    assert capacity(spec(), {}).types == (G5,)
    assert capacity(spec(cloudformation=raw), {}).types == (G5, G6)


@pytest.mark.parametrize(
    ("keys", "maximum", "key"),
    [
        ({}, 2, ("instance", "count")),
        ({"scaling": {"min": 1, "max": 6, "gpu_utilization": 50.0}}, 6, ("scaling", "max")),
        ({"scaling": {"min": 1, "max": 1, "gpu_utilization": 50.0}}, 2, ("instance", "count")),
        (
            {
                "scaling": {
                    "min": 1,
                    "max": 3,
                    "schedules": [
                        {"name": "day", "at": "cron(0 8 ? * MON-FRI *)", "max": 9},
                        {"name": "night", "at": "cron(0 20 ? * MON-FRI *)", "min": 1},
                    ],
                }
            },
            9,
            ("scaling", "schedules", 0, "max"),
        ),
    ],
)
def test_the_most_is_said_by_the_count_by_scaling_or_by_a_schedule(
    keys: dict[str, object], maximum: int, key: tuple[str | int, ...]
) -> None:
    actual_capacity = capacity(spec(**keys), {})
    assert (actual_capacity.max_instances, actual_capacity.key) == (maximum, key)


def test_only_a_rolling_rollout_has_batches() -> None:
    assert capacity(spec(rollout={"strategy": "linear", "step": "20%"}), {}).batch is None
    assert capacity(spec(rollout={"strategy": "rolling", "step": "20%"}), {}).batch == 20


def spec(**keys: object) -> EndpointSpec:
    return EndpointSpec.model_validate(
        {
            "endpoint": "a",
            "triton": "25.04",
            "instance": {"type": G5, "count": 2},
            "models": [{"archive": "a", "repository": "../a"}],
            **keys,
        }
    )
