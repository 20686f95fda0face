"""The body of an endpoint's dashboard, written as CloudWatch reads it."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Lines: TypeAlias = list[list[Any]]

SERVICE, HOST = "AWS/SageMaker", "/aws/sagemaker/Endpoints"
WIDTH, HEIGHT, PERIOD = 12, 6, 60
GPU, HOST_TITLE = "GPU, % summed over an instance's GPUs", "Host, %"
HITS, LOADING = (
    "Invocations whose model was loaded already, %",
    "Loading and unloading a model, ms on average",
)


def dashboard_body(
    endpoint: str, region: str, *, gpu: bool, multi_model: bool, namespace: str | None
) -> Json:
    """All graphs, two in a row; `namespace` is that of Triton's metrics, None without them."""
    graphs = _of_every_endpoint(endpoint)
    if gpu:
        graphs[GPU] = [
            _line(endpoint, HOST, "GPUUtilization", "utilisation"),
            _line(endpoint, HOST, "GPUMemoryUtilization", "memory"),
        ]
    graphs[HOST_TITLE] = [
        _line(endpoint, HOST, "CPUUtilization", "CPU, summed over cores"),
        _line(endpoint, HOST, "MemoryUtilization", "memory"),
        _line(endpoint, HOST, "DiskUtilization", "disk"),
    ]
    if multi_model:
        graphs |= _of_multi_model(endpoint)
    if namespace:
        graphs |= _of_triton(namespace)
    return {
        "start": "-PT3H",
        "widgets": [
            _widget(number, title, lines, region) for number, (title, lines) in enumerate(graphs.items())
        ],
    }


def _of_every_endpoint(endpoint: str) -> dict[str, Lines]:
    return {
        "Invocations a minute": [
            _line(endpoint, SERVICE, "Invocations", "all", "Sum"),
            _line(endpoint, SERVICE, "InvocationsPerInstance", "per instance", "Sum"),
        ],
        "Failed invocations a minute": [
            _line(endpoint, SERVICE, "Invocation4XXErrors", "4XX", "Sum"),
            _line(endpoint, SERVICE, "Invocation5XXErrors", "5XX", "Sum"),
            _line(endpoint, SERVICE, "InvocationModelErrors", "model", "Sum"),
        ],
        "Model latency, ms": [
            line
            for each in ("p50", "p90", "p99")
            for line in _scaled(
                endpoint, "ModelLatency", f"model_latency_{each}", "/ 1000", label=each, stat=each
            )
        ],
        "SageMaker's overhead, ms": _scaled(
            endpoint, "OverheadLatency", "overhead_latency_p99", "/ 1000", label="p99", stat="p99"
        ),
    }


def _of_multi_model(endpoint: str) -> dict[str, Lines]:
    times = {
        "loading_wait": ("ModelLoadingWaitTime", "invocation waits for it"),
        "downloading": ("ModelDownloadingTime", "download"),
        "loading": ("ModelLoadingTime", "load"),
        "unloading": ("ModelUnloadingTime", "unload"),
    }
    return {
        "Models loaded": [
            _line(endpoint, HOST, "LoadedModelCount", "on all instances", "Sum"),
            _line(endpoint, HOST, "LoadedModelCount", "on an instance"),
        ],
        HITS: _scaled(endpoint, "ModelCacheHit", "model_cache_hit_Average", "* 100", label="cache hits"),
        LOADING: [
            line
            for each, (metric, label) in times.items()
            for line in _scaled(endpoint, metric, f"model_{each}_time_Average", "/ 1000", label=label)
        ],
        "Models unloaded a minute": [
            _line(endpoint, SERVICE, "ModelUnloadingTime", "unloaded", "SampleCount")
        ],
    }


def _of_triton(namespace: str) -> dict[str, Lines]:
    def total(metric: str, stat: str = "Sum") -> str:
        return f"SUM(SEARCH('Namespace=\"{namespace}\" MetricName=\"nv_{metric}\"', '{stat}', {PERIOD}))"

    requests = total("inference_request_success")
    searches = {
        "requests served a minute, all models": requests,
        "requests failed a minute, all models": total("inference_request_failure"),
        "mean batch": f"{total('inference_count')} / {total('inference_exec_count')}",
        "requests waiting": total("inference_pending_request_count", "Maximum"),
        "queue time a request, ms": f"{total('inference_queue_duration_us')} / {requests} / 1000",
        "compute time a request, ms": f"{total('inference_compute_infer_duration_us')} / {requests} / 1000",
    }
    return {
        f"Triton: {title}": [[{"label": f"Triton: {title}", "expression": search, "period": PERIOD}]]
        for title, search in searches.items()
    }


def _line(
    endpoint: str, namespace: str, metric: str, label: str, stat: str = "Average", **more: object
) -> list[Any]:
    """A metric of the variant."""
    shown = {"label": label, **more, "period": PERIOD, "stat": stat}
    return [namespace, metric, "EndpointName", endpoint, "VariantName", "AllTraffic", shown]


def _scaled(endpoint: str, metric: str, id: str, scale: str, *, label: str, stat: str = "Average") -> Lines:
    """A metric in another unit: what is shown, and the hidden line that it is computed from."""
    shown = {"label": label, "expression": f"{id} {scale}", "period": PERIOD}
    return [[shown], _line(endpoint, SERVICE, metric, label, stat, id=id, visible=False)]


def _widget(number: int, title: str, lines: Lines, region: str) -> Json:
    return {
        "type": "metric",
        "width": WIDTH,
        "height": HEIGHT,
        "x": number % 2 * WIDTH,
        "y": number // 2 * HEIGHT,
        "properties": {
            "view": "timeSeries",
            "title": title,
            "region": region,
            "metrics": lines,
            "yAxis": {"left": {"min": 0, "showUnits": False}},
        },
    }
