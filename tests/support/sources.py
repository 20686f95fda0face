"""A shipped endpoint in the words of the source that it is taken from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict

from tests.support.fleet_folder import ROOT
from tests.synth.shipped_specs import HASH, shipped_spec
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.local.triton.model_backend import parse
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project

ENVIRONMENTS = ("dev", "prod")
PREFIX = "SAGEMAKER_TRITON_"


@dataclass(frozen=True)
class Different:
    """A value that is another here on purpose."""

    own_value: Any
    reason: str


TRTEXEC = {
    "trtexec: workspace": Different("--memPoolSize=workspace:14000", "TensorRT 10 has no `--workspace`"),
    "trtexec: others": Different({"--skipInference"}, "a build measures nothing, and its log is short"),
}
WAITS = ("ModelDataDownload", "ContainerStartupHealthCheck")
OWN_VARIANT = {
    "variant": "AllTraffic",
    "weight": 1,
    "mode": "MultiModel",
    "account": "785573368785",
    "variables": {},
    "host image": None,
    "routing": None,
    "waits": [None, None],
}
"""What the sources of multi-model endpoints have in common; the account is that of us-east-1."""


@cache
def properties(environment: str, endpoint: str, kind: str) -> list[dict[str, Any]]:
    """The properties of the resources of a kind, such as "Model", in the endpoint's template without hashes."""
    template = json.dumps(shipped_spec(environment)[f"triton-fleet-{environment}-{endpoint}"])
    resources = json.loads(HASH.sub("HASH", template))["Resources"].values()
    return [resource["Properties"] for resource in resources if resource["Type"].endswith(f"::{kind}")]


def served(environment: str, endpoint: str) -> dict[str, Any]:
    """The settings that SageMaker is given, and the files in the archives."""
    (model,) = properties(environment, endpoint, "Model")
    (config,) = properties(environment, endpoint, "EndpointConfig")
    (name,) = (entry["EndpointName"] for entry in properties(environment, endpoint, "Endpoint"))
    container, (variant,) = model["PrimaryContainer"], config["ProductionVariants"]
    archives = load_lock(ROOT / "locks" / environment / f"{endpoint}.lock.yaml").archives
    return {
        "mode": container["Mode"],
        "instance type": variant["InstanceType"],
        "instance count": variant["InitialInstanceCount"],
        "variant": variant["VariantName"],
        "weight": variant["InitialVariantWeight"],
        "scaled by": {_metric(entry) for entry in policies(environment, endpoint)},
        "endpoint": name,
        "image": container["Image"].rpartition("/")[2],
        "account": container["Image"].partition(".")[0],
        "variables": {
            name.removeprefix(PREFIX): value for name, value in container.get("Environment", {}).items()
        },
        "host image": variant.get("InferenceAmiVersion"),
        "routing": variant.get("RoutingConfig", {}).get("RoutingStrategy"),
        "waits": [variant.get(f"{wait}TimeoutInSeconds") for wait in WAITS],
        "prefix": container["ModelDataUrl"].removeprefix("s3://").partition("/")[2],
        "archives": list(archives),
        "models": [model for archive in archives.values() for model in archive.models],
    }


def differences(endpoint: str) -> dict[str, Different]:
    """Differences of every shipped multi-model endpoint from its source."""
    variables = {
        "ALLOW_METRICS": "true",
        "CLOUDWATCH_LOG_GROUP": f"/triton-fleet/{endpoint}/metrics",
        "CLOUDWATCH_METRIC_NAMESPACE": f"TritonFleet/{endpoint}",
        "LOG_VERBOSE": "false",
        "METRICS_PORT": "23000",
        "METRIC_NAMESPACE": f"TritonFleet/{endpoint}",
        "OVERRIDE_PING_MODE": "live",
        "PING_MODE": "live",
        "PUBLISH_METRICS_TO_CLOUDWATCH": "true",
    }
    return {
        "endpoint": Different(
            endpoint,
            "a fixed name survives updates; with a time in it, each update would create an endpoint",
        ),
        "account": Different(
            "763104351884", "images from 23.12 on are in the registry of AWS's deep learning containers"
        ),
        "prefix": Different(
            f"endpoints/{endpoint}/HASH/",
            "each set of archives has its own prefix, so a rollback finds the previous one",
        ),
        "variables": Different(
            variables,
            "Triton's metrics are published, the log is short, and one archive that fails does not fail the instance",
        ),
        "host image": Different(
            "al2-ami-sagemaker-inference-gpu-3-1", "its driver supports the image's CUDA"
        ),
        "routing": Different(
            "LEAST_OUTSTANDING_REQUESTS", "calls take unequal times, above all those that load a model"
        ),
        "waits": Different([600, 600], "an instance that does not come up fails the deploy in minutes"),
    }


def row(name: str, is_there: Any, different: Different) -> str:
    """The line about it in the table of an example's README."""
    return f"| {name} | {describe_value(is_there)} | {describe_value(different.own_value)} | {different.reason} |"


def describe_value(value: Any) -> str:
    match value:
        case None:
            return "none"
        case dict():
            return describe_value([f"{key}={item}" for key, item in value.items()])
        case set():
            return describe_value(sorted(value))
        case list() | tuple() if len(value) > 1 and len(set(value)) == 1:
            return f"{describe_value(value[0])}, {len(value)} times"
        case list() | tuple():
            return ", ".join(map(describe_value, value)) or "none"
    return f"`{value}`"


def policies(environment: str, endpoint: str) -> list[dict[str, Any]]:
    """The metric that each of its scaling policies tracks, and how."""
    entries = properties(environment, endpoint, "ScalingPolicy")
    return [entry["TargetTrackingScalingPolicyConfiguration"] for entry in entries]


def _metric(tracked_values: dict[str, Any]) -> str:
    if "CustomizedMetricSpecification" in tracked_values:
        return str(tracked_values["CustomizedMetricSpecification"]["MetricName"])
    return str(tracked_values["PredefinedMetricSpecification"]["PredefinedMetricType"])


def config(file: Path) -> dict[str, Any]:
    """The fields of a config.pbtxt; each key begins with `config: `."""
    written_configuration = configuration(file)
    tensors = {
        entry["name"]: (entry["data_type"], [int(dim) for dim in entry["dims"]])
        for entry in (*written_configuration["input"], *written_configuration["output"])
    }
    report = {key: written_configuration[key] for key in ("name", "platform", "max_batch_size")}
    report |= {"tensors": tensors, **written_configuration.get("dynamic_batching", {})}
    report["instance_group"] = [
        (entry["count"], entry["kind"]) for entry in written_configuration["instance_group"]
    ]
    if "parameters" in written_configuration:
        report["parameters"] = {
            key: parameter["string_value"] for key, parameter in written_configuration["parameters"].items()
        }
    return {f"config: {key}": value for key, value in report.items()}


def configuration(file: Path) -> dict[str, Any]:
    """All fields of a config.pbtxt as they are written; numbers of 64 bits are texts."""
    message: Any = parse(file.read_bytes())
    written_dict: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return written_dict


def trtexec(environment: str, endpoint: str) -> dict[str, Any]:
    """The options that build its one engine; each key begins with `trtexec: `."""
    (resolved_endpoint,) = resolve_project(open_project(ROOT, environment, [endpoint])).endpoints
    report: dict[str, Any] = {"others": set(), "precision": "fp32", "workspace": ""}
    of_shapes = {"--minShapes": "smallest", "--optShapes": "usual", "--maxShapes": "largest"}
    for argument in resolved_endpoint.engines[0].build.arguments:
        flag, _, value = argument.partition("=")
        if flag in of_shapes:
            report[of_shapes[flag]] = dict(shape.split(":") for shape in value.split(","))
        elif flag == "--fp16":
            report["precision"] = "fp16"
        elif flag == "--memPoolSize":
            report["workspace"] = f"--memPoolSize={value}"
        else:
            report["others"].add(argument)
    return {f"trtexec: {key}": value for key, value in report.items()}
