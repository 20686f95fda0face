"""Utilization metrics are read at the interval at which SageMaker publishes them, all others by the minute."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import EndpointStack
from tests.support.dashboards import Dashboard
from tests.support.fleet_folder import FleetFolder
from tests.synth.resources import STACK

UTILIZATION = {"CPUUtilization", "MemoryUtilization", "DiskUtilization", "GPUUtilization"}
SCALING_KEYS = """\
scaling: {min: 1, max: 4, invocations_per_instance: 60}
alarms: {latency_p99: 200ms, gpu_utilization: 95%, at_capacity: 15m, pending_requests: 20}
"""


def publish_interval(seconds: int) -> str:
    """The key of a spec."""
    return f"metrics: {{publish_every: {seconds}s}}\n"


def alarms(folder: FleetFolder, seconds: int) -> dict[str, dict[str, Any]]:
    """The alarms of a scaled endpoint by their metric, counted instances as `running`."""
    folder.spec(SCALING_KEYS + publish_interval(seconds))
    app = App()
    EndpointStack(app, endpoint=folder.resolve())
    template = Template.from_json(app.synth().get_stack_by_name(STACK).template)
    properties = [
        resource["Properties"] for resource in template.find_resources("AWS::CloudWatch::Alarm").values()
    ]
    return {
        "running" if entry.get("Statistic") == "SampleCount" else entry.get("MetricName", "calculated"): entry
        for entry in properties
    }


def looks(alarm: dict[str, Any]) -> tuple[int, int, int]:
    """Seconds of a period, periods that an alarm evaluates, and in how many of them it has to be too much."""
    return alarm["Period"], alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]


@pytest.mark.parametrize(
    ("seconds", "gpu", "memory", "expected_counts", "threshold"),
    [
        (10, (60, 15, 10), (60, 5, 3), (60, 15, 14), 19),
        (30, (60, 15, 10), (60, 5, 3), (60, 15, 14), 7),
        (60, (60, 15, 10), (60, 5, 3), (60, 15, 14), 4),
        (120, (120, 8, 5), (120, 3, 2), (120, 8, 7), 4),
        (240, (240, 4, 3), (240, 2, 1), (240, 4, 4), 4),
        (300, (300, 3, 2), (300, 1, 1), (300, 3, 3), 4),
    ],
)
def test_an_alarm_on_utilization_looks_at_the_same_time_in_periods_that_have_a_value(
    folder: FleetFolder,
    seconds: int,
    gpu: tuple[int, int, int],
    memory: tuple[int, int, int],
    expected_counts: tuple[int, int, int],
    threshold: int,
) -> None:
    actual_alarms = alarms(folder, seconds)
    assert looks(actual_alarms["GPUUtilization"]) == gpu
    assert looks(actual_alarms["MemoryUtilization"]) == looks(actual_alarms["DiskUtilization"]) == memory
    assert looks(actual_alarms["running"]) == expected_counts
    assert actual_alarms["running"]["Threshold"] == threshold


def test_all_other_alarms_look_at_minutes_at_any_interval(folder: FleetFolder) -> None:
    by_the_minute, actual_alarms = alarms(folder, 60), alarms(folder, 300)
    other_names = by_the_minute.keys() - UTILIZATION - {"running"}
    assert other_names
    assert {name: actual_alarms[name] for name in other_names} == {
        name: by_the_minute[name] for name in other_names
    }


def test_an_alarm_says_in_which_periods_it_looks(folder: FleetFolder) -> None:
    text = alarms(folder, 300)["GPUUtilization"]["AlarmDescription"]
    assert "Average of GPUUtilization above 95% in 2 of 3 periods of 300s." in text


@pytest.mark.parametrize(
    ("seconds", "period", "running_text", "change"),
    [
        (10, 60, "cpu_utilization_SampleCount / 6", "DIFF(cpu_utilization_SampleCount) / 6"),
        (60, 60, "CPUUtilization SampleCount", "DIFF(cpu_utilization_SampleCount)"),
        (300, 300, "CPUUtilization SampleCount", "DIFF(cpu_utilization_SampleCount)"),
    ],
)
def test_the_dashboard_counts_each_instance_once(
    folder: FleetFolder,
    seconds: int,
    period: int,
    running_text: str,
    change: str,
) -> None:
    folder.spec(publish_interval(seconds))
    dashboard = Dashboard(folder.resolve())
    assert dashboard.lines("Instances running and desired") == {
        "running": running_text,
        "serving calls": "invocations_Sum / invocations_per_instance_Sum",
    }
    assert dashboard.lines("Instances added or removed") == {"change": change}
    periods = {
        (metric[1] if len(metric) > 1 else metric[0]["label"]): metric[-1]["period"]
        for graph in dashboard.graphs.values()
        for metric in graph["metrics"]
    }
    assert {periods[name] for name in (*UTILIZATION, "change")} == {period}
    assert {periods[name] for name in ("Invocations", "ModelLatency", "serving calls")} == {60}
