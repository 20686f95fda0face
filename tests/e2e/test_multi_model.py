"""A multi-model endpoint on a real Triton: targets come from S3 as they are asked for, and leave for others."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.support.endpoint_ids import endpoint_id
from tests.support.zoo import CONFIG, ENDPOINT, Zoo, call_in_parallel, times
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.supervisor import TritonState
from triton_fleet.spec.environment import LocalLimits

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

TWO_OF_64 = LocalLimits.model_validate({"model_memory": "230MiB"})
"""Each model takes 64 MiB and its process some 20 MiB: there is room for two, and none for a third."""


@pytest.fixture(scope="module")
def started_zoo(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    zoo = Zoo(runtime, tmp_path_factory.mktemp("zoo"))
    zoo.start()
    yield zoo
    zoo.stop()


@pytest.fixture
def zoo(started_zoo: Zoo) -> Zoo:
    """An endpoint without limits, whose counts begin anew."""
    started_zoo.limits = LocalLimits()
    started_zoo.metrics.clear()
    return started_zoo


def refusal_error(zoo: Zoo, target: str) -> ClientError:
    with pytest.raises(ClientError) as caught:
        zoo.call(target)
    return caught.value


def test_a_target_is_loaded_by_its_first_call_and_found_by_the_second(zoo: Zoo) -> None:
    zoo.upload("a.tar.gz", times(3))
    assert [zoo.call("a.tar.gz", 5.0), zoo.call("a.tar.gz", 7.0)] == [15.0, 21.0]
    assert [value for name, value in zoo.metrics if name == "model_cache_hit"] == [0.0, 1.0]
    assert zoo.states()["a.tar.gz"] == "loaded"
    for measure in ("model_downloading_time", "model_loading_time", "model_loading_wait_time"):
        assert zoo.count(measure) == 1
    assert (zoo.count("invocations"), zoo.count("model_latency")) == (2, 2)


def test_first_calls_at_one_time_load_their_target_once(zoo: Zoo) -> None:
    zoo.upload("once.tar.gz", times(2))
    answers = call_in_parallel([lambda: zoo.call("once.tar.gz", 4.0)] * 20)
    assert answers == [8.0] * 20
    assert (zoo.count("model_downloading_time"), zoo.count("model_loading_time")) == (1, 1)


def test_settings_for_a_gpu_are_rewritten_and_told(zoo: Zoo) -> None:
    zoo.upload("gpu.tar.gz", times(3))
    zoo.call("gpu.tar.gz")
    lines = [line for line in zoo.report()["differences"] if line.startswith("gpu.tar.gz: ")]
    assert lines == [
        "gpu.tar.gz: times/config.pbtxt: instance_group { kind: KIND_GPU } -> instance_group { count: 1 kind: KIND_CPU }"
    ]


def test_an_archive_that_is_uploaded_answers_without_a_deploy_and_one_that_is_deleted_stops(zoo: Zoo) -> None:
    assert refusal_error(zoo, "late-v1.tar.gz").response["Error"]["Code"] == "ValidationError"
    zoo.upload("late-v1.tar.gz", times(9))
    assert zoo.call("late-v1.tar.gz") == 9.0
    zoo.delete("late-v1.tar.gz")
    message = refusal_error(zoo, "late-v1.tar.gz").response["Error"]["Message"]
    assert "endpoints/zoo/live/late-v1.tar.gz" in message
    zoo.upload("late-v1.tar.gz", times(10))
    assert zoo.call("late-v1.tar.gz") == 10.0


def test_the_least_recently_used_leaves_when_the_limit_of_memory_is_passed(zoo: Zoo) -> None:
    zoo.limits = TWO_OF_64
    for number in (1, 2, 3):
        zoo.upload(f"lru{number}.tar.gz", times(number, megabytes=64))
    zoo.call("lru1.tar.gz")
    zoo.call("lru2.tar.gz")
    zoo.call("lru1.tar.gz")
    assert zoo.call("lru3.tar.gz") == 3.0
    states = zoo.states()
    assert [states[f"lru{number}.tar.gz"] for number in (1, 2, 3)] == ["loaded", "on disk", "loaded"]
    assert zoo.report()["evictions"][-1] == "lru2.tar.gz"
    assert zoo.count("model_unloading_time") >= 1


def test_what_was_evicted_from_memory_is_loaded_from_disk_again(zoo: Zoo) -> None:
    zoo.upload("again.tar.gz", times(4, megabytes=64))
    zoo.call("again.tar.gz")
    zoo.limits = LocalLimits.model_validate({"model_memory": "100MiB"})
    zoo.upload("other.tar.gz", times(5, megabytes=64))
    zoo.call("other.tar.gz")
    assert zoo.states()["again.tar.gz"] == "on disk"
    zoo.metrics.clear()
    assert zoo.call("again.tar.gz") == 4.0
    assert (zoo.count("model_downloading_time"), zoo.count("model_loading_time")) == (0, 1)


def test_a_target_that_does_not_fit_even_alone_is_refused_with_its_size(zoo: Zoo) -> None:
    zoo.limits = LocalLimits.model_validate({"model_memory": "50MiB"})
    zoo.upload("huge.tar.gz", times(1, megabytes=64))
    response = refusal_error(zoo, "huge.tar.gz").response
    assert response["OriginalStatusCode"] == 507  # type: ignore[typeddict-item]
    assert "huge.tar.gz takes " in response["Error"]["Message"]
    assert zoo.states()["huge.tar.gz"] == "on disk"


def test_when_triton_says_that_memory_is_lacking_another_model_leaves(zoo: Zoo, tmp_path: Path) -> None:
    """A model that needs a slot in a folder, of which there is one, stands for a GPU that is full."""
    slot = tmp_path / "slot"
    take = (
        f"        import os\n        slot = {str(slot)!r}\n"
        "        if os.path.exists(slot):\n            raise MemoryError('no slot')\n"
        "        open(slot, 'x').close()"
    )
    leave = f"\n    def finalize(self):\n        import os\n        os.unlink({str(slot)!r})\n"
    for number in (6, 7):
        files = times(number, initialize=take)
        files["times/1/model.py"] += leave
        zoo.upload(f"slot{number}.tar.gz", files)
    assert zoo.call("slot6.tar.gz") == 6.0
    assert zoo.call("slot7.tar.gz") == 7.0
    assert "slot6.tar.gz" in zoo.report()["evictions"]
    assert zoo.states()["slot6.tar.gz"] == "on disk"


def test_when_the_disk_is_full_the_least_recently_used_archive_is_deleted(zoo: Zoo) -> None:
    zoo.limits = LocalLimits.model_validate({"model_memory": "25MiB", "model_disk": "5MiB"})
    big = {"times/1/ballast": "x" * (2 << 20)}
    for number in (1, 2, 3):
        zoo.upload(f"disk{number}.tar.gz", times(number) | big)
    for number in (1, 2, 1, 3):
        assert zoo.call(f"disk{number}.tar.gz") == float(number)
    targets = {target for target in zoo.states() if target.startswith("disk")}
    assert targets == {"disk1.tar.gz", "disk3.tar.gz"}
    assert sum(model["disk"] for model in zoo.report()["models"]) <= 5 << 20
    assert zoo.call("disk2.tar.gz") == 2.0


def test_a_new_archive_under_an_old_name_is_taken_at_the_next_load(zoo: Zoo) -> None:
    zoo.limits = LocalLimits.model_validate({"model_memory": "25MiB"})
    zoo.upload("renewed.tar.gz", times(2))
    zoo.upload("between.tar.gz", times(9))
    assert zoo.call("renewed.tar.gz") == 2.0
    zoo.upload("renewed.tar.gz", times(3))
    assert zoo.call("renewed.tar.gz") == 2.0
    zoo.call("between.tar.gz")
    assert zoo.call("renewed.tar.gz") == 3.0


def test_first_calls_of_five_targets_at_one_time_share_a_disk_for_two(zoo: Zoo) -> None:
    zoo.limits = LocalLimits.model_validate({"model_disk": "5MiB"})
    big = {"times/1/ballast": "x" * (2 << 20)}
    for factor in range(2, 7):
        zoo.upload(f"shared{factor}.tar.gz", times(factor) | big)
    answers = call_in_parallel([lambda f=2 + index % 5: zoo.call(f"shared{f}.tar.gz") for index in range(10)])
    assert answers == [float(2 + index % 5) for index in range(10)]


def test_archives_of_a_triton_that_has_ended_make_room_on_the_disk(zoo: Zoo) -> None:
    big = {"times/1/ballast": "x" * (2 << 20)}
    for name in ("before", "after"):
        zoo.upload(f"{name}.tar.gz", times(3) | big)
    zoo.call("before.tar.gz")
    triton, first = zoo.host._endpoints[endpoint_id(ENDPOINT)].triton, zoo.server
    os.kill(first.process.pid, signal.SIGKILL)
    assert first.process.dead.wait(10)
    assert triton.wait_for(TritonState.RESTART, 10) or zoo.server is not first
    assert triton.wait_for(TritonState.READY, 30)
    zoo.limits = LocalLimits.model_validate({"model_disk": "3MiB"})
    assert zoo.call("after.tar.gz") == 3.0


def test_200_calls_over_5_targets_with_room_for_2_all_get_the_right_answer(zoo: Zoo) -> None:
    zoo.limits = TWO_OF_64
    for factor in range(2, 7):
        zoo.upload(f"t{factor}.tar.gz", times(factor, megabytes=64))
    expected_rows = [(2 + index % 5, float(index)) for index in range(200)]
    answers = call_in_parallel(
        [lambda f=factor, x=x: zoo.call(f"t{f}.tar.gz", x) for factor, x in expected_rows]
    )
    assert answers == [factor * x for factor, x in expected_rows]
    assert zoo.count("model_cache_hit") == 200
    assert len([target for target, state in zoo.states().items() if state == "loaded"]) <= 2


def test_a_call_must_name_its_target(zoo: Zoo) -> None:
    with pytest.raises(ClientError, match="TargetModel is required: this is a multi-model endpoint"):
        zoo.runtime.invoke_endpoint(EndpointName=ENDPOINT, Body=b"{}", ContentType="application/json")


def test_an_archive_with_its_files_at_the_root_is_served_as_triton_does(zoo: Zoo) -> None:
    files = {name.removeprefix("times/"): text for name, text in times(8).items()}
    assert files["config.pbtxt"] == CONFIG
    zoo.upload("root.tar.gz", files)
    assert zoo.call("root.tar.gz") == 8.0
