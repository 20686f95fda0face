"""A clock that jumps by an hour or a year decides nothing: who reads it has a reason."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.embedded_cloudwatch import CURRENT_TIME
from tests.support.endpoint_ids import endpoint_id
from tests.support.fleet_folder import ROOT
from tests.support.jumped_clock import JUMPS, jump
from triton_fleet.awsapi.errors import SET_CLOCK, aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.local.metrics.publisher import Publisher
from triton_fleet.local.metrics.recorder import Recorder

YEAR = timedelta(days=365)


@pytest.mark.parametrize("by", JUMPS)
def test_a_gauge_is_published_once_a_minute_whichever_minute_the_clock_comes_to(by: timedelta) -> None:
    times, payload = [CURRENT_TIME.timestamp()], list[Any]()

    class CloudWatch:
        def put_metric_data(self, **request: Any) -> None:
            payload.append(request["MetricData"][0]["Timestamp"])

    client: Any = CloudWatch()
    publisher = Publisher(
        Recorder(lambda: times[-1]),
        sources=list,
        gauges=lambda: [(endpoint_id("sentences"), "AllTraffic", "loaded_model_count", 1.0)],
        cloudwatch=lambda *_: client,
        clock=lambda: times[-1],
    )
    for seconds in (0.0, 1.0, by.total_seconds(), by.total_seconds() + 1):
        times.append(CURRENT_TIME.timestamp() + seconds)
        publisher.publish_on_demand()
    assert payload == [CURRENT_TIME, CURRENT_TIME + by]


def test_a_request_that_aws_takes_for_too_old_or_too_new_names_the_clock() -> None:
    from botocore.exceptions import ClientError

    text = {"Code": "RequestTimeTooSkewed", "Message": "The difference is too large."}
    with pytest.raises(CannotRunError) as caught, aws_errors_as_findings():
        raise ClientError({"Error": text}, "ListObjectsV2")  # type: ignore[typeddict-item]
    assert caught.value.remedy == SET_CLOCK


WALL = {
    "containers/shared/shared_container/log.py": "dates lines of a log",
    "containers/shared/shared_container/metrics.py": "dates metrics, as CloudWatch wants each line to be",
    "emulator/fleet_emulator/autoscaling/activities.py": "dates activities, as Application Auto Scaling does",
    "emulator/fleet_emulator/cloudwatch/backend.py": "dates what is put without a date, as CloudWatch does",
    "emulator/fleet_emulator/logs/backend.py": "says when a saved query was changed",
    "emulator/fleet_emulator/registry/backend.py": "ends a token of ECR, as AWS does",
    "emulator/fleet_emulator/sagemaker/jobs/backend.py": "is part of a name that is unique without it",
    "emulator/fleet_emulator/stacks/drift.py": "dates a detection, as CloudFormation does",
    "emulator/fleet_emulator/stacks/changes.py": "dates what an early validation has found, as CloudFormation does",
    "emulator/fleet_emulator/signatures.py": "ends a signature, which is dated by wall clock, and notes its jumps by a steady one",
    "emulator/fleet_emulator/work/machine.py": "dates lines of a log",
    "engine_build/engine_request/host.py": "says to people when an engine or an image was built, or its build failed",
    "triton_fleet/awsapi/errors.py": "is compared with AWS's, to say that they differ",
    "triton_fleet/store/prune/prune.py": "is compared with S3's, and nothing goes where they differ",
    "triton_fleet/cli/arguments.py": "is compared with the last days that people write into policies",
    "triton_fleet/aws/dashboard/page.py": "is the end of the page, whose points are dated by the same clock",
    "triton_fleet/local/metrics/publisher.py": "finds the end of a minute of CloudWatch's",
    "triton_fleet/local/metrics/recorder.py": "dates values",
    "lambda/endpoint_check/handler.py": "is all that two invocations of a function have in common",
    "lambda/model_assembly/handler.py": "is all that two invocations of a function have in common",
    "lambda/scaling_guard/handler.py": "is all that two invocations of a function have in common",
    "lambda/scaling_guard/restore.py": "is compared with when a schedule is to begin, a time of the wall clock",
}
"""Who reads the wall clock, and what for; anything that waits or grows old goes by a steady clock or by AWS's."""


def readers() -> Iterator[str]:
    """Files of the product that name the wall clock."""
    for folder in (
        "client",
        "constructs",
        "containers",
        "emulator",
        "engine_build",
        "lambda",
        "stacks",
        "triton_fleet",
    ):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if any(_is_wall_clock(node) for node in ast.walk(ast.parse(file.read_text()))):
                yield file.relative_to(ROOT).as_posix()


def _is_wall_clock(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return (node.value.id, node.attr) in {
        ("time", "time"),
        ("time", "time_ns"),
        ("datetime", "now"),
        ("datetime", "utcnow"),
        ("datetime", "today"),
        ("date", "today"),
    }


def test_whoever_reads_the_wall_clock_has_a_reason() -> None:
    assert list(readers()) == sorted(WALL)


def test_the_wall_clock_of_a_test_is_shifted_and_its_steady_clock_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = type(ast)("module")
    jump(monkeypatch, module, YEAR)
    assert module.datetime.now(UTC) - datetime.now(UTC) > YEAR - timedelta(minutes=1)
    assert module.time.time() - time.time() > YEAR.total_seconds() - 60
    assert module.time.monotonic() - time.monotonic() < 60
