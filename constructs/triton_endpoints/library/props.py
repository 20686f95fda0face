"""Plain props: the keys of a spec as Python objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from aws_cdk import Duration
from aws_cdk import aws_logs as logs

Time: TypeAlias = str | Duration
"""A time with its unit, `"600s"` or `"10m"`, or a Duration of the CDK."""
Number: TypeAlias = int | float
"""A number; a whole one is a float where it is a token of the CDK."""
ThresholdValue: TypeAlias = str | Number | Duration
Threshold: TypeAlias = ThresholdValue | Mapping[Literal["warning", "critical"], ThresholdValue] | None
"""`"200ms"`, `"1%"`, a Duration, or one value by severity; None for no alarm. A number that is a token is in
CloudWatch's own unit: microseconds, a share of 1, or percent added up over an instance."""
Keys: TypeAlias = Mapping[str, object]
"""Raw properties or keys, which no class of props has."""
Elements: TypeAlias = bool | Number | str | Sequence[object]
"""The elements of a tensor: in one list, in nested ones, or one element that fills the whole shape."""


class _Unset:
    def __repr__(self) -> str:
        """As signatures show it."""
        return "unset"


UNSET: Any = _Unset()
"""The default of a prop that is left out: that of the spec, where it is not None; no value to write."""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """The instances that serve the endpoint: `instance` of a spec.

    Attributes:
        type: SageMaker instance type, such as `ml.g5.xlarge`.
        ami: Host image, SageMaker's InferenceAmiVersion; default: the one whose driver fits release and
            family.
        count: Number of instances; with `scaling`, only at the first deploy. Default: `1`.
    """

    type: str
    ami: str | None = None
    count: Number = UNSET


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """How a new configuration takes over, and what rolls it back: `rollout` of a spec.

    Attributes:
        strategy: `all-at-once`, `canary` and `linear` start a second fleet; `rolling` replaces instances in
            batches. Default: `"all-at-once"`.
        canary: Strategy `canary`: the share of instances to move first, at most 50%.
        step: Strategies `linear` (10% to 50%) and `rolling` (5% to 50%): the share to move at a time.
        bake: How long to watch the alarms after each step, at most 1h. Default: `"600s"`.
        termination_wait: How long to keep the old fleet after the last step, at most 1h; not with `rolling`.
            Default: `"0s"`.
        timeout: Time-out of the whole rollout, 10m to 8h; default: what its waits need.
        rollback_on: What rolls back the deployment, at the thresholds of `alarms`; default: `errors`, and
            `latency` if `alarms` has a threshold for it. `[]` turns rollbacks off, for emergencies.
    """

    strategy: Literal["all-at-once", "canary", "linear", "rolling"] = UNSET
    canary: str | None = None
    step: str | None = None
    bake: Time = UNSET
    termination_wait: Time = UNSET
    timeout: Time | None = None
    rollback_on: Sequence[Literal["errors", "latency"]] | None = None


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """Thresholds of the operators' alarms: `alarms` of a spec, with its defaults.

    Each is one value, or one by severity: `{"warning": "200ms", "critical": "1s"}`; None for no alarm.

    Attributes:
        latency_p50: Median latency of the container.
        latency_p90: 90th percentile of the container's latency.
        latency_p99: 99th percentile of the container's latency.
        overhead_p99: 99th percentile of the latency that SageMaker adds to the container's.
        errors: Share of calls that fail with a 5xx status. Default: `{"warning": "1%", "critical": "5%"}`.
        client_errors: Share of calls that fail with a 4xx status.
        model_errors: Share of calls that get no valid answer with a 2xx status from the container in time.
        gpu_utilization: Mean utilisation of one GPU.
        gpu_memory: Memory of one GPU in use, on the fullest instance.
        cpu_utilization: Mean utilisation of one vCPU.
        memory: Memory in use, on the fullest instance; in mode `multi-model` there is no default alarm.
            Default: `{"warning": "90%"}`.
        disk: Disk in use, on the fullest instance; in mode `multi-model` there is no default alarm. Default:
            `{"warning": "85%"}`.
        at_capacity: With `scaling`: how long as many instances run as its `max`; whole minutes, at most 24h.
        model_load: Mode `multi-model`: how long the container takes to load a model, on average.
        loading_wait: Mode `multi-model`: how long a call waits for its model, on average.
        cache_hits: Mode `multi-model`: minimum share of calls whose model is already loaded.
        pending_requests: With `metrics.triton`: requests that wait in Triton's queue.
        calls: Minimum calls in a minute for alarms on latencies and shares to fire; 0 and 1: they may fire in
            every minute. Default: each alarm has its own number, 5 to 20.
    """

    latency_p50: Threshold = None
    latency_p90: Threshold = None
    latency_p99: Threshold = None
    overhead_p99: Threshold = None
    errors: Threshold = UNSET
    client_errors: Threshold = None
    model_errors: Threshold = None
    gpu_utilization: Threshold = None
    gpu_memory: Threshold = None
    cpu_utilization: Threshold = None
    memory: Threshold = UNSET
    disk: Threshold = UNSET
    at_capacity: Threshold = None
    model_load: Threshold = None
    loading_wait: Threshold = None
    cache_hits: Threshold = None
    pending_requests: Threshold = None
    calls: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Capture:
    """Which calls are kept in the artifact bucket: `capture` of a spec.

    Attributes:
        sample: Share of calls to capture, `1%` to `100%` in whole percent; a number is in percent.
        requests: Capture requests. Default: `True`.
        responses: Capture responses. Default: `True`.
    """

    sample: str | Number
    requests: bool = UNSET
    responses: bool = UNSET


@dataclass(frozen=True, kw_only=True)
class Container:
    """Settings that the container's start script reads: `container` of a spec.

    Attributes:
        thread_count: Threads of the HTTP front end; default: the container's own, 8.
        buffer_manager_thread_count: Threads that copy tensors; default: the container's own, 0.
        log_verbose: Log verbosely. The container's own default is on, which adds to the costs of CloudWatch
            Logs. Default: `False`.
        log_info: Log what the server does; default: the container's own, on.
        log_warning: Log warnings; default: the container's own, on.
        log_error: Log errors; default: the container's own, on.
        shm_default_byte_size: Shared memory of each Python model instance, in bytes; default: the container's
            own, 16 MiB.
        shm_growth_byte_size: Step by which that memory grows, in bytes; default: the container's own, 1 MiB.
        model_load_gpu_limit: Share of GPU memory in use above which no further model is loaded; default: no
            limit.
        inference_type: Kind of Triton request that an invocation makes, from release 25.03 on; default: the
            container's own, `infer`.
        metrics_port: Port of Triton's own metrics, 23000 to 23999: SageMaker blocks all others; default:
            23000.
        additional_args: Further flags of tritonserver, one per item, without white space.
    """

    thread_count: Number | None = None
    buffer_manager_thread_count: Number | None = None
    log_verbose: bool = UNSET
    log_info: bool | None = None
    log_warning: bool | None = None
    log_error: bool | None = None
    shm_default_byte_size: Number | None = None
    shm_growth_byte_size: Number | None = None
    model_load_gpu_limit: Number | None = None
    inference_type: Literal["infer", "generate", "generate_stream"] | None = None
    metrics_port: Number | None = None
    additional_args: Sequence[str] = UNSET


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Metrics in addition to SageMaker's own: `metrics` of a spec.

    Attributes:
        triton: Let the container publish Triton's metrics to CloudWatch. Default: `True`.
        detailed_observability: SageMaker's own collector of GPU and host metrics, queried with PromQL and
            billed by sample. SageMaker's own default is on. Default: `False`.
        enhanced: Publish SageMaker's metrics for each instance, container and GPU too; each metric is billed.
            Default: `False`.
        publish_every: How often SageMaker publishes the instances' utilisation, 10s to 5m: every 10, 30, 60,
            120, 180, 240 or 300 seconds. This includes the metrics of calls with `enhanced`, and those of the
            collector with `detailed_observability`. Neither `enhanced` nor `scaling` on utilisation allows
            more than 60s. Default: every 60s.
        triton_dimensions: The dimensions of Triton's metrics, as `aws cloudwatch list-metrics --namespace
            TritonFleet/NAME` shows them, such as `[model, version, reason, gpu_uuid]`; default: the dashboard
            finds the metrics with any dimensions.
    """

    triton: bool = UNSET
    detailed_observability: bool = UNSET
    enhanced: bool = UNSET
    publish_every: Time | None = None
    triton_dimensions: Sequence[str] = UNSET


@dataclass(frozen=True, kw_only=True)
class Logs:
    """The endpoint's log groups: `logs` of a spec.

    Attributes:
        retention_days: Days after which log events are deleted: 1, 3, 5, 7, 14, 30, 60, 90 and so on, at most
            3653. Default: `30`.
    """

    retention_days: Number | logs.RetentionDays = UNSET


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How long SageMaker waits for a new instance: `timeouts` of a spec.

    Attributes:
        model_download: Time for the model data to download, 60s to 1h. Default: `"600s"`.
        startup: Time for the container to answer its first ping, 60s to 1h. Default: `"600s"`.
    """

    model_download: Time = UNSET
    startup: Time = UNSET


@dataclass(frozen=True, kw_only=True)
class Input:
    """A tensor that a sample sends.

    Attributes:
        datatype: Data type, by its name in Triton's protocol, such as FP32, INT64 or BYTES (text).
        shape: Size of each axis, including the batch.
        data: The elements in row-major order, nested or in one list; a single value fills the whole shape.
            "NaN", "Infinity" and "-Infinity" are accepted for floating point.
    """

    datatype: str
    shape: Sequence[Number]
    data: Elements


@dataclass(frozen=True, kw_only=True)
class Output:
    """Expectations of an output tensor; those that are left out are not compared.

    Attributes:
        datatype: Data type, by its name in Triton's protocol.
        shape: Size of each axis, including the batch; -1 for any size.
        data: The expected elements, written as for an input. "NaN" matches only NaN, and an infinity only
            itself.
        first: In place of `data`: the first elements in row-major order; the others are not compared.
        tolerance: Maximum absolute difference of each element; required for floating point, 0 unless given
            for integers. BOOL and BYTES are compared exactly.
    """

    datatype: str | None = None
    shape: Sequence[Number] | None = None
    data: Elements | None = None
    first: Sequence[bool | Number | str] | None = None
    tolerance: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One call after each deploy, of `samples` of a spec; an unexpected answer rolls back the deploy.

    Attributes:
        name: Name in messages.
        target: Mode `multi-model`: the archive to call, by its name in `models`; a copy by `ARCHIVE-0`.
        model: Mode `shared-container`: the route to call; default: `default_model`.
        version: Mode `shared-container`: the version to call; default: the newest.
        inputs: The tensors to send, by name.
        outputs: The expected output tensors, by name; the answer may have others too.
        status: The expected HTTP status; with any other than 200, such as 400, the model has to refuse the
            call. Default: `200`.
    """

    name: str
    target: str | None = None
    model: str | None = None
    version: Number | None = None
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output] = UNSET
    status: Number = UNSET


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """A range of instances and its targets: `scaling` of a spec.

    Each method returns another Scaling with one more target: the rules of an endpoint look at all of it, so
    it is whole before the endpoint is declared.

    Attributes:
        min: Minimum number of instances, at least 1.
        max: Maximum number of instances.
        scale_in: Time to wait after removing instances, at most 24h. Default: `"600s"`.
        scale_out: Time to wait after adding instances, at most 24h. Default: `"200s"`.
        schedules: Changes of the instance range at given times; targets apply within it.
        targets: The targets of the measures, which the methods add.
    """

    min: Number
    max: Number
    scale_in: Time = UNSET
    scale_out: Time = UNSET
    schedules: tuple[Mapping[str, object], ...] = ()
    targets: Mapping[str, float] = field(default_factory=dict)

    def scale_on_invocations(self, per_instance: float) -> Scaling:
        """Track the invocations per minute and instance."""
        return self._with_target("invocations_per_instance", per_instance)

    def scale_on_concurrent_requests(self, per_instance: float) -> Scaling:
        """Track the requests that run or wait at one time, for each instance."""
        return self._with_target("concurrent_requests", per_instance)

    def scale_on_gpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one GPU, in percent, however many an instance has."""
        return self._with_target("gpu_utilization", percent)

    def scale_on_cpu_utilization(self, percent: float) -> Scaling:
        """Track the mean utilisation of one vCPU, in percent."""
        return self._with_target("cpu_utilization", percent)

    def scale_on_schedule(
        self,
        name: str,
        at: str,
        *,
        time_zone: str = "UTC",
        min: Number | None = None,
        max: Number | None = None,
    ) -> Scaling:
        """Change the range at given times.

        Args:
            name: What the scheduled action is called.
            at: `cron(0 8 ? * MON-FRI *)`, `rate(12 hours)` or `at(2026-12-24T18:00:00)`.
            time_zone: IANA name of the time zone that `at` is in.
            min: Fewest instances from then on; default: as it is.
            max: Most instances from then on; default: as it is.
        """
        range = {key: value for key, value in {"min": min, "max": max}.items() if value is not None}
        schedule = {"name": name, "at": at, "time_zone": time_zone, **range}
        return replace(self, schedules=(*self.schedules, schedule))

    def _with_target(self, measure: str, value: float) -> Scaling:
        return replace(self, targets={**self.targets, measure: value})
