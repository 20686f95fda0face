"""Which endpoints are deployed at one time: as many second fleets as the quotas have room for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from triton_fleet.aws.deploy.worker_pool import Admission, Headroom, Need

G5, G6, ALL_INSTANCES = "ml.g5.xlarge for endpoint usage", "ml.g6.xlarge for endpoint usage", "all instances"


def need(quota: str, peak: int, after: int = 0) -> Need:
    return Need(peak={quota: peak, ALL_INSTANCES: peak}, after={quota: after, ALL_INSTANCES: after})


def admission(free: dict[str, float], **needs: Need) -> Admission:
    return Admission(list(needs), Headroom(needs=needs, free=free))


def admission_answers(admission: Admission, count: int) -> list[str | None]:
    return [admission.take() for _ in range(count)]


def test_without_a_quota_all_are_handed_out_in_order() -> None:
    assert admission_answers(Admission(["b", "a"], Headroom()), 3) == ["b", "a", None]


def test_an_endpoint_that_does_not_fit_lets_one_of_another_type_pass() -> None:
    requested_admission = admission({G5: 3}, a=need(G5, 2), b=need(G5, 2), c=need(G6, 2))
    assert admission_answers(requested_admission, 2) == ["a", "c"]
    requested_admission.end("a", has_succeeded=True)
    assert admission_answers(requested_admission, 2) == ["b", None]


def test_one_that_waits_begins_when_another_has_ended() -> None:
    requested_admission = admission({G5: 2}, a=need(G5, 2), b=need(G5, 2))
    assert requested_admission.take() == "a"
    with ThreadPoolExecutor(1) as pool:
        waiting_future = pool.submit(requested_admission.take)
        assert not waiting_future.done()
        requested_admission.end("a", has_succeeded=False)
        assert waiting_future.result() == "b"


def test_what_would_not_fit_alone_runs_alone() -> None:
    requested_admission = admission({G5: 1}, large=need(G5, 4), small=need(G5, 1), other=need(G6, 1))
    assert admission_answers(requested_admission, 2) == ["large", "other"]
    requested_admission.end("large", has_succeeded=True)
    assert admission_answers(requested_admission, 1) == ["small"]


def test_the_quota_of_all_types_together_counts_as_well() -> None:
    requested_admission = admission({ALL_INSTANCES: 3}, a=need(G5, 2), b=need(G6, 2), c=need(G5, 1))
    assert admission_answers(requested_admission, 2) == ["a", "c"]


def test_an_endpoint_that_needs_nothing_is_never_held_back() -> None:
    requested_admission = admission({G5: -1}, a=need(G5, 1), b=Need(peak={}, after={}))
    assert admission_answers(requested_admission, 2) == ["a", "b"]


@pytest.mark.parametrize(("is_succeeded", "second"), [(True, "other"), (False, "c")])
def test_a_new_endpoint_keeps_its_instances_and_a_failed_one_gives_them_back(
    is_succeeded: bool, second: str
) -> None:
    requested_admission = admission(
        {G5: 2}, a=need(G5, 1, after=1), b=need(G5, 1), c=need(G5, 1), other=need(G6, 1)
    )
    assert requested_admission.take() == "a"
    requested_admission.end("a", has_succeeded=is_succeeded)
    assert admission_answers(requested_admission, 2) == ["b", second]


def test_after_close_nothing_more_is_handed_out_and_who_waits_is_told() -> None:
    requested_admission = admission({G5: 1}, a=need(G5, 1), b=need(G5, 1))
    assert requested_admission.take() == "a"
    with ThreadPoolExecutor(1) as pool:
        waiting_future = pool.submit(requested_admission.take)
        requested_admission.close()
        assert waiting_future.result() is None
