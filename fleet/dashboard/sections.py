"""What of SageMaker's metrics is drawn; an endpoint has the lines whose metrics it has."""

from __future__ import annotations

from fleet.dashboard.graph import Expression, Graph, Line, Section, Unit

PERCENTILES = ("p50", "p90", "p99")
RUNNING = Line("cpu_utilization", "SampleCount", "running")
"""SageMaker publishes no number of instances; each publishes its CPU at one interval: samples are counted."""
CALLS = Line("invocations", "Sum", "all")
CALLS_PER_INSTANCE = Line("invocations_per_instance", "Sum", "per instance")

SECTIONS = (
    Section(
        "Calls",
        "What callers see. Latency is the container's, overhead is what SageMaker adds to it. A call fails"
        " with 4XX by its caller's mistake, with 5XX by the model's or SageMaker's.",
        (
            Graph("Invocations a minute", (CALLS, CALLS_PER_INSTANCE)),
            Graph(
                "Model latency, ms",
                tuple(Line("model_latency", each, each) for each in PERCENTILES),
                Unit.MILLISECONDS,
            ),
            Graph(
                "SageMaker's overhead, ms",
                tuple(Line("overhead_latency", each, each) for each in PERCENTILES),
                Unit.MILLISECONDS,
            ),
            Graph(
                "Failed invocations a minute",
                (
                    Line("errors_4xx", "Sum", "4XX"),
                    Line("errors_5xx", "Sum", "5XX"),
                    Line("model_errors", "Sum", "model"),
                ),
            ),
            Graph(
                "Failed invocations, %",
                (
                    Line("errors_4xx", "Average", "4XX"),
                    Line("errors_5xx", "Average", "5XX"),
                    Line("model_errors", "Average", "model"),
                ),
                Unit.PERCENT,
            ),
            Graph(
                "Requests under way and waiting, on an instance",
                (
                    Line("concurrent_requests", "Average", "mean"),
                    Line("concurrent_requests", "Maximum", "most"),
                ),
            ),
        ),
    ),
    Section(
        "Instances",
        "100% is one processor at work all the time, however many an instance has; memory and disk are those"
        " of the fullest instance. SageMaker publishes no number of instances: those that run are counted by"
        " their samples of CPU utilisation, those that answer calls by invocations over invocations per"
        " instance.",
        (
            Graph(
                "Instances running and wanted",
                (
                    RUNNING,
                    Expression(
                        f"{CALLS.id} / {CALLS_PER_INSTANCE.id}",
                        "answering calls",
                        (CALLS, CALLS_PER_INSTANCE),
                    ),
                ),
            ),
            Graph(
                "Instances added or removed",
                (Expression(f"DIFF({RUNNING.id})", "change", (RUNNING,)),),
                least=None,
            ),
            Graph(
                "GPU, %",
                (
                    Line("gpu_utilization", "Average", "utilisation"),
                    Line("gpu_memory_utilization", "Maximum", "memory"),
                ),
                Unit.PERCENT,
            ),
            Graph(
                "Host, %",
                (
                    Line("cpu_utilization", "Average", "CPU"),
                    Line("memory_utilization", "Maximum", "memory"),
                    Line("disk_utilization", "Maximum", "disk"),
                ),
                Unit.PERCENT,
            ),
        ),
    ),
    Section(
        "Models",
        "Of all targets together. Few cache hits and many models unloaded mean that they do not fit: calls"
        " wait until their target is loaded once more.",
        (
            Graph(
                "Models loaded",
                (
                    Line("loaded_model_count", "Sum", "on all instances"),
                    Line("loaded_model_count", "Average", "on an instance"),
                ),
            ),
            Graph(
                "Invocations whose model was loaded already, %",
                (Line("model_cache_hit", "Average", "cache hits"),),
                Unit.PERCENT,
            ),
            Graph(
                "Loading and unloading a model, ms on average",
                (
                    Line("model_loading_wait_time", "Average", "invocation waits for it"),
                    Line("model_downloading_time", "Average", "download"),
                    Line("model_loading_time", "Average", "load"),
                    Line("model_unloading_time", "Average", "unload"),
                ),
                Unit.MILLISECONDS,
            ),
            Graph("Models unloaded a minute", (Line("model_unloading_time", "SampleCount", "unloaded"),)),
        ),
    ),
)
