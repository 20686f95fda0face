"""The alarms of each kind of endpoint, read off its template."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_emulator.stacks.resources import references
from fleet_stacks.fleet_app import EndpointStack
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.resources import KINDS, STACK, notified_topics
from triton_fleet.context.alarms import RECORDS
from triton_fleet.spec.values import DYNAMIC

BOTH_SEVERITIES = ", ".join(
    f"{key}: {{warning: {warning}, critical: {critical}}}"
    for key, warning, critical in (
        ("errors", "1%", "2%"),
        ("client_errors", "1%", "2%"),
        ("model_errors", "1%", "2%"),
        ("latency_p50", "1s", "2s"),
        ("latency_p90", "1s", "2s"),
        ("latency_p99", "1s", "2s"),
        ("overhead_p99", "1s", "2s"),
        ("model_load", "1s", "2s"),
        ("loading_wait", "1s", "2s"),
        ("at_capacity", "15m", "30m"),
        ("pending_requests", "10", "20"),
        ("cache_hits", "80%", "70%"),
        ("gpu_utilization", "80%", "90%"),
        ("gpu_memory", "80%", "90%"),
        ("cpu_utilization", "80%", "90%"),
        ("memory", "80%", "90%"),
        ("disk", "80%", "90%"),
    )
)
OF_CALLS = {
    "LatencyP50Warning": ("ModelLatency", "p50", 100_000, 10),
    "LatencyP90Warning": ("ModelLatency", "p90", 150_000, 20),
    "LatencyP99Warning": ("ModelLatency", "p99", 200_000, 20),
    "LatencyP99Critical": ("ModelLatency", "p99", 1_000_000, 20),
    "OverheadP99Warning": ("OverheadLatency", "p99", 50_000, 20),
    "ErrorsCritical": ("Invocation5XXErrors", "Average", 0.02, 5),
    "ClientErrorsWarning": ("Invocation4XXErrors", "Average", 0.1, 20),
    "ModelErrorsCritical": ("InvocationModelErrors", "Average", 0.03, 5),
}
"""Metric, statistic, threshold, and the calls of a minute without which it does not count."""
OF_HOSTS = {
    "CpuUtilizationWarning": ("CPUUtilization", "Average", 90 * 4, None),
    "MemoryWarning": ("MemoryUtilization", "Maximum", 80, None),
    "DiskWarning": ("DiskUtilization", "Maximum", 70, None),
    "AtCapacityWarning": ("CPUUtilization", "SampleCount", 4, None),
    "PendingRequestsWarning": (
        'SELECT MAX(nv_inference_pending_request_count) FROM "TritonFleet/sentences"',
        None,
        20,
        None,
    ),
}
OF_GPUS = {
    "GpuUtilizationWarning": ("GPUUtilization", "Average", 95, None),
    "GpuMemoryWarning": ("GPUMemoryUtilization", "Maximum", 90, None),
}
OF_SEVERAL_MODELS = {
    "ModelLoadWarning": ("ModelLoadingTime", "Average", 20_000_000, None),
    "LoadingWaitWarning": ("ModelLoadingWaitTime", "Average", 2_000_000, None),
    "CacheHitsWarning": ("ModelCacheHit", "Average", 0.8, 20),
}
METRICS_BY_KIND = {
    "gpu": OF_CALLS | OF_HOSTS | OF_GPUS,
    "cpu": OF_CALLS | OF_HOSTS,
    "multi-model": OF_CALLS | OF_HOSTS | OF_GPUS | OF_SEVERAL_MODELS,
}


def synth_alarms(folder: FleetFolder, keys: str = "", base: str = SPEC) -> Template:
    folder.spec(keys, base=base)
    app = App()
    EndpointStack(app, endpoint=folder.resolve())
    return Template.from_json(app.synth().get_stack_by_name(STACK).template)


def alarms(folder: FleetFolder, keys: str = "", base: str = SPEC) -> dict[str, dict[str, Any]]:
    """The operators' alarms by key and severity; a rollout's have names of their own."""
    return alarms_of(synth_alarms(folder, keys, base))


def alarms_of(template: Template) -> dict[str, dict[str, Any]]:
    resources = template.find_resources("AWS::CloudWatch::Alarm").items()
    return {
        id.removeprefix("Alarms")[:-8]: alarm["Properties"]
        for id, alarm in resources
        if "AlarmName" not in alarm["Properties"]
    }


def alarm_measure(alarm: dict[str, Any]) -> tuple[Any, ...]:
    """As the tables above have it."""
    if "Metrics" not in alarm:
        statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
        return alarm["MetricName"], statistic, alarm["Threshold"], None
    metric, *hidden_metrics = alarm["Metrics"]
    assert [metric["ReturnData"], *(metric["ReturnData"] for metric in hidden_metrics)] == [
        True,
        *(False for _ in hidden_metrics),
    ]
    if not hidden_metrics:
        return metric["Expression"], None, alarm["Threshold"], None
    calls, value = (metric["MetricStat"] for metric in hidden_metrics)
    assert (calls["Metric"], calls["Stat"]) == (value["Metric"], "SampleCount")
    gate = int(metric["Expression"].removeprefix("IF(calls >= ").removesuffix(", value)"))
    return value["Metric"]["MetricName"], value["Stat"], alarm["Threshold"], gate


@pytest.mark.parametrize("kind", KINDS)
def test_all_alarms_of_a_kind_are_on_metrics_that_it_has(folder: FleetFolder, kind: str) -> None:
    base, keys = KINDS[kind]
    actual_alarms = alarms(folder, keys, base)
    assert {name: alarm_measure(alarm) for name, alarm in actual_alarms.items()} == METRICS_BY_KIND[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_without_alarms_nobody_is_told(folder: FleetFolder, kind: str) -> None:
    assert alarms(folder, "alarms: null\n", KINDS[kind][0]) == {}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("gpu", {"ErrorsWarning", "ErrorsCritical", "MemoryWarning", "DiskWarning"}),
        ("cpu", {"ErrorsWarning", "ErrorsCritical", "MemoryWarning", "DiskWarning"}),
        ("multi-model", {"ErrorsWarning", "ErrorsCritical"}),
    ],
)
def test_a_spec_that_says_nothing_has_those_that_are_right_for_everybody(
    folder: FleetFolder, kind: str, names: set[str]
) -> None:
    assert set(alarms(folder, base=KINDS[kind][0])) == names


def test_a_default_is_switched_off_by_null(folder: FleetFolder) -> None:
    actual_alarms = alarms(folder, "alarms: {disk: null, errors: {critical: 5%}}\n")
    assert set(actual_alarms) == {"ErrorsCritical", "MemoryWarning"}


def test_an_alarm_tells_its_severitys_topic_when_it_rings_and_when_it_ends(folder: FleetFolder) -> None:
    template = synth_alarms(folder)
    for name, alarm in alarms_of(template).items():
        severity = "critical" if name.endswith("Critical") else "warning"
        assert notified_topics(template.to_json(), alarm) == [f"/triton-fleet/dev/alarm-topic/{severity}"]
        assert alarm["AlarmActions"] == alarm["OKActions"]


def test_all_alarms_of_both_severities_name_two_topics_and_have_no_dynamic_reference(
    folder: FleetFolder,
) -> None:
    """CloudFormation accepts 60 dynamic references in a template; each of these alarms has two actions."""
    base, keys = KINDS["multi-model"]
    scaling, *_ = keys.splitlines()
    template = synth_alarms(folder, f"{scaling}\nalarms: {{{BOTH_SEVERITIES}}}\n", base)
    assert len(alarms_of(template)) == 2 * len(RECORDS) == 34
    assert DYNAMIC not in json.dumps(template.to_json())
    named_parameters = [
        parameter for parameter in template.to_json()["Parameters"] if parameter.startswith("Alarms")
    ]
    assert len(named_parameters) == 2


def test_the_cdk_cli_deploys_no_stack_again_for_its_topics(folder: FleetFolder) -> None:
    """It would for each parameter of the parameter store without this mark in its description."""
    parameters = synth_alarms(folder).to_json()["Parameters"].values()
    assert all("[cdk:skip]" in parameter["Description"] for parameter in parameters)


def test_another_owner_has_other_parameters_as_the_cdk_cli_keeps_the_values_of_those_that_exist(
    folder: FleetFolder,
) -> None:
    folder.environment("notifications: {owners: {search: {critical: [search@example.com]}}}\n")
    nobodys, parameters = (
        synth_alarms(folder, keys).to_json()["Parameters"] for keys in ("", "owner: {team: search}\n")
    )
    assert nobodys.keys() & parameters.keys() == {"BootstrapVersion"}


def test_a_floor_rings_below_and_a_ceiling_above(folder: FleetFolder) -> None:
    base, keys = KINDS["multi-model"]
    actual_alarms = alarms(folder, keys, base)
    operators = {name: alarm["ComparisonOperator"] for name, alarm in actual_alarms.items()}
    assert operators.pop("CacheHitsWarning") == "LessThanThreshold"
    assert operators.pop("AtCapacityWarning") == "GreaterThanOrEqualToThreshold"
    assert set(operators.values()) == {"GreaterThanThreshold"}


def test_one_of_ten_minutes_may_be_late_when_capacity_is_used_up(folder: FleetFolder) -> None:
    keys = "scaling: {min: 1, max: 3, invocations_per_instance: 60}\nalarms: {at_capacity: 30m}\n"
    alarm = alarms(folder, keys)["AtCapacityWarning"]
    assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (3, 30, 27)


def test_percent_of_one_gpu_is_deployed_as_of_all(folder: FleetFolder) -> None:
    base = SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge")
    actual_alarms = alarms(
        folder, "alarms: {gpu_utilization: 90%, gpu_memory: 95%, cpu_utilization: 50%}\n", base
    )
    assert actual_alarms["GpuUtilizationWarning"]["Threshold"] == 4 * 90
    assert actual_alarms["GpuMemoryWarning"]["Threshold"] == 4 * 95
    assert actual_alarms["CpuUtilizationWarning"]["Threshold"] == 48 * 50
    assert actual_alarms["MemoryWarning"]["Threshold"] == 90


@pytest.mark.parametrize(("calls", "gate"), [(0, None), (1, None), (2, 2), (100, 100)])
def test_the_gate_is_as_the_spec_says(folder: FleetFolder, calls: int, gate: int | None) -> None:
    actual_alarms = alarms(folder, f"alarms: {{latency_p99: 200ms, calls: {calls}}}\n")
    assert alarm_measure(actual_alarms["LatencyP99Warning"])[3] == gate
    assert alarm_measure(actual_alarms["ErrorsCritical"])[3] == gate
    assert alarm_measure(actual_alarms["DiskWarning"])[3] is None


def test_quiet_minutes_are_no_breach_and_silent_instances_are_not_well(folder: FleetFolder) -> None:
    missing_missing_data = {name: alarm["TreatMissingData"] for name, alarm in alarms(folder).items()}
    assert missing_missing_data == {
        "ErrorsWarning": "notBreaching",
        "ErrorsCritical": "notBreaching",
        "MemoryWarning": "missing",
        "DiskWarning": "missing",
    }


def test_no_alarm_waits_for_the_endpoint(folder: FleetFolder) -> None:
    base, keys = KINDS["gpu"]
    template = synth_alarms(folder, keys, base)
    resources = template.to_json()["Resources"]
    for alarm in alarms_of(template).values():
        assert resources.keys().isdisjoint(references(alarm))
