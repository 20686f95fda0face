"""The embedded CloudWatch keeps, finds and sums metrics as CloudWatch does; boto3 asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_cloudwatch import CURRENT_TIME, values

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

MINUTE = timedelta(minutes=1)
START, END = CURRENT_TIME - 10 * MINUTE, CURRENT_TIME + 10 * MINUTE
TWO = {"EndpointName": "sentences", "VariantName": "AllTraffic"}


def put(
    cloudwatch: CloudWatchClient,
    name: str,
    *,
    namespace: str = "Test",
    dimensions: dict[str, str] | None = None,
    time: datetime = CURRENT_TIME,
    **value: Any,
) -> None:
    pairs: list[Any] = [{"Name": key, "Value": text} for key, text in (dimensions or {}).items()]
    datum = {"MetricName": name, "Dimensions": pairs, "Timestamp": time, **value}
    cloudwatch.put_metric_data(Namespace=namespace, MetricData=[datum])  # type: ignore[list-item]


def ask(cloudwatch: CloudWatchClient, name: str, statistic: str = "Sum", **more: Any) -> list[float]:
    dimensions = more.pop("dimensions", {})
    return list(
        values(
            cloudwatch, "Test", name, dimensions, statistic=statistic, start=START, end=END, **more
        ).values()
    )


def evaluate(
    cloudwatch: CloudWatchClient, expression: str, *metrics: dict[str, Any]
) -> dict[str, list[float]]:
    queries: Any = [{"Id": "it", "Expression": expression}, *metrics]
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=queries, StartTime=START, EndTime=END, ScanBy="TimestampAscending"
    )
    return {result["Label"]: result["Values"] for result in answer["MetricDataResults"]}


def metric(id: str, name: str, statistic: str = "Sum") -> dict[str, Any]:
    stat = {"Metric": {"Namespace": "Test", "MetricName": name}, "Period": 60, "Stat": statistic}
    return {"Id": id, "MetricStat": stat, "ReturnData": False}


def search(name: str, statistic: str = "Sum") -> str:
    return f"""SEARCH('Namespace="Test" MetricName="{name}"', '{statistic}', 60)"""


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        ("SampleCount", 200),
        ("Sum", 20100),
        ("Average", 100.5),
        ("Minimum", 1),
        ("Maximum", 200),
        ("p0", 1),
        ("p50", 100),
        ("p90", 180),
        ("p99", 198),
        ("p99.9", 200),
        ("p100", 200),
    ],
)
def test_statistics_are_of_all_values(cloudwatch: CloudWatchClient, statistic: str, value: float) -> None:
    put(cloudwatch, "Latency", Values=[float(i) for i in range(1, 151)], Counts=[1.0] * 150)
    put(cloudwatch, "Latency", Values=[float(i) for i in range(151, 201)])
    assert ask(cloudwatch, "Latency", statistic) == [value]


def test_percentiles_weigh_a_value_by_its_count(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Latency", Values=[10.0, 20.0, 1000.0], Counts=[89.0, 10.0, 1.0])
    requested_numbers = [
        ask(cloudwatch, "Latency", statistic) for statistic in ("p50", "p89", "p90", "p99", "p99.5")
    ]
    assert requested_numbers == [[10], [10], [20], [20], [1000]]


def test_statistic_sets_are_summed_and_have_no_percentile(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Size", StatisticValues={"SampleCount": 4, "Sum": 10, "Minimum": 1, "Maximum": 4})
    put(cloudwatch, "Size", Value=5.0)
    assert ask(cloudwatch, "Size", "Average") == [3]
    assert ask(cloudwatch, "Size", "Maximum") == [5]
    assert ask(cloudwatch, "Size", "p50") == []


def test_get_metric_statistics_gives_percentiles_and_the_unit(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Latency", Values=[1.0, 2.0, 3.0, 4.0], Unit="Microseconds")
    request: Any = {"Namespace": "Test", "MetricName": "Latency", "StartTime": START, "EndTime": END}
    answer = cloudwatch.get_metric_statistics(
        **request, Period=60, Statistics=["Sum"], ExtendedStatistics=["p50"]
    )
    (point,) = answer["Datapoints"]
    assert (point["Sum"], point["ExtendedStatistics"], point["Unit"]) == (10, {"p50": 2}, "Microseconds")
    assert point["Timestamp"].astimezone(UTC) == CURRENT_TIME.replace(second=0)


def test_periods_begin_at_whole_multiples_of_themselves(cloudwatch: CloudWatchClient) -> None:
    for minute in range(3):
        put(cloudwatch, "Calls", Value=1.0, time=CURRENT_TIME + minute * MINUTE)
    by_minute = values(cloudwatch, "Test", "Calls", {}, start=CURRENT_TIME, end=CURRENT_TIME + 2 * MINUTE)
    assert by_minute == {CURRENT_TIME.replace(second=0) + minute * MINUTE: 1 for minute in range(3)}
    stat: Any = {"Metric": {"Namespace": "Test", "MetricName": "Calls"}, "Period": 120, "Stat": "Sum"}
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[{"Id": "it", "MetricStat": stat}], StartTime=START, EndTime=END
    )
    assert answer["MetricDataResults"][0]["Values"] == [1, 2]


def test_a_metric_is_what_has_exactly_its_namespace_and_dimensions(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Calls", Value=1.0, dimensions=TWO)
    put(cloudwatch, "Calls", Value=10.0, dimensions={"EndpointName": "sentences"})
    put(cloudwatch, "Calls", Value=100.0)
    put(cloudwatch, "Calls", Value=1000.0, dimensions=TWO, namespace="Other")
    assert ask(cloudwatch, "Calls", dimensions=TWO) == [1]
    assert ask(cloudwatch, "Calls", dimensions={"EndpointName": "sentences"}) == [10]
    assert ask(cloudwatch, "Calls") == [100]


def test_each_metric_is_listed_once(cloudwatch: CloudWatchClient) -> None:
    for _ in range(3):
        put(cloudwatch, "Calls", Values=[1.0, 2.0], dimensions=TWO)
    put(cloudwatch, "Calls", Value=1.0, dimensions={"EndpointName": "sentences"})
    pairs = [{"Name": key, "Value": value} for key, value in TWO.items()]
    metrics = cloudwatch.list_metrics(Namespace="Test", MetricName="Calls")["Metrics"]
    assert [metric["Dimensions"] for metric in metrics] == [pairs, pairs[:1]]
    with_variant = cloudwatch.list_metrics(Dimensions=[{"Name": "VariantName"}])["Metrics"]
    assert [entry["Dimensions"] for entry in with_variant] == [pairs]
    second_value = [{"Name": "VariantName", "Value": "Other"}]
    assert cloudwatch.list_metrics(Dimensions=second_value)["Metrics"] == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([{"MetricName": "x", "Value": 1.0}] * 1001, "MetricData must not have a size greater than 1000"),
        ([{"MetricName": "x", "Values": [1.0] * 151}], "Values must not have a size greater than 150"),
        ([{"MetricName": "x", "Values": [1.0, 2.0], "Counts": [1.0]}], "must be of the same size"),
        ([{"MetricName": "x", "Values": [1.0], "Counts": [0.0]}], "counts a value 0.0 times"),
        ([{"MetricName": "x"}], "has no Value, Values or StatisticValues"),
    ],
)
def test_data_beyond_the_limits_is_refused_whole(
    cloudwatch: CloudWatchClient, data: list[Any], problem: str
) -> None:
    with pytest.raises(ClientError, match=problem):
        cloudwatch.put_metric_data(Namespace="Test", MetricData=[{"MetricName": "good", "Value": 1.0}, *data])
    assert cloudwatch.list_metrics()["Metrics"] == []


def test_expressions_combine_the_series_of_the_request(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Micros", Value=3000.0)
    assert evaluate(cloudwatch, "m / 1000", metric("m", "Micros")) == {"it": [3]}
    assert evaluate(cloudwatch, "-(m - 1) * 2 + m", metric("m", "Micros")) == {"it": [-2998]}


def test_a_missing_value_is_0_and_a_division_by_0_has_no_point(cloudwatch: CloudWatchClient) -> None:
    for minute, (over, under) in enumerate([(6.0, 3.0), (6.0, 0.0), (6.0, None), (None, 3.0)]):
        for name, value in (("Over", over), ("Under", under)):
            if value is not None:
                put(cloudwatch, name, Value=value, time=CURRENT_TIME + minute * MINUTE)
    both_metrics = metric("over", "Over"), metric("under", "Under")
    assert evaluate(cloudwatch, "over / under", *both_metrics) == {"it": [2, 0]}


def test_a_search_finds_every_metric_of_a_name_whatever_its_dimensions(cloudwatch: CloudWatchClient) -> None:
    for number, model in enumerate(("tokenize", "embed"), 1):
        put(cloudwatch, "Calls", Values=[number, number], dimensions={"model": model, "version": "1"})
        put(cloudwatch, "CallsFailed", Value=100.0, dimensions={"model": model})
    assert evaluate(cloudwatch, search("Calls")) == {"tokenize 1 Calls": [2], "embed 1 Calls": [4]}
    assert evaluate(cloudwatch, f"SUM({search('Calls')}) / 2") == {"it": [3]}
    assert evaluate(cloudwatch, f"SUM({search('Calls', 'Maximum')})") == {"it": [3]}
    assert evaluate(cloudwatch, f"SUM({search('Nothing')}) / SUM({search('Nothing')})") == {"it": []}
    assert evaluate(cloudwatch, f"SUM({search('Calls')} / 2)") == {"it": [3]}


def test_a_search_with_a_schema_finds_metrics_of_exactly_those_dimensions(
    cloudwatch: CloudWatchClient,
) -> None:
    embed = {"model": "embed", "version": "1"}
    put(cloudwatch, "Calls", Value=1.0, dimensions=embed)
    put(cloudwatch, "Calls", Value=2.0, dimensions={**embed, "model": "rank"})
    put(cloudwatch, "Calls", Value=4.0, dimensions={"model": "embed"})
    put(cloudwatch, "Calls", Value=8.0, dimensions=embed, namespace="Other")

    def metric_values(query: str) -> list[float]:
        lines = evaluate(cloudwatch, f"SEARCH('{query}', 'Sum', 60)").values()
        return [value for values in lines for value in values]

    assert metric_values('{Test,model,version} MetricName="Calls"') == [1, 2]
    assert metric_values('{"Test","version","model"} MetricName="Calls" model="embed"') == [1]
    assert metric_values('{Test,model} MetricName="Calls"') == [4]
    assert metric_values("{Test,model,version,reason}") == []
    assert metric_values('{Test} MetricName="Calls"') == []
    assert metric_values('Namespace="Test" model="embed"') == [1, 4]


def test_each_line_of_a_search_may_be_called_by_its_dimensions(cloudwatch: CloudWatchClient) -> None:
    put(cloudwatch, "Failed", Value=1.0, dimensions={"model": "embed", "reason": "BACKEND"})
    label = "${PROP('Dim.model')}: ${PROP('Dim.reason')}${PROP('Dim.none')}"
    queries: Any = [{"Id": "it", "Expression": f"{search('Failed')} * 2", "Label": label}]
    answer = cloudwatch.get_metric_data(MetricDataQueries=queries, StartTime=START, EndTime=END)
    (result,) = answer["MetricDataResults"]
    assert (result["Label"], result["Values"]) == ("embed: BACKEND", [2])


def test_a_difference_is_to_the_value_before_however_long_ago(cloudwatch: CloudWatchClient) -> None:
    for minute, value in ((0, 2.0), (1, 3.0), (4, 1.0)):
        put(cloudwatch, "Running", Values=[50.0] * int(value), time=CURRENT_TIME + minute * MINUTE)
    running_metric = metric("m", "Running", "SampleCount")
    assert evaluate(cloudwatch, "DIFF(m)", running_metric) == {"it": [1, -2]}
    assert evaluate(cloudwatch, f"DIFF({search('Running', 'SampleCount')})") == {"Running": [1, -2]}


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("RATE(m)", "Error in expression 'it': the function RATE is not known here"),
        ("m ** 2", r"'m \*\* 2' is not understood"),
        ("__import__('os').system('true')", "is not understood"),
        ("absent + 1", "nothing has the id absent"),
        ("it + 1", "it refers to itself"),
        ("SUM(m)", "evaluates to a number, not to a time series"),
        ("m / (1 / 0)", "the number 1 is divided by zero"),
        ("m +", "is not an expression"),
        ("(" * 500 + "m" + ")" * 500, "is not an expression"),
        ("SEARCH('{Test,model} Micros', 'Sum', 60)", "SEARCH finds"),
        ("SEARCH('NOT MetricName=\"x\"', 'Sum', 60)", "SEARCH finds"),
        ("SEARCH('{Test,} MetricName=\"x\"', 'Sum', 60)", "does not name a namespace and dimensions"),
        ("SEARCH('', 'Sum', 60)", "SEARCH finds"),
        ("DIFF(2) * m", "DIFF is of time series"),
        ("SEARCH('MetricName=\"x\"', 'Sum')", "is not understood"),
        ("SUM(2) * m", "SUM adds time series"),
        (search("Micros", "tm90"), "does not know the statistic tm90"),
        (search("Micros").replace("60", "10"), "Period must be a multiple of 60, not 10"),
        (f"{search('Micros')} + {search('Micros')}", "two arrays of time series cannot be combined"),
    ],
)
def test_what_it_cannot_evaluate_is_refused_by_name(
    cloudwatch: CloudWatchClient, expression: str, problem: str
) -> None:
    put(cloudwatch, "Micros", Value=3000.0)
    with pytest.raises(ClientError, match=problem):
        evaluate(cloudwatch, expression, metric("m", "Micros"))
