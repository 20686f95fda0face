"""Two values of every key of a spec that is in the template."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]
"""A file, or a part of one that is laid over it: mappings merge, everything else is replaced."""

SPEC: Document = {
    "endpoint": "sentences",
    "triton": "25.04",
    "instance": {"type": "ml.g5.xlarge"},
    "models": [{"archive": "sentences", "repository": "../repository"}],
}
SUBNETS = [f"subnet-{number:08}" for number in range(3)]
ENVIRONMENT: Document = {
    "environment": "dev",
    "account": "111122223333",
    "region": "us-east-1",
    "allowed_networks": [*SUBNETS, "sg-00000001", "sg-00000002"],
}
FACTS: Document = {"embed": {}}
"""What a lock says of the models."""


def laid_over(below: Document, above: Document) -> Document:
    merged_below = dict(below)
    for key, value in above.items():
        old = merged_below.get(key)
        merged_below[key] = (
            laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return merged_below


@dataclass(frozen=True, kw_only=True)
class Flip:
    """Two values of a key, and the further keys without which it means nothing.

    `also` comes with the other value alone; `facts` is what the lock says of the models. `refused` is what is
    a mistake at the key: further keys, or another value of it, laid over the spec with the other value.
    """

    first: Any
    second: Any
    base: Document = field(default_factory=dict)
    also: Document = field(default_factory=dict)
    facts: Document = field(default_factory=lambda: dict(FACTS))
    refusals: tuple[Document, ...] = ()

    def specs(self, key: str) -> list[Document]:
        """The spec with the one value, and that with the other."""
        return [
            with_key(laid_over(laid_over(SPEC, self.base), further), key, value)
            for value, further in ((self.first, {}), (self.second, self.also))
        ]

    def on(self, further: Document) -> Flip:
        """The same over further keys of the spec, with two models in the lock."""
        return replace(
            self,
            base=laid_over(self.base, further),
            facts={"embed": {"versions": ["1", "2"]}, "rank": {"versions": ["1", "2"]}},
        )


def flip(first_value: Any, other_value: Any, **base: Any) -> Flip:
    """Two values, over further keys of the spec."""
    return Flip(first=first_value, second=other_value, base=base)


def archive(**keys: Any) -> list[Document]:
    return [{**SPEC["models"][0], **keys}]


def scaling(first_value: Any, other_value: Any, **base: Any) -> Flip:
    return flip(
        first_value, other_value, scaling={"min": 1, "max": 4, "invocations_per_instance": 60, **base}
    )


def schedule(first_value: Any, other_value: Any) -> Flip:
    return scaling(first_value, other_value, schedules=[{"name": "day", "at": "cron(0 8 * * ? *)", "min": 2}])


def rollout(first_value: Any, other_value: Any, alarms: Document | None = None, **base: Any) -> Flip:
    instance = {"count": 2}
    return flip(first_value, other_value, instance=instance, rollout={"timeout": "4h", **base}, alarms=alarms)


def alarms(key: str, first_value: Any, other_value: Any, **base: Any) -> dict[str, Flip]:
    """Each severity of an alarm's threshold."""
    return {
        f"alarms.{key}.{severity}": flip(first_value, other_value, **base)
        for severity in ("warning", "critical")
    }


def sample(first_value: Any, other_value: Any) -> Flip:
    return flip(first_value, other_value, samples=[{"name": "one", "inputs": TENSOR}])


def engine(first_value: Any, other_value: Any, **base: Any) -> Flip:
    return flip(
        first_value, other_value, models=archive(engines=[{"model": "embed", "onnx": "m.onnx"}]), **base
    )


def network(first_value: Any, other_value: Any) -> Flip:
    return flip(
        first_value, other_value, network={"subnets": SUBNETS[:2], "security_groups": ["sg-00000001"]}
    )


IMAGE_URIS = [f"111122223333.dkr.ecr.us-east-1.amazonaws.com/{name}" for name in ("detector", "reader")]
TENSOR: Document = {"x": {"datatype": "FP32", "shape": [1], "data": 1}}
ZOO: Document = {
    "mode": "multi-model",
    "models": [{**SPEC["models"][0], "archive": name} for name in ("sentences", "paragraphs")],
}

SHARED_DOCUMENT: Document = {
    "mode": "shared-container",
    "default_model": "embed",
    "image": {"uri": IMAGE_URIS[0], "digest": f"sha256:{0:064}"},
}

IN_THE_TEMPLATE: Mapping[str, Flip] = {
    "endpoint": flip("sentences", "paragraphs"),
    "mode": flip("single", "multi-model"),
    "archive_set": Flip(
        first="locked",
        second="live",
        base={"mode": "multi-model"},
        also={"models": archive(version=1)},
    ),
    "triton": flip("25.04", "24.09"),
    "image_digest": flip(None, f"sha256:{0:064}"),
    "image.uri": flip(*IMAGE_URIS, image={"digest": f"sha256:{0:064}"}),
    "image.digest": flip(f"sha256:{0:064}", f"sha256:{1:064}", image={"uri": IMAGE_URIS[0]}),
    "instance.type": flip("ml.g5.xlarge", "ml.g5.2xlarge"),
    "instance.ami": flip("al2-ami-sagemaker-inference-gpu-3-1", "al2-ami-sagemaker-inference-gpu-2-1"),
    "instance.count": flip(1, 2),
    "routes": flip({"embed": "embed"}, {"embed": "rank"}).on(SHARED_DOCUMENT),
    "default_model": Flip(first="embed", second="rank", facts={"embed": {}, "rank": {}}),
    "models[].archive": flip("sentences", "paragraphs", mode="multi-model"),
    "models[].copies": flip(1, 2, mode="multi-model"),
    "models[].compression": flip("gzip", "none"),
    "scaling.min": scaling(1, 2),
    "scaling.max": scaling(4, 5),
    "scaling.invocations_per_instance": scaling(60, 90),
    "scaling.concurrent_requests": scaling(6, 9),
    "scaling.gpu_utilization": scaling(60, 90),
    "scaling.cpu_utilization": scaling(60, 90),
    "scaling.scale_in": scaling("0s", "5m"),
    "scaling.scale_out": scaling("0s", "5m"),
    "scaling.schedules[].name": schedule("day", "night"),
    "scaling.schedules[].at": schedule("cron(0 8 * * ? *)", "cron(0 9 * * ? *)"),
    "scaling.schedules[].time_zone": schedule("UTC", "Europe/Berlin"),
    "scaling.schedules[].min": schedule(2, 3),
    "scaling.schedules[].max": schedule(4, 5),
    "rollout.strategy": rollout("linear", "rolling", step="25%"),
    "rollout.canary": rollout("10%", "50%", strategy="canary"),
    "rollout.step": rollout("25%", "50%", strategy="linear"),
    "rollout.bake": rollout("5m", "10m"),
    "rollout.termination_wait": rollout("0s", "5m"),
    "rollout.timeout": rollout("1h", "2h"),
    "rollout.rollback_on": rollout(["errors"], ["latency"], {"latency_p99": "200ms"}),
    "samples[].name": sample("one", "two"),
    "samples[].target": Flip(
        first="sentences",
        second="paragraphs",
        base={**ZOO, "samples": [{"name": "one", "inputs": TENSOR}]},
    ),
    "samples[].model": sample("rank", "embed").on(SHARED_DOCUMENT),
    "samples[].version": sample(1, 2).on(SHARED_DOCUMENT),
    "samples[].inputs": sample(TENSOR, {"y": TENSOR["x"]}),
    "samples[].outputs": sample({}, {"y": {"shape": [1]}}),
    "samples[].status": sample(200, 400),
    "warm": flip([], ["paragraphs"], **ZOO),
    **alarms("latency_p50", "100ms", "200ms"),
    **alarms("latency_p90", "100ms", "200ms"),
    **alarms("latency_p99", "100ms", "200ms"),
    **alarms("overhead_p99", "100ms", "200ms"),
    **alarms("errors", "1%", "2%"),
    **alarms("client_errors", "1%", "2%"),
    **alarms("model_errors", "1%", "2%"),
    **alarms("gpu_utilization", "80%", "90%"),
    **alarms("gpu_memory", "80%", "90%"),
    **alarms("cpu_utilization", "80%", "90%"),
    **alarms("memory", "80%", "90%"),
    **alarms("disk", "80%", "90%"),
    **alarms("at_capacity", "15m", "1h", scaling={"min": 1, "max": 4, "invocations_per_instance": 60}),
    **alarms("model_load", "10s", "20s", mode="multi-model"),
    **alarms("loading_wait", "10s", "20s", mode="multi-model"),
    **alarms("cache_hits", "80%", "90%", mode="multi-model"),
    **alarms("pending_requests", 10, 20),
    "alarms.calls": flip(5, 50, alarms={"latency_p99": "200ms"}),
    "metrics.triton": flip(True, False),
    "metrics.detailed_observability": flip(False, True),
    "metrics.enhanced": flip(False, True),
    "metrics.publish_every": Flip(
        first=None,
        second="60s",
        refusals=(
            {"metrics": {"publish_every": "45s"}},
            {"metrics": {"publish_every": "120s", "enhanced": True}},
            {"metrics": {"publish_every": "120s"}, "scaling": {"min": 1, "max": 4, "gpu_utilization": 60}},
        ),
    ),
    "logs.retention_days": flip(30, 90),
    "network.subnets": network([SUBNETS[0], SUBNETS[1]], [SUBNETS[0], SUBNETS[2]]),
    "network.security_groups": network(["sg-00000001"], ["sg-00000002"]),
    "network.isolated": Flip(
        first=False,
        second=True,
        base={"metrics": {"triton": False}},
        refusals=({"metrics": {"triton": True}},),
    ),
    "access.invokers": flip([], ["arn:aws:iam::111122223333:role/search"]),
    "capture.sample": flip("10%", "100%"),
    "capture.requests": flip(True, False, capture={"sample": "10%"}),
    "capture.responses": flip(True, False, capture={"sample": "10%"}),
    "tags": flip({"team": "search"}, {"team": "ranking"}),
    "owner.team": flip("search", "ranking"),
    "owner.contact": flip("search@example.com", "@example/search", owner={"team": "search"}),
    "metrics.triton_dimensions": flip(["model"], ["model", "version"]),
    "container.thread_count": flip(8, 16),
    "container.buffer_manager_thread_count": flip(0, 2),
    "container.log_verbose": flip(False, True),
    "container.log_info": flip(False, True),
    "container.log_warning": flip(False, True),
    "container.log_error": flip(False, True),
    "container.shm_default_byte_size": flip(1 << 24, 1 << 25),
    "container.shm_growth_byte_size": flip(1 << 20, 1 << 21),
    "container.model_load_gpu_limit": flip(0.5, 0.8),
    "container.inference_type": flip("infer", "generate"),
    "container.metrics_port": flip(23002, 23003),
    "container.additional_args": flip(["--exit-timeout-secs=10"], ["--exit-timeout-secs=20"]),
    "environment": flip({"WORDS": "1"}, {"WORDS": "2"}),
    "timeouts.model_download": flip("5m", "15m"),
    "timeouts.startup": flip("5m", "15m"),
    "cloudformation": flip(
        {"Model": {"PrimaryContainer.ContainerHostname": "embeddings"}},
        {"Model": {"PrimaryContainer.ContainerHostname": "sentences"}},
    ),
}
"""Keys of the spec."""


def with_key(document: Document, key: str, value: object) -> Document:
    """A document with one key set; of a list, in its first item."""
    changed_document: Document = deepcopy(document)
    inner = changed_document
    *above, last = key.split(".")
    for name in above:
        inner = inner[name.removesuffix("[]")][0] if name.endswith("[]") else inner.setdefault(name, {})
    inner[last] = value
    return changed_document
