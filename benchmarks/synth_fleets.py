"""The fleets of benchmarks/synth.py: as specs with locks, and the values that the other side is given."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from by_hand.values import FILE
from locked_fleet import ENVIRONMENT, ONNX, locked_fleet

from fleet.catalog.metrics import endpoint_metric
from fleet.dashboard.body import dashboard_body
from fleet.dashboard.log_queries import SAVED_QUERIES
from fleet.decide.alarms import Alarm
from fleet.decide.rollout import RollbackAlarm
from fleet.resolve.endpoint import ResolvedEndpoint
from fleet.resolve.resolve import resolve_fleet
from fleet.spec.endpoint import Mode

SINGLE = """\
endpoint: NAME
triton: "25.04"
instance: {type: ml.g5.xlarge, count: 2}
models:
  - {archive: NAME, repository: ../repositories/NAME}
scaling: {min: 2, max: 8, invocations_per_instance: 600, gpu_utilization: 60, scale_in: 600s, scale_out: 200s}
rollout: {strategy: canary, canary: 50%, bake: 10m, rollback_on: [errors, latency]}
alarms: {latency_p99: 200ms, errors: 1%}
metrics: {triton: true}
container: {thread_count: 16, log_verbose: false}
samples:
  - name: ones
    inputs: {x: {datatype: FP32, shape: [1, 8], data: 1}}
    outputs: {y: {datatype: FP32, shape: [1, 8]}}
"""
MULTI_MODEL = """\
endpoint: NAME
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge, count: 1}
models:
  - {archive: first, repository: ../repositories/NAME}
  - {archive: more, repository: ../repositories/NAME, copies: 4}
scaling: {min: 1, max: 4, invocations_per_instance: 300, gpu_utilization: 60}
"""
SPECS = (SINGLE, MULTI_MODEL)
"""In turns; they are of the kinds that the project ships."""


def make_fleet(root: Path, count: int) -> Path:
    """A locked fleet of so many endpoints, with the values of each in a file beside it."""
    files = {"environments/dev.yaml": ENVIRONMENT}
    for number in range(count):
        name = f"endpoint-{number:04}"
        files[f"model_specs/{name}.yaml"] = SPECS[number % len(SPECS)].replace("NAME", name)
        files[f"repositories/{name}/encoder/config.pbtxt"] = ONNX
        files[f"repositories/{name}/encoder/1/model.onnx"] = f"of {name}\n"
    locked_fleet(root, files)
    values = [_values(each) for each in resolve_fleet(root, "dev").endpoints]
    (root / FILE).write_text(json.dumps(values))
    return root


def _values(endpoint: ResolvedEndpoint) -> dict[str, Any]:
    """The fields of `by_hand.values.Endpoint`."""
    place, image, metrics = endpoint.place, endpoint.image, endpoint.triton_metrics
    scaling, rollout = endpoint.scaling, endpoint.rollout
    return {
        "name": endpoint.name,
        "environment": place.environment,
        "stack": endpoint.stack,
        "account": place.account,
        "region": place.region,
        "bucket": place.bucket,
        "image": image.uri,
        "image_arn": f"arn:aws:ecr:{place.region}:{image.account}:repository/{image.repository}",
        "mode": "MultiModel" if endpoint.mode is Mode.MULTI_MODEL else "SingleModel",
        "model_data_url": endpoint.model_data_url,
        "variables": dict(endpoint.variables),
        "instance_type": endpoint.instance.type,
        "instance_count": endpoint.instance_count,
        "gpus": endpoint.instance.gpus,
        "vcpus": endpoint.instance.vcpus,
        "ami": endpoint.ami,
        "download_timeout": endpoint.timeouts.model_download,
        "startup_timeout": endpoint.timeouts.startup,
        "namespace": metrics.namespace if metrics else None,
        "log_groups": list(endpoint.log_groups),
        "tags": dict(endpoint.tags),
        "scaling": {
            "min": scaling.min,
            "max": scaling.max,
            "scale_in": scaling.scale_in,
            "scale_out": scaling.scale_out,
            "targets": {each.measure: each.value for each in scaling.targets},
        }
        if scaling
        else None,
        "guard": f"arn:aws:lambda:{place.region}:{place.account}:function:{place.stack}-scaling-guard",
        "logs": f"arn:aws:lambda:{place.region}:{place.account}:function:{place.stack}-endpoint-logs",
        "check": f"arn:aws:lambda:{place.region}:{place.account}:function:{place.stack}-endpoint-check",
        "samples": endpoint.check.samples,
        "warm": list(endpoint.check.warm),
        "rollout": {
            "canary": rollout.step,
            "bake": rollout.bake,
            "termination_wait": rollout.termination_wait,
            "timeout": rollout.timeout,
            "alarms": [_alarm(each) for each in rollout.alarms],
        }
        if rollout
        else None,
        "alarms": [_operators(each) for each in endpoint.alarms],
        "thresholds": [asdict(each) for each in endpoint.alarms],
        "queries": {each.name: each.text for each in SAVED_QUERIES},
        **_written(endpoint),
    }


def _operators(alarm: Alarm) -> dict[str, Any]:
    return {
        "id": f"{alarm.key}-{alarm.severity}",
        "severity": alarm.severity,
        "metric": endpoint_metric(alarm.measure).name,
        "statistic": alarm.statistic,
        "threshold": alarm.threshold,
        "calls": alarm.calls,
        "text": alarm.text,
    }


def _written(endpoint: ResolvedEndpoint) -> dict[str, Any]:
    """What stands on the dashboard in words: headings, and the question to the log."""
    widgets = [(each["type"], each["properties"]) for each in dashboard_body(endpoint)["widgets"]]
    return {
        "texts": [properties["markdown"] for type, properties in widgets if type == "text"],
        "last_errors": next(properties["query"] for type, properties in widgets if type == "log"),
    }


def _alarm(alarm: RollbackAlarm) -> dict[str, Any]:
    kind = "percentile" if alarm.statistic.startswith("p") else "statistic"
    metric = endpoint_metric(alarm.measure).name
    name = f"{metric}{alarm.statistic.capitalize()}"
    return {"name": name, "metric": metric, kind: alarm.statistic, "threshold": alarm.threshold}
