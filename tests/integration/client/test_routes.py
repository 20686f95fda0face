"""How a call of the client names the model of a shared container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fleet_client import PayloadError, TritonEndpoint
from tests.support.runtime_stand_in import RuntimeStandIn, runtime_stand_in

X = np.array([[1.5, 2.5]], dtype=np.float32)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimeStandIn]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
    with runtime_stand_in() as stand_in:
        yield stand_in


def endpoint(runtime: RuntimeStandIn) -> TritonEndpoint:
    return TritonEndpoint("embed", region="us-east-1", endpoint_url=runtime.url)


@pytest.mark.parametrize(
    ("route", "attributes"),
    [
        ({}, None),
        ({"model": "resnet"}, "model=resnet"),
        ({"model": "resnet", "version": 2}, "model=resnet;version=2"),
        ({"version": "3"}, "version=3"),
    ],
)
def test_route_and_version_of_a_shared_container_are_sent_as_custom_attributes(
    runtime: RuntimeStandIn, route: dict[str, Any], attributes: str | None
) -> None:
    endpoint(runtime).infer({"x": X}, **route)
    assert runtime.requests[-1].headers.get("X-Amzn-SageMaker-Custom-Attributes") == attributes


@pytest.mark.parametrize(
    "route",
    [
        {"model": "a;version=9"},
        {"model": ""},
        {"model": "a\r\nb"},
        {"version": "1;model=b"},
        {"version": -1},
    ],
)
def test_a_route_that_would_be_read_as_another_is_refused_before_it_is_sent(
    runtime: RuntimeStandIn, route: dict[str, Any]
) -> None:
    with pytest.raises(PayloadError, match="must be"):
        endpoint(runtime).infer({"x": X}, **route)
    assert runtime.requests == []
