"""The values of the system that `bert-trt` is taken from, and those of `bert-trt`; test_sources.py compares them.

The source is "Host ML models on Amazon SageMaker using Triton: TensorRT models" with its notebook,
`sm-triton_mme_bert_trt` of aws/amazon-sagemaker-examples.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.support.fleet_folder import ROOT
from tests.support.sources import OWN_VARIANT, TRTEXEC, Different, config, differences, served, trtexec

CONFIG = ROOT / "examples/bert_trt/models/bert/config.pbtxt"
TENSORS = {
    "token_ids": ("TYPE_INT32", [128]),
    "attn_mask": ("TYPE_INT32", [128]),
    "output": ("TYPE_FP32", [128, 768]),
    "pooled_output": ("TYPE_FP32", [768]),
}
SOURCE: dict[str, Any] = {
    **OWN_VARIANT,
    "instance type": "ml.g5.xlarge",
    "instance count": 1,
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
    "trtexec: precision": "fp16",
    "trtexec: workspace": "--workspace=14000",
    "trtexec: others": {"--verbose"},
}
DIFFERENT = differences("bert-trt") | {
    "image": Different(
        "sagemaker-tritonserver:25.04-py3",
        "25.04 is the newest whose driver g5 instances get, and engines need an image with Python 3.10 or newer",
    ),
    "models": Different(
        [f"bert_{number}" for number in range(6)],
        "the source tries to number them, but its replacement matches nothing, so Triton's metrics mix them up",
    ),
    **TRTEXEC,
}
"""Where we differ on purpose, and why."""


@cache
def ours(environment: str) -> dict[str, Any]:
    """The shipped endpoint, in the words of SOURCE."""
    return {**served(environment, "bert-trt"), **config(CONFIG), **trtexec(environment, "bert-trt")}
