"""The graphs of Triton's own metrics, whose dimensions are not known."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


def triton_graphs(namespace: str) -> list[Json]:
    """Of an endpoint on GPUs: a line for each series, and quotients."""

    def found(metric: str, stat: str = "Sum") -> str:
        return f"SEARCH('Namespace=\"{namespace}\" MetricName=\"nv_{metric}\"', '{stat}', 60)"

    def quotient(over: str, under: str, stat: str = "Sum") -> str:
        return f"SUM({found(over, stat)}) / SUM({found(under, stat)})"

    served = "inference_request_success"
    series = {
        "requests served a minute": found(served),
        "requests failed a minute, by reason": found("inference_request_failure"),
        "requests waiting": found("inference_pending_request_count", "Maximum"),
    }
    quotients = {
        "mean batch": quotient("inference_count", "inference_exec_count"),
        "queue time a request, ms": f"{quotient('inference_queue_duration_us', served)} / 1000",
        "compute time a request, ms": f"{quotient('inference_compute_infer_duration_us', served)} / 1000",
    }
    memory = f"{quotient('gpu_memory_used_bytes', 'gpu_memory_total_bytes', 'Average')} * 100"
    return [
        *(_graph(f"Triton: {title}", expression, "") for title, expression in series.items()),
        *(_graph(f"Triton: {title}", each, f"Triton: {title}") for title, each in quotients.items()),
        _graph("Triton: GPU power, W", found("gpu_power_usage", "Average"), ""),
        _graph("Triton: GPU memory, %", memory, "Triton: GPU memory, %"),
    ]


def _graph(title: str, expression: str, label: str) -> Json:
    return {
        "view": "timeSeries",
        "title": title,
        "metrics": [[{"expression": expression, "label": label, "period": 60}]],
        "yAxis": {"left": {"min": 0, "showUnits": False}},
    }
