"""`bert-trt` has the values of the system that it is taken from, and where it differs it says why.

The source is "Host ML models on Amazon SageMaker using Triton: TensorRT models" with its notebook,
`sm-triton_mme_bert_trt` of aws/amazon-sagemaker-examples. The template is read from the reviewed snapshot, which
test_snapshots.py holds against what is synthesised.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from fleet.local.triton.model_config import parse
from fleet.resolve.resolve import resolve_fleet
from fleet.spec.project import load_lock
from fleet_folder import ROOT

ENVIRONMENTS = ("dev", "prod")
SNAPSHOTS = Path(__file__).parent / "__snapshots__" / "test_snapshots"
CONFIG = ROOT / "examples/bert_trt/models/bert/config.pbtxt"
TENSORS = {
    "token_ids": ("TYPE_INT32", [128]),
    "attn_mask": ("TYPE_INT32", [128]),
    "output": ("TYPE_FP32", [128, 768]),
    "pooled_output": ("TYPE_FP32", [768]),
}
SOURCE: dict[str, Any] = {
    "mode": "MultiModel",
    "instance type": "ml.g5.xlarge",
    "instance count": 1,
    "variant": "AllTraffic",
    "weight": 1,
    "scaled by": {"SageMakerVariantInvocationsPerInstance", "GPUUtilization"},
    "endpoint": "triton-nlp-bert-trt-mme-<time>",
    "image": "sagemaker-tritonserver:23.02-py3",
    "prefix": "bert-mme/",
    "archives": [f"bert-{number}" for number in range(6)],
    "models": ["bert"] * 6,
    "config: name": "bert",
    "config: platform": "tensorrt_plan",
    "config: max_batch_size": 128,
    "config: tensors": TENSORS,
    "config: instance_group": [(1, "KIND_GPU")],
    "config: preferred_batch_size": [16],
    "trtexec: smallest": {"token_ids": "1x128", "attn_mask": "1x128"},
    "trtexec: usual": {"token_ids": "16x128", "attn_mask": "16x128"},
    "trtexec: largest": {"token_ids": "128x128", "attn_mask": "128x128"},
    "trtexec: others": {"--fp16", "--workspace=14000", "--verbose"},
}
DIFFERENT = {
    "endpoint": "the name is fixed: an update keeps it, and a time in it would make a new endpoint of each",
    "image": "25.04 is the newest whose driver g5 instances get; we know registry accounts from 23.12 on",
    "prefix": "each set of archives has a prefix of its own, so that a rollback finds the one before",
    "models": "the source means to number them and its replacement finds nothing, so Triton's metrics mix them up",
    "trtexec: others": "TensorRT 10 has no `--workspace`; a build measures nothing, and its log is short",
}
"""Where we differ on purpose, and why."""


@cache
def ours(environment: str) -> dict[str, Any]:
    """The shipped endpoint, in the words of SOURCE."""
    file = f"test_the_template_is_as_reviewed[triton-fleet-{environment}-bert-trt].json"
    resources = json.loads((SNAPSHOTS / file).read_text())["Resources"].values()

    def properties(kind: str) -> list[Any]:
        return [each["Properties"] for each in resources if each["Type"].endswith(f"::{kind}")]

    (model,), (config,), (served,) = map(properties, ("Model", "EndpointConfig", "Endpoint"))
    container, (variant,) = model["PrimaryContainer"], config["ProductionVariants"]
    archives = load_lock(ROOT / "locks" / environment / "bert-trt.lock.yaml").archives
    return {
        "mode": container["Mode"],
        "instance type": variant["InstanceType"],
        "instance count": variant["InitialInstanceCount"],
        "variant": variant["VariantName"],
        "weight": variant["InitialVariantWeight"],
        "scaled by": {_metric(each) for each in properties("ScalingPolicy")},
        "endpoint": served["EndpointName"],
        "image": container["Image"].rpartition("/")[2],
        "prefix": container["ModelDataUrl"].removeprefix("s3://").partition("/")[2],
        "archives": list(archives),
        "models": [model for archive in archives.values() for model in archive.models],
        **_config(),
        **_trtexec(environment),
    }


def _metric(policy: dict[str, Any]) -> str:
    told = policy["TargetTrackingScalingPolicyConfiguration"]
    if "CustomizedMetricSpecification" in told:
        return str(told["CustomizedMetricSpecification"]["MetricName"])
    return str(told["PredefinedMetricSpecification"]["PredefinedMetricType"])


def _config() -> dict[str, Any]:
    message: Any = parse(CONFIG.read_text())
    written = MessageToDict(message, preserving_proto_field_name=True)
    tensors = {
        each["name"]: (each["data_type"], [int(dim) for dim in each["dims"]])
        for each in (*written["input"], *written["output"])
    }
    told = {key: written[key] for key in ("name", "platform", "max_batch_size")}
    told |= {"tensors": tensors, **written["dynamic_batching"]}
    told["instance_group"] = [(each["count"], each["kind"]) for each in written["instance_group"]]
    return {f"config: {key}": value for key, value in told.items()}


def _trtexec(environment: str) -> dict[str, Any]:
    (endpoint,) = resolve_fleet(ROOT, environment, ["bert-trt"]).endpoints
    told: dict[str, Any] = {"others": set()}
    of_shapes = {"--minShapes": "smallest", "--optShapes": "usual", "--maxShapes": "largest"}
    for argument in endpoint.engines[0].build.arguments:
        flag, _, value = argument.partition("=")
        if flag in of_shapes:
            told[of_shapes[flag]] = dict(shape.split(":") for shape in value.split(","))
        else:
            told["others"].add(argument)
    return {f"trtexec: {key}": value for key, value in told.items()}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", sorted(SOURCE.keys() - DIFFERENT))
def test_a_value_is_that_of_the_source(environment: str, name: str) -> None:
    assert ours(environment)[name] == SOURCE[name]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", DIFFERENT)
def test_a_value_that_is_said_to_differ_does(environment: str, name: str) -> None:
    assert ours(environment)[name] != SOURCE[name], f"it no longer differs: {DIFFERENT[name]}"


def test_all_that_is_compared_is_of_the_source() -> None:
    assert ours("prod").keys() == SOURCE.keys()


def test_what_differs_is_in_the_examples_readme_with_the_reason() -> None:
    readme = " ".join((ROOT / "examples/bert_trt/README.md").read_text().split())
    assert [name for name, why in DIFFERENT.items() if why not in readme] == []
