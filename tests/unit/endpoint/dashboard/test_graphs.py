"""An endpoint's dashboard shows every metric that it has, each in a unit that can be read."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from tests.support.dashboards import Dashboard
from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.metrics import endpoint_metric, triton_series
from triton_fleet.context.alarms import Alarm
from triton_fleet.endpoint.dashboard.sections import SECTIONS, Line
from triton_fleet.endpoint.dashboard.triton import MAX_MODELS, TRITON_GRAPHS

MULTI_MODEL = SPEC.replace("triton:", "mode: multi-model\ntriton:")
TARGETS = "invocations_per_instance: 600, concurrent_requests: 4, cpu_utilization: 50"
SCALING_KEYS = f"scaling: {{min: 1, max: 4, {TARGETS}, gpu_utilization: 60}}\n"
KINDS = {
    "gpu": SPEC,
    "cpu": SPEC.replace("g5", "c5"),
    "multi-model": MULTI_MODEL,
    "multi-model on CPUs": MULTI_MODEL.replace("g5", "c5"),
    "several GPUs": SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge"),
    "scaled": SPEC + SCALING_KEYS,
}
ALARMS = (
    Alarm(
        key="latency_p99",
        severity="critical",
        measure="model_latency",
        statistic="p99",
        threshold=1e6,
        graph_threshold=1000,
    ),
    Alarm(
        key="latency_p99",
        severity="warning",
        measure="model_latency",
        statistic="p99",
        threshold=2e5,
        graph_threshold=200,
    ),
    Alarm(
        key="errors",
        severity="critical",
        measure="errors_5xx",
        statistic="Average",
        threshold=0.01,
        graph_threshold=1,
    ),
    Alarm(
        key="gpu_utilization",
        severity="warning",
        measure="gpu_utilization",
        statistic="Average",
        threshold=360,
        graph_threshold=90,
    ),
    Alarm(
        key="at_capacity",
        severity="critical",
        measure="cpu_utilization",
        statistic="SampleCount",
        threshold=4,
        graph_threshold=4,
        comparison="at least",
    ),
    Alarm(
        key="pending",
        severity="warning",
        measure="pending_requests",
        statistic="Maximum",
        threshold=8,
        graph_threshold=8,
    ),
)
RED_COLOR, ORANGE, GREY = "#d62728", "#ff7f0e", "#7f7f7f"


def dashboard(folder: FleetFolder, keys: str = "", *, base: str = SPEC) -> Dashboard:
    folder.spec(keys, base=base)
    return Dashboard(folder.resolve())


@pytest.mark.parametrize("kind", KINDS)
def test_every_metric_that_an_endpoint_has_is_on_its_dashboard_and_no_other(
    folder: FleetFolder, kind: str
) -> None:
    drawn_dashboard = dashboard(folder, base=KINDS[kind])
    kinds = drawn_dashboard.endpoint.kinds
    published_metrics = [endpoint_metric(measure) for measure in data_file("metrics.yaml")["metrics"]]
    assert drawn_dashboard.metrics() == {
        (metric.namespace, metric.name) for metric in published_metrics if kinds & set(metric.kinds)
    }
    tritons = [triton_series(measure) for measure in data_file("metrics.yaml")["triton"]]
    matches = set(re.findall(r'MetricName="([^"]+)"', " ".join(drawn_dashboard.expressions())))
    assert matches == {triton.name for triton in tritons if kinds & set(triton.kinds)}


def test_without_tritons_metrics_nothing_is_searched(folder: FleetFolder) -> None:
    drawn_dashboard = dashboard(folder, "metrics: {triton: false}\n")
    assert "SEARCH" not in json.dumps(drawn_dashboard.body)
    assert [text.split("\n")[0] for text in drawn_dashboard.texts] == ["## Calls", "## Instances"]


def test_sections_have_headings_with_what_it_takes_to_read_them(folder: FleetFolder) -> None:
    drawn_dashboard = dashboard(folder, base=MULTI_MODEL)
    assert [re.fullmatch(r"## (\w+)\n\S.*", text) is not None for text in drawn_dashboard.texts] == [True] * 4
    assert [text.split("\n")[0] for text in drawn_dashboard.texts] == [
        "## Calls",
        "## Instances",
        "## Models",
        "## Triton",
    ]


@pytest.mark.parametrize(
    ("instance", "gpu", "cpu"),
    [("ml.g5.xlarge", "GPUUtilization Average", " / 4"), ("ml.g5.12xlarge", " / 4", " / 48")],
)
def test_100_percent_is_one_gpu_and_one_vcpu(folder: FleetFolder, instance: str, gpu: str, cpu: str) -> None:
    drawn_dashboard = dashboard(folder, base=SPEC.replace("ml.g5.xlarge", instance))
    assert drawn_dashboard.lines("GPU, %")["utilisation"].endswith(gpu)
    assert drawn_dashboard.lines("Host, %") == {
        "CPU": f"cpu_utilization_Average{cpu}",
        "memory": "MemoryUtilization Maximum",
        "disk": "DiskUtilization Maximum",
    }


def test_times_are_in_milliseconds_and_shares_in_percent(folder: FleetFolder) -> None:
    drawn_dashboard = dashboard(folder, base=MULTI_MODEL)
    assert drawn_dashboard.lines("Model latency, ms")["p99"] == "model_latency_p99 / 1000"
    assert drawn_dashboard.lines("SageMaker's overhead, ms")["p90"] == "overhead_latency_p90 / 1000"
    assert drawn_dashboard.lines("Failed invocations, %")["5XX"] == "errors_5xx_Average * 100"
    assert drawn_dashboard.lines("Failed invocations a minute")["5XX"] == "Invocation5XXErrors Sum"
    hits = drawn_dashboard.lines("Invocations whose model was already loaded, %")
    assert hits == {"cache hits": "model_cache_hit_Average * 100"}


def test_instances_are_counted_by_their_samples_and_by_what_they_answer(folder: FleetFolder) -> None:
    drawn_dashboard = dashboard(folder)
    assert drawn_dashboard.lines("Instances running and desired") == {
        "running": "CPUUtilization SampleCount",
        "serving calls": "invocations_Sum / invocations_per_instance_Sum",
    }
    assert drawn_dashboard.lines("Instances added or removed") == {
        "change": "DIFF(cpu_utilization_SampleCount)"
    }
    assert "min" not in drawn_dashboard.graphs["Instances added or removed"]["yAxis"]["left"]


def test_thresholds_are_drawn_on_the_graphs_of_their_metrics(folder: FleetFolder) -> None:
    folder.spec(base=KINDS["several GPUs"].replace("12xlarge", "12xlarge, count: 2"))
    dashboard = Dashboard(replace(folder.resolve(), alarms=ALARMS))
    assert dashboard.annotations() == {
        "Model latency, ms": [
            (1000, "p99: critical > 1000 ms", RED_COLOR),
            (200, "p99: warning > 200 ms", ORANGE),
        ],
        "Failed invocations, %": [(1, "5XX: critical > 1%", RED_COLOR)],
        "GPU, %": [(90, "utilisation: warning > 90%", ORANGE)],
        "Instances running and desired": [(2, "desired 2", GREY), (4, "critical ≥ 4", RED_COLOR)],
        "Triton: requests waiting": [(8, "warning > 8", ORANGE)],
    }


def test_a_floor_is_told_from_a_ceiling(folder: FleetFolder) -> None:
    hits = Alarm(
        key="cache_hits",
        severity="warning",
        measure="model_cache_hit",
        statistic="Average",
        threshold=0.8,
        graph_threshold=80,
        comparison="below",
    )
    folder.spec(base=MULTI_MODEL)
    annotations = Dashboard(replace(folder.resolve(), alarms=(hits,))).annotations()
    assert annotations["Invocations whose model was already loaded, %"] == [(80, "warning < 80%", ORANGE)]


def test_what_scaling_holds_and_its_range_are_drawn(folder: FleetFolder) -> None:
    keys = SCALING_KEYS.replace(
        "gpu_utilization: 60",
        "gpu_utilization: 60, schedules: [{name: day, at: 'cron(0 8 * * ? *)', min: 2}]",
    )
    folder.spec(keys, base=KINDS["several GPUs"])
    assert Dashboard(replace(folder.resolve(), alarms=())).annotations() == {
        "Invocations a minute": [(600, "per instance: scaling target 600", GREY)],
        "Requests in progress and waiting, per instance": [(4, "mean: scaling target 4", GREY)],
        "Instances running and desired": [(1, "min 1", GREY), (4, "max 4", GREY), (2, "day: min 2", GREY)],
        "GPU, %": [(60, "utilisation: scaling target 60%", GREY)],
        "Host, %": [(50, "CPU: scaling target 50%", GREY)],
    }


def test_annotations_of_one_value_are_one_in_the_most_severe_colour(folder: FleetFolder) -> None:
    folder.spec(SCALING_KEYS, base=KINDS["several GPUs"])
    alarm = replace(ALARMS[4], severity="warning")
    dashboard = Dashboard(
        replace(folder.resolve(), alarms=(alarm, ALARMS[1], replace(ALARMS[0], graph_threshold=200)))
    )
    assert dashboard.annotations()["Instances running and desired"] == [
        (1, "min 1", GREY),
        (4, "max 4, warning ≥ 4", ORANGE),
    ]
    assert dashboard.annotations()["Model latency, ms"] == [
        (200, "p99: warning > 200 ms, p99: critical > 200 ms", RED_COLOR)
    ]


def test_lines_of_several_graphs_that_an_alarm_could_be_about_are_told_apart() -> None:
    """An alarm is drawn wherever its measure and statistic are: once."""
    lines = [
        line.id
        for section in SECTIONS
        for graph in section.graphs
        for line in graph.lines
        if isinstance(line, Line)
    ]
    lines += [Line(graph.over, graph.statistic).id for graph in TRITON_GRAPHS if graph.under is None]
    assert len(lines) == len(set(lines))


class TestTriton:
    def test_without_dimensions_metrics_are_found_whatever_they_have(self, folder: FleetFolder) -> None:
        drawn_dashboard = dashboard(folder)
        served = drawn_dashboard.lines("Triton: requests served a minute")
        text = 'Namespace="TritonFleet/sentences" MetricName='
        assert served == {"": f"SEARCH('{text}\"nv_inference_request_success\"', 'Sum', 60)"}
        assert drawn_dashboard.lines("Triton: mean batch") == {
            "Triton: mean batch": f"SUM(SEARCH('{text}\"nv_inference_count\"', 'Sum', 60))"
            f" / SUM(SEARCH('{text}\"nv_inference_exec_count\"', 'Sum', 60))"
        }
        assert "`metrics: {triton_dimensions: [...]}`" in drawn_dashboard.texts[-1]

    def test_nothing_that_may_be_found_twice_is_summed_by_itself(self, folder: FleetFolder) -> None:
        expressions = [expression for expression in dashboard(folder).expressions() if "SUM(" in expression]
        assert expressions
        assert [
            expression
            for expression in expressions
            if expression.count("SUM(") != 2 or ")) / SUM(" not in expression
        ] == []

    def test_with_dimensions_each_metric_is_found_by_those_that_it_has(self, folder: FleetFolder) -> None:
        drawn_dashboard = dashboard(
            folder, "metrics: {triton_dimensions: [model, version, reason, gpu_uuid, host]}\n"
        )
        failed_values = drawn_dashboard.lines("Triton: requests failed a minute, by reason")
        label = " ".join(f"${{PROP('Dim.{name}')}}" for name in ("model", "version", "reason", "host"))
        assert failed_values == {
            label: 'SEARCH(\'{"TritonFleet/sentences","model","version","reason","host"}'
            " MetricName=\"nv_inference_request_failure\"', 'Sum', 60)"
        }
        power = drawn_dashboard.lines("Triton: GPU power, W")
        assert [text.split("}")[0] for text in power.values()] == [
            'SEARCH(\'{"TritonFleet/sentences","gpu_uuid","host"'
        ]

    def test_quotients_are_by_model_once_the_dimensions_are_known(self, folder: FleetFolder) -> None:
        folder.write(
            "locks/dev/sentences.lock.yaml",
            (folder.root / "locks/dev/sentences.lock.yaml")
            .read_text()
            .replace("[embed]", "{embed: {}, all: {backend: ensemble, steps: [embed]}, spare: {}}"),
        )
        keys = "default_model: all\nmetrics: {triton_dimensions: [model, version]}\n"
        drawn_dashboard = dashboard(folder, keys)
        lines = drawn_dashboard.lines("Triton: queue time a request, ms")
        assert list(lines) == ["all", "embed"]
        assert lines["embed"].count(' model="embed"') == 2
        assert lines["embed"].endswith(" / 1000")
        assert list(drawn_dashboard.lines("Triton: GPU memory, %")) == ["Triton: GPU memory, %"]
        assert drawn_dashboard.texts[-1].endswith("Ratios are per model.")

    def test_a_target_is_called_as_triton_calls_it(self, folder: FleetFolder) -> None:
        drawn_dashboard = dashboard(folder, "metrics: {triton_dimensions: [model]}\n", base=MULTI_MODEL)
        assert list(drawn_dashboard.lines("Triton: mean batch")) == ["sentences.tar.gz"]

    def test_too_many_models_for_a_graph_are_said(self, folder: FleetFolder) -> None:
        folder.spec("metrics: {triton_dimensions: [model]}\n")
        models = tuple(f"m{number}" for number in range(MAX_MODELS + 1))
        dashboard = Dashboard(replace(folder.resolve(), counted_models=models))
        assert list(dashboard.lines("Triton: mean batch")) == ["Triton: mean batch"]
        assert dashboard.texts[-1].endswith("there are 21, and a graph shows 20 at most.")

    @pytest.mark.parametrize("keys", ["[version]", "[]"])
    def test_without_the_models_dimension_quotients_are_over_all(
        self, folder: FleetFolder, keys: str
    ) -> None:
        drawn_dashboard = dashboard(folder, f"metrics: {{triton_dimensions: {keys}}}\n")
        assert list(drawn_dashboard.lines("Triton: mean batch")) == ["Triton: mean batch"]
