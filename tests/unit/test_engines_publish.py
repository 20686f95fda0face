"""An engine is built once for all that need it, and lies in the archives that are packed with it."""

from __future__ import annotations

import pytest

from engine_bucket import EngineBucket, engine_bucket, small_onnx
from fleet.artifacts.publish import Published
from fleet.repository.plan_header import plan_version
from fleet_folder import FleetFolder


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder) -> EngineBucket:
    return engine_bucket(aws_url, folder)


def test_the_plan_is_built_and_packed_where_triton_looks_for_it(bucket: EngineBucket) -> None:
    bucket.endpoint()
    done = bucket.publish()
    assert (done.engines, done.uploaded, done.copied) == (1, 1, 1)
    assert list(bucket.packed()) == ["bert/config.pbtxt", "bert/1/model.plan"]
    plan = bucket.packed()["bert/1/model.plan"]
    assert plan_version(plan) == "10.9.0.34"
    assert plan.endswith(small_onnx())


def test_what_is_published_starts_no_build(bucket: EngineBucket) -> None:
    bucket.endpoint()
    bucket.publish()
    assert len(bucket.builds) == 1
    assert bucket.publish() == Published(there=1)
    assert len(bucket.builds) == 1
    assert bucket.artifacts.held("engines/leases/") == []
