"""A dashboard's body is read as CloudWatch reads it, or refused by what is not drawn."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.embedded_cloudwatch import CURRENT_TIME, forget
from triton_fleet.aws.dashboard.body import (
    Annotation,
    Box,
    Graph,
    Line,
    LogTable,
    Text,
    Widget,
    fetch_lines,
    read_body,
)
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

LATENCY = ["AWS/SageMaker", "ModelLatency", "EndpointName", "sentences", {"stat": "p50", "period": 60}]
MINUTE = int(CURRENT_TIME.timestamp()) // 60 * 60


def widget(*metrics: Any, **changed_values: Any) -> dict[str, Any]:
    properties = {"title": "Latency", "view": "timeSeries", "region": "us-east-1", "metrics": list(metrics)}
    properties |= changed_values.pop("properties", {})
    box = {"x": 12, "y": 6, "width": 12, "height": 6}
    return {"type": "metric", **box, "properties": properties, **changed_values}


def read(*widgets: dict[str, Any]) -> list[Widget]:
    return read_body(json.dumps({"start": "-PT3H", "widgets": widgets}))


@pytest.fixture
def cloudwatch(running_cloudwatch: CloudWatchClient) -> CloudWatchClient:
    """CloudWatch with latencies of 1000 and 3000 in one minute."""
    forget()
    running_cloudwatch.put_metric_data(
        Namespace="AWS/SageMaker",
        MetricData=[
            {
                "MetricName": "ModelLatency",
                "Dimensions": [{"Name": "EndpointName", "Value": "sentences"}],
                "Timestamp": CURRENT_TIME,
                "Values": [1000.0, 3000.0],
            }
        ],
    )
    return running_cloudwatch


def drawn_metrics(cloudwatch: CloudWatchClient, *metrics: Any, local: bool = True) -> list[Line]:
    (graph,) = read(widget(*metrics))
    assert isinstance(graph, Graph)
    hour = timedelta(hours=1)
    return fetch_lines(cloudwatch, graph, CURRENT_TIME - hour, CURRENT_TIME + hour, local=local)


def test_a_graph_has_its_place_title_and_axis() -> None:
    axis = {"yAxis": {"left": {"min": 0, "showUnits": False}}}
    (graph,) = read(widget(LATENCY, properties=axis))
    assert isinstance(graph, Graph)
    assert (graph.title, graph.box) == ("Latency", Box(12, 6, 12, 6))
    assert (graph.minimum, graph.maximum) == (0, None)


def test_a_metric_is_drawn_with_its_statistic(cloudwatch: CloudWatchClient) -> None:
    assert drawn_metrics(cloudwatch, LATENCY) == [Line("sentences ModelLatency", 60, {MINUTE: 1000})]
    maximum = [*LATENCY[:-1], {"stat": "Maximum", "period": 60, "label": "slowest"}]
    assert drawn_metrics(cloudwatch, maximum) == [Line("slowest", 60, {MINUTE: 3000})]


def test_a_metric_without_a_statistic_is_averaged_over_5_minutes(cloudwatch: CloudWatchClient) -> None:
    five = MINUTE // 300 * 300
    assert drawn_metrics(cloudwatch, LATENCY[:-1]) == [Line("sentences ModelLatency", 300, {five: 2000})]


def test_a_line_that_is_not_visible_is_only_reckoned_with(cloudwatch: CloudWatchClient) -> None:
    hidden_values = [*LATENCY[:-1], {"stat": "Sum", "period": 60, "id": "m", "visible": False}]
    expression = [{"expression": "m / 1000", "label": "ms", "period": 60}]
    assert drawn_metrics(cloudwatch, expression, hidden_values) == [Line("ms", 60, {MINUTE: 4})]


def test_a_search_that_finds_nothing_is_a_line_without_values(cloudwatch: CloudWatchClient) -> None:
    expression = """SEARCH('Namespace="TritonFleet/sentences"', 'Sum', 60)"""
    assert drawn_metrics(cloudwatch, [{"expression": expression, "label": "all", "period": 60}]) == [
        Line("all", 60, {})
    ]


FAILURE = "nv_inference_request_failure"
SEARCH_METRIC = {"expression": f"""SEARCH('Namespace="T" MetricName="{FAILURE}"', 'Sum', 60)""", "period": 60}


def put_error_metrics(cloudwatch: CloudWatchClient, **values: float) -> None:
    dimensions = {reason: [{"Name": "reason", "Value": reason}] for reason in values}
    data: Any = [
        {"MetricName": FAILURE, "Dimensions": dimensions[reason], "Timestamp": CURRENT_TIME, "Value": value}
        for reason, value in values.items()
    ]
    cloudwatch.put_metric_data(Namespace="T", MetricData=data)


def test_a_series_of_a_search_is_called_by_its_dimensions_alone(cloudwatch: CloudWatchClient) -> None:
    put_error_metrics(cloudwatch, REJECTED=2, OTHER=0)
    assert {line.label for line in drawn_metrics(cloudwatch, [{**SEARCH_METRIC, "label": ""}])} == {
        "REJECTED",
        "OTHER",
    }


def test_several_series_of_a_search_that_are_0_are_one_line(cloudwatch: CloudWatchClient) -> None:
    put_error_metrics(cloudwatch, REJECTED=2, OTHER=0, BACKEND=0)
    assert drawn_metrics(cloudwatch, [{**SEARCH_METRIC, "label": ""}]) == [
        Line("REJECTED", 60, {MINUTE: 2}),
        Line("2 others: 0", 60, {MINUTE: 0}),
    ]
    forget()
    put_error_metrics(cloudwatch, OTHER=0, BACKEND=0)
    assert drawn_metrics(cloudwatch, [{**SEARCH_METRIC, "label": ""}]) == [Line("all 2: 0", 60, {MINUTE: 0})]


def test_a_line_knows_whether_anything_here_can_measure_it(cloudwatch: CloudWatchClient) -> None:
    name, options = ["/aws/sagemaker/Endpoints", "CPUUtilization"], {"stat": "SampleCount", "id": "n"}
    power = """SEARCH('MetricName="nv_gpu_power_usage"', 'Average', 60)"""
    assert [line.measurable for line in drawn_metrics(cloudwatch, [*name, options])] == [False]
    hidden_values = [*name, {**options, "visible": False}]
    assert [
        line.measurable for line in drawn_metrics(cloudwatch, hidden_values, [{"expression": "n / 4"}])
    ] == [False]
    assert [line.measurable for line in drawn_metrics(cloudwatch, [{"expression": power}])] == [False]
    assert [line.measurable for line in drawn_metrics(cloudwatch, LATENCY, [SEARCH_METRIC])] == [True, True]


def test_an_unknown_function_is_told_with_its_graph(cloudwatch: CloudWatchClient) -> None:
    with pytest.raises(CannotRunError, match="the graph 'Latency' cannot be drawn: .* the function RATE"):
        drawn_metrics(cloudwatch, [{"expression": "RATE(m)", "period": 60}])


def test_a_graph_has_its_annotations() -> None:
    pair = [{"value": 200.0, "label": "critical > 200 ms", "color": "#d62728"}, {"value": 1}]
    graph = read(widget(LATENCY, properties={"annotations": {"horizontal": pair}}))[0]
    assert isinstance(graph, Graph)
    assert graph.annotations == (
        Annotation(200, "critical > 200 ms", "#d62728"),
        Annotation(1, "", "#4b5563"),
    )


def test_texts_and_questions_to_the_log_are_widgets_too() -> None:
    box = {"x": 0, "y": 2, "width": 24, "height": 8}
    text = {"type": "text", **box, "properties": {"markdown": "## Calls"}}
    request = {"title": "Errors", "region": "us-east-1", "query": "SOURCE 'a' | limit 1", "view": "table"}
    log = {"type": "log", **box, "properties": request}
    place = Box(0, 2, 24, 8)
    assert read(text, log) == [Text(place, "## Calls"), LogTable("Errors", place)]


@pytest.mark.parametrize(
    ("changed_values", "what"),
    [
        ({"type": "alarm", "properties": {"alarms": []}}, "is of the type alarm"),
        ({"type": "log", "properties": {"view": "pie"}}, "is of the type log pie"),
        ({"properties": {"view": "singleValue"}}, "is of the type metric singleValue"),
        ({"properties": {"stacked": True}}, "has 'stacked'"),
        ({"properties": {"annotations": {"vertical": []}}}, "an annotation of .* has 'vertical'"),
        ({"properties": {"annotations": {"horizontal": [[]]}}}, "has a band"),
        ({"properties": {"annotations": {"horizontal": [{"value": 1, "fill": "above"}]}}}, "has 'fill'"),
        ({"properties": {"yAxis": {"right": {}}}}, "the axis of the widget 'Latency' has 'right'"),
        (
            {"properties": {"yAxis": {"left": {"label": "ms"}}}},
            "the axis of the widget 'Latency' has 'label'",
        ),
        ({"properties": {"metrics": [[*LATENCY[:-1], {"yAxis": "right"}]]}}, "a line of .* has 'yAxis'"),
        ({"properties": {"metrics": [[".", "."]]}}, "abbreviates"),
        ({"properties": {"metrics": [["...", "others"]]}}, "abbreviates"),
    ],
)
def test_what_is_not_drawn_is_refused_by_name(changed_values: dict[str, Any], what: str) -> None:
    with pytest.raises(CannotRunError, match=what):
        read(widget(LATENCY, **changed_values))
