"""The body of an endpoint's dashboard, written as CloudWatch reads it."""

from __future__ import annotations

from typing import Any, TypeAlias

from by_hand.triton_graphs import triton_graphs
from by_hand.values import VARIANT, Endpoint

Json: TypeAlias = dict[str, Any]
Lines: TypeAlias = list[list[Any]]

SERVICE, HOST = "AWS/SageMaker", "/aws/sagemaker/Endpoints"
PERIOD, GREY = 60, "#7f7f7f"
COLOURS = {"critical": "#d62728", "warning": "#ff7f0e"}
SIGNS = {"above": ">", "below": "<", "at least": "≥"}
NAMES = {
    "model_latency": "ModelLatency",
    "overhead_latency": "OverheadLatency",
    "model_loading_wait_time": "ModelLoadingWaitTime",
    "model_downloading_time": "ModelDownloadingTime",
    "model_loading_time": "ModelLoadingTime",
    "model_unloading_time": "ModelUnloadingTime",
    "model_cache_hit": "ModelCacheHit",
    "errors_4xx": "Invocation4XXErrors",
    "errors_5xx": "Invocation5XXErrors",
    "model_errors": "InvocationModelErrors",
    "invocations": "Invocations",
    "invocations_per_instance": "InvocationsPerInstance",
    "concurrent_requests": "ConcurrentRequestsPerModel",
}
OF_HOST = {
    "cpu_utilization": "CPUUtilization",
    "memory_utilization": "MemoryUtilization",
    "disk_utilization": "DiskUtilization",
    "gpu_utilization": "GPUUtilization",
    "gpu_memory_utilization": "GPUMemoryUtilization",
    "loaded_model_count": "LoadedModelCount",
}


def dashboard_body(values: Endpoint) -> Json:
    """Sections of graphs under the texts that are known, and the last errors."""
    sections = [_calls(values), _instances(values)]
    if values.mode == "MultiModel":
        sections.append(_models(values))
    if values.namespace:
        sections.append(triton_graphs(values.namespace))
    widgets: list[Json] = []
    y = 0
    for text, graphs in zip(values.texts, sections, strict=True):
        widgets.append(_widget("text", {"markdown": text}, y=y, height=2))
        columns = 3 if len(graphs) % 3 == 0 else 2
        for number, graph in enumerate(graphs):
            row, column = divmod(number, columns)
            place = {"x": column * 24 // columns, "y": y + 2 + row * 6, "width": 24 // columns, "height": 6}
            widgets.append(_widget("metric", {**graph, "region": values.region}, **place))
        y += 2 + -(-len(graphs) // columns) * 6
    log = {
        "title": "Last errors in the log",
        "region": values.region,
        "query": values.last_errors,
        "view": "table",
    }
    widgets.append(_widget("log", log, y=y, height=8))
    return {"start": "-PT3H", "periodOverride": "inherit", "widgets": widgets}


def _calls(values: Endpoint) -> list[Json]:
    percentiles = ("p50", "p90", "p99")
    failed = {"errors_4xx": "4XX", "errors_5xx": "5XX", "model_errors": "model"}
    return [
        _graph(
            values,
            "Invocations a minute",
            [("invocations", "Sum", "all"), ("invocations_per_instance", "Sum", "per instance")],
        ),
        _graph(values, "Model latency, ms", [("model_latency", p, p) for p in percentiles], "/ 1000", " ms"),
        _graph(
            values,
            "SageMaker's overhead, ms",
            [("overhead_latency", p, p) for p in percentiles],
            "/ 1000",
            " ms",
        ),
        _graph(
            values, "Failed invocations a minute", [(each, "Sum", label) for each, label in failed.items()]
        ),
        _graph(
            values,
            "Failed invocations, %",
            [(each, "Average", label) for each, label in failed.items()],
            "* 100",
            "%",
        ),
        _graph(
            values,
            "Requests under way and waiting, on an instance",
            [("concurrent_requests", "Average", "mean"), ("concurrent_requests", "Maximum", "most")],
        ),
    ]


def _instances(values: Endpoint) -> list[Json]:
    running = _graph(values, "Instances running and wanted", [("cpu_utilization", "SampleCount", "running")])
    running["metrics"] += [
        [
            {
                "expression": "invocations_Sum / invocations_per_instance_Sum",
                "label": "answering calls",
                "period": 60,
            }
        ],
        _hidden(values, "invocations", "Sum"),
        _hidden(values, "invocations_per_instance", "Sum"),
    ]
    wanted = (
        {"min": values.scaling["min"], "max": values.scaling["max"]}
        if values.scaling
        else {"wanted": values.instance_count}
    )
    held = running.setdefault("annotations", {"horizontal": []})["horizontal"]
    held += [{"value": count, "label": f"{name} {count}", "color": GREY} for name, count in wanted.items()]
    change = _plain("Instances added or removed")
    change["yAxis"]["left"].pop("min")
    change["metrics"] = [
        [{"expression": "DIFF(cpu_utilization_SampleCount)", "label": "change", "period": 60}],
        _hidden(values, "cpu_utilization", "SampleCount"),
    ]
    gpu = [("gpu_utilization", "Average", "utilisation"), ("gpu_memory_utilization", "Maximum", "memory")]
    host = [
        ("cpu_utilization", "Average", "CPU"),
        ("memory_utilization", "Maximum", "memory"),
        ("disk_utilization", "Maximum", "disk"),
    ]
    graphs = [running, change]
    if values.gpus:
        graphs.append(_graph(values, "GPU, %", gpu, unit="%"))
    return [*graphs, _graph(values, "Host, %", host, unit="%")]


def _models(values: Endpoint) -> list[Json]:
    times = {
        "model_loading_wait_time": "invocation waits for it",
        "model_downloading_time": "download",
        "model_loading_time": "load",
        "model_unloading_time": "unload",
    }
    return [
        _graph(
            values,
            "Models loaded",
            [
                ("loaded_model_count", "Sum", "on all instances"),
                ("loaded_model_count", "Average", "on an instance"),
            ],
        ),
        _graph(
            values,
            "Invocations whose model was loaded already, %",
            [("model_cache_hit", "Average", "cache hits")],
            "* 100",
            "%",
        ),
        _graph(
            values,
            "Loading and unloading a model, ms on average",
            [(each, "Average", label) for each, label in times.items()],
            "/ 1000",
            " ms",
        ),
        _graph(values, "Models unloaded a minute", [("model_unloading_time", "SampleCount", "unloaded")]),
    ]


def _graph(
    values: Endpoint, title: str, lines: list[tuple[str, str, str]], scale: str = "", unit: str = ""
) -> Json:
    graph = _plain(title)
    held: list[Json] = []
    for measure, statistic, label in lines:
        parts = _parts(values, measure)
        shown = scale or (f"/ {parts}" if unit == "%" and parts > 1 else "")
        if shown:
            expression = f"{measure}_{statistic} {shown}"
            graph["metrics"] += [
                [{"expression": expression, "label": label, "period": PERIOD}],
                _hidden(values, measure, statistic),
            ]
        else:
            graph["metrics"].append(_metric(values, measure, statistic, label=label))
        prefix = f"{label}: " if len(lines) > 1 else ""
        for each in values.thresholds:
            if (each["measure"], each["statistic"]) == (measure, statistic):
                amount = f"{each['severity']} {SIGNS[each['rings']]} {each['drawn']:g}{unit}"
                held.append(
                    {
                        "value": each["drawn"],
                        "label": prefix + amount,
                        "color": COLOURS[each["severity"]],
                    }
                )
        targets = values.scaling["targets"] if values.scaling else {}
        if measure in targets and statistic in ("Average", "Sum"):
            target = targets[measure] / parts
            held.append({"value": target, "label": f"{prefix}scaling holds {target:g}{unit}", "color": GREY})
    return {**graph, "annotations": {"horizontal": held}} if held else graph


def _plain(title: str) -> Json:
    return {
        "view": "timeSeries",
        "title": title,
        "metrics": [],
        "yAxis": {"left": {"min": 0, "showUnits": False}},
    }


def _parts(values: Endpoint, measure: str) -> int:
    if measure == "cpu_utilization":
        return values.vcpus
    return values.gpus if measure.startswith("gpu_") else 1


def _hidden(values: Endpoint, measure: str, statistic: str) -> list[Any]:
    return _metric(values, measure, statistic, id=f"{measure}_{statistic}", visible=False)


def _metric(values: Endpoint, measure: str, statistic: str, **options: object) -> list[Any]:
    namespace = HOST if measure in OF_HOST else SERVICE
    name = {**NAMES, **OF_HOST}[measure]
    shown = {**options, "period": PERIOD, "stat": statistic}
    return [namespace, name, "EndpointName", values.name, "VariantName", VARIANT, shown]


def _widget(type: str, properties: Json, *, y: int, height: int, x: int = 0, width: int = 24) -> Json:
    return {"type": type, "x": x, "y": y, "width": width, "height": height, "properties": properties}
