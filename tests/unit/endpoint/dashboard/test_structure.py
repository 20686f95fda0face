"""The body is what CloudWatch documents, for every kind of endpoint: no schema of AWS's own says so.

Source: "Dashboard body structure and syntax", Amazon CloudWatch API reference; limits of searches: "CloudWatch
search expression syntax", Amazon CloudWatch User Guide.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from fleet_emulator.cloudwatch.queries import Queries
from fleet_emulator.cloudwatch.samples import MetricStore
from tests.support.dashboards import Dashboard
from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from triton_fleet.aws.dashboard.body import Graph, read_body
from triton_fleet.context.alarms import Alarm
from triton_fleet.endpoint.dashboard.triton import MAX_MODELS

DIMENSIONS = "metrics: {triton_dimensions: [model, version, reason, gpu_uuid]}\n"
SCALING_KEYS = "scaling: {min: 1, max: 4, invocations_per_instance: 600, gpu_utilization: 60}\n"
MULTI_MODEL = SPEC.replace("triton:", "mode: multi-model\ntriton:").replace("g5.xlarge", "g5.2xlarge")
KINDS = {
    "gpu": SPEC,
    "cpu": SPEC.replace("g5", "c5"),
    "scaled": SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge") + SCALING_KEYS + DIMENSIONS,
    "multi-model": MULTI_MODEL + DIMENSIONS,
    "plain": SPEC + "metrics: {triton: false}\n",
}
ALARM = Alarm(
    key="latency_p99",
    severity="critical",
    measure="model_latency",
    statistic="p99",
    threshold=1,
    graph_threshold=0.5,
)


@pytest.fixture(params=KINDS, scope="module")
def dashboard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    folder = FleetFolder(tmp_path_factory.mktemp("fleet"))
    folder.spec(base=KINDS[request.param])
    folder.environment()
    folder.write("locks/dev/sentences.lock.yaml", LOCK)
    folder.write("repository/config", "")
    models = tuple(f"m{number}" * 100 for number in range(MAX_MODELS))
    return Dashboard(replace(folder.resolve(), alarms=(ALARM,), counted_models=models))


def test_its_keys_are_those_that_are_documented(dashboard: Dashboard) -> None:
    assert set(dashboard.body) == {"start", "periodOverride", "widgets"}
    assert dashboard.body["periodOverride"] in ("auto", "inherit")
    assert re.fullmatch(r"-PT\d+H", dashboard.body["start"])
    assert 0 < len(dashboard.widgets) <= 500
    keys: dict[str, tuple[set[str], set[str]]] = {
        "text": ({"markdown"}, {"background"}),
        "metric": ({"metrics", "region"}, {"view", "title", "yAxis", "annotations"}),
        "log": ({"query", "region"}, {"title", "view"}),
    }
    for widget in dashboard.widgets:
        needed_names, further = keys[widget["type"]]
        assert needed_names <= set(widget["properties"]) <= needed_names | further


def test_its_widgets_lie_on_the_grid_side_by_side(dashboard: Dashboard) -> None:
    boxes = [(widget["x"], widget["y"], widget["width"], widget["height"]) for widget in dashboard.widgets]
    assert all(
        x >= 0 and y >= 0 and 1 <= width <= 24 - x and 1 <= height <= 1000 for x, y, width, height in boxes
    )
    assert [pair for pair in combinations(boxes, 2) if overlap(*pair)] == []


def overlap(first_numbers: tuple[int, ...], other_numbers: tuple[int, ...]) -> bool:
    return all(
        first_numbers[axis] < other_numbers[axis] + other_numbers[axis + 2]
        and other_numbers[axis] < first_numbers[axis] + first_numbers[axis + 2]
        for axis in (0, 1)
    )


def test_its_lines_are_metrics_and_expressions_over_ids_of_their_graph(dashboard: Dashboard) -> None:
    for title, graph in dashboard.graphs.items():
        lines, ids = graph["metrics"], ids_of(graph)
        assert 0 < len(lines) <= 500, title
        assert len(ids) == len(set(ids)), title
        assert all(re.fullmatch(r"[a-z][A-Za-z0-9_]*", id) for id in ids), title
        assert all(line[-1]["period"] % 60 == 0 for line in lines)
        for *path, options in lines:
            assert bool(path) != ("expression" in options)
            assert len(path) % 2 == 0
            named_matches = re.findall(
                r"\b[a-z]\w*\b", re.sub(r"SEARCH\('.*?', '\w+', \d+\)", "", options.get("expression", ""))
            )
            assert set(named_matches) <= set(ids), title


def ids_of(graph: dict[str, Any]) -> list[str]:
    return [line[-1]["id"] for line in graph["metrics"] if "id" in line[-1]]


def test_its_searches_are_within_their_limits(dashboard: Dashboard) -> None:
    for title, graph in dashboard.graphs.items():
        expressions = [line[-1].get("expression", "") for line in graph["metrics"]]
        searches = [
            query for expression in expressions for query in re.findall(r"SEARCH\('(.*?)', ", expression)
        ]
        assert len(searches) <= 100, title
        assert all(len(query) <= 1024 for query in searches), title


def test_its_annotations_have_a_value_and_a_colour(dashboard: Dashboard) -> None:
    annotations = [graph["annotations"] for graph in dashboard.graphs.values() if "annotations" in graph]
    assert annotations
    for annotation in annotations:
        assert set(annotation) == {"horizontal"}
        for entry in annotation["horizontal"]:
            assert set(entry) == {"value", "label", "color"}
            assert re.fullmatch(r"#[0-9a-f]{6}", entry["color"])


def test_it_asks_the_log_group_of_the_endpoint(dashboard: Dashboard) -> None:
    (log,) = [widget["properties"] for widget in dashboard.widgets if widget["type"] == "log"]
    assert log["query"].startswith("SOURCE '/aws/sagemaker/Endpoints/sentences' | fields ")
    assert log["query"].count("\n| ") == 3


def test_it_is_drawn_locally_with_every_expression(dashboard: Dashboard) -> None:
    graphs = [widget for widget in read_body(json.dumps(dashboard.body)) if isinstance(widget, Graph)]
    assert [graph.title for graph in graphs] == list(dashboard.graphs)
    for graph in graphs:
        queries = [dict(query.data) for query in graph.queries]
        requested_queries = Queries(MetricStore(), queries, start=0, end=3600)
        assert [
            line.points for query in queries for line in requested_queries.lines(query) if line.points
        ] == []


def test_the_text_counts_the_calls_of_the_check_that_a_model_has_to_refuse(folder: FleetFolder) -> None:
    samples = (
        "warm: [sentences]\n"
        "samples:\n"
        "  - {name: good, target: sentences, inputs: {x: {datatype: FP32, shape: [1], data: 0.5}}}\n"
        "  - {name: bad, target: sentences, inputs: {x: {datatype: FP32, shape: [1], data: 0.5}}, status: 400}\n"
    )
    folder.environment()
    folder.write("locks/dev/sentences.lock.yaml", LOCK)
    folder.spec(base=MULTI_MODEL)
    assert "refuse" not in Dashboard(folder.resolve()).texts[0]
    folder.spec(base=MULTI_MODEL + samples)
    text = "The check at the end of a deploy makes 1 call that a model must refuse"
    assert text in Dashboard(folder.resolve()).texts[0]
