"""The size and the time of a call are one fact: who cannot read the catalog has the same numbers."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest

from endpoint_check.check import MAX_CALL_SECONDS
from endpoint_check.transient_errors import CONFIG
from fleet_client import CLIENT_CONFIG, STREAM_CONFIG, client
from shared_container import nginx_config, settings
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.limits import guide_body_limit, model_body_limit, seconds_to_answer
from triton_fleet.local.containers import SECONDS_TO_ANSWER


def test_the_lower_limit_is_that_of_botocores_model_for_requests_and_answers() -> None:
    model: Any = botocore.session.get_session().get_service_model("sagemaker-runtime")
    bodies = [
        model.operation_model("InvokeEndpoint").input_shape.members["Body"],
        model.operation_model("InvokeEndpoint").output_shape.members["Body"],
        model.operation_model("InvokeEndpointWithResponseStream").input_shape.members["Body"],
    ]
    assert {body.metadata["max"] for body in bodies} == {model_body_limit().bytes}


def test_each_limit_of_a_body_has_its_source_and_its_day() -> None:
    for entry in data_file("invocations.yaml")["body"].values():
        assert entry["source"] and entry["date"] <= data_file("invocations.yaml")["date"]


def test_who_refuses_a_body_refuses_what_is_larger_than_every_source_allows() -> None:
    limits = {client.MAX_BODY_BYTES, nginx_config.MAX_BODY_BYTES}
    assert limits == {guide_body_limit().bytes} == {25 << 20}
    assert guide_body_limit().bytes > model_body_limit().bytes


def test_an_answer_has_the_seconds_of_the_catalog_and_who_waits_for_it_a_few_more() -> None:
    seconds = seconds_to_answer(streams=False)
    assert (settings.DEFAULT_SECONDS, SECONDS_TO_ANSWER, seconds) == (60, 60, 60)
    configs: list[Any] = [CLIENT_CONFIG, CONFIG]
    assert [config.read_timeout for config in configs] == [seconds + 10] * 2
    assert configs[1].connect_timeout + configs[1].read_timeout < MAX_CALL_SECONDS


def test_a_streamed_answer_has_eight_minutes() -> None:
    assert seconds_to_answer(streams=True) == 8 * 60
    config: Any = STREAM_CONFIG
    assert (config.read_timeout, config.retries["total_max_attempts"]) == (490, 1)


@pytest.mark.parametrize("name", ["limits.yaml", "documented_limits.yaml"])
def test_no_other_file_of_the_catalog_limits_a_call(name: str) -> None:
    assert [limit for limit in data_file(name)["limits"] if limit.startswith("invoke")] == []
