"""The values of the system that `gpu-ensembles` is taken from, and those of `gpu-ensembles`; test_sources.py compares them.

The source is "Deploy thousands of model ensembles with Amazon SageMaker multi-model endpoints on GPU to minimize your
hosting costs" with its notebook, `sm-triton_mme_gpu_ensemble_dali` of aws/amazon-sagemaker-examples.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fleet_folder import ROOT
from sources import configuration, properties, served, trtexec

EXAMPLE = ROOT / "examples/gpu_ensembles"
MODELS = {
    "image": ("ensemble_dali_inception", "dali", "inception_onnx"),
    "text": ("ensemble", "preprocess", "bert-trt", "postprocess"),
}
SOFTMAX = "InceptionV3/Predictions/Softmax"
DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"
ON_GPU, ON_CPU = [{"kind": "KIND_GPU"}], [{"kind": "KIND_CPU"}]
ENVIRONMENT = {
    "EXECUTION_ENV_PATH": {"string_value": "$$TRITON_MODEL_DIRECTORY/processing_env.tar.gz"},
}


def tensor(name: str, kind: str, *dims: int, **more: str) -> dict[str, Any]:
    return {"name": name, "data_type": f"TYPE_{kind}", "dims": [str(each) for each in dims], **more}


def step(model: str, inputs: dict[str, str], outputs: dict[str, str]) -> dict[str, Any]:
    return {"model_name": model, "model_version": "-1", "input_map": inputs, "output_map": outputs}


SOURCE: dict[str, Any] = {
    "mode": "MultiModel",
    "instance type": "ml.g4dn.4xlarge",
    "instance count": 1,
    "variant": "AllTraffic",
    "weight": 1,
    "scaled by": set(),
    "endpoint": "triton-mme-gpu-ensemble-<time>",
    "image": "sagemaker-tritonserver:23.03-py3",
    "prefix": "triton-mme-gpu-ensemble/",
    "default model": "ensemble_dali_inception",
    "archives": ["model_tf_dali", "model_trt_python"],
    "models": ["dali", "ensemble_dali_inception", "inception_graphdef", *sorted(MODELS["text"])],
    "config: ensemble_dali_inception": {
        "name": "ensemble_dali_inception",
        "platform": "ensemble",
        "max_batch_size": 256,
        "input": [tensor("INPUT", "UINT8", -1)],
        "output": [tensor("OUTPUT", "FP32", 1001)],
        "ensemble_scheduling": {
            "step": [
                step("dali", {"DALI_INPUT_0": "INPUT"}, {"DALI_OUTPUT_0": "preprocessed_image"}),
                step("inception_graphdef", {"input": "preprocessed_image"}, {SOFTMAX: "OUTPUT"}),
            ]
        },
    },
    "config: dali": {
        "name": "dali",
        "backend": "dali",
        "max_batch_size": 256,
        "input": [tensor("DALI_INPUT_0", "UINT8", -1)],
        "output": [tensor("DALI_OUTPUT_0", "FP32", 299, 299, 3)],
        "parameters": {"num_threads": {"string_value": "12"}},
    },
    "inception": ("inception_graphdef", "tensorflow_graphdef"),
    "config: inception_graphdef": {
        "name": "inception_graphdef",
        "max_batch_size": 256,
        "input": [tensor("input", "FP32", 299, 299, 3, format="FORMAT_NHWC")],
        "output": [tensor(SOFTMAX, "FP32", 1001, label_filename="inception_labels.txt")],
        "instance_group": ON_GPU,
    },
    "config: ensemble": {
        "name": "ensemble",
        "platform": "ensemble",
        "max_batch_size": 16,
        "input": [tensor("INPUT0", "STRING", 1)],
        "output": [tensor("finaloutput", "FP32", 384)],
        "ensemble_scheduling": {
            "step": [
                step("preprocess", {"INPUT0": "INPUT0"}, {"OUTPUT0": "token_ids", "OUTPUT1": "attn_mask"}),
                step(
                    "bert-trt",
                    {"token_ids": "token_ids", "attn_mask": "attn_mask"},
                    {"output": "output"},
                ),
                step(
                    "postprocess",
                    {"TOKEN_EMBEDS_POST": "output", "ATTENTION_POST": "attn_mask"},
                    {"SENT_EMBED": "finaloutput"},
                ),
            ]
        },
    },
    "config: preprocess": {
        "name": "preprocess",
        "backend": "python",
        "max_batch_size": 16,
        "input": [tensor("INPUT0", "STRING", 1)],
        "output": [tensor("OUTPUT0", "INT32", 128), tensor("OUTPUT1", "INT32", 128)],
        "instance_group": ON_CPU,
        "parameters": ENVIRONMENT,
    },
    "config: bert-trt": {
        "name": "bert-trt",
        "platform": "tensorrt_plan",
        "max_batch_size": 16,
        "input": [tensor("token_ids", "INT32", 128), tensor("attn_mask", "INT32", 128)],
        "output": [tensor("output", "FP32", 128, 384), tensor("pooled_embeds", "FP32", 384)],
        "instance_group": ON_GPU,
    },
    "config: postprocess": {
        "name": "postprocess",
        "backend": "python",
        "max_batch_size": 16,
        "input": [tensor("TOKEN_EMBEDS_POST", "FP32", 128, 384), tensor("ATTENTION_POST", "INT32", 128)],
        "output": [tensor("SENT_EMBED", "FP32", 384)],
        "instance_group": ON_GPU,
        "parameters": ENVIRONMENT,
    },
    "trtexec: smallest": {"token_ids": "1x128", "attn_mask": "1x128"},
    "trtexec: usual": {"token_ids": "16x128", "attn_mask": "16x128"},
    "trtexec: largest": {"token_ids": "32x128", "attn_mask": "32x128"},
    "trtexec: others": {"--workspace=14000", "--verbose"},
}
DIFFERENT = {
    "endpoint": "the name is fixed: an update keeps it, and a time in it would make a new endpoint of each",
    "image": "25.04 is the newest whose driver g4dn instances get; we know registry accounts from 23.12 on",
    "prefix": "each set of archives has a prefix of its own, so that a rollback finds the one before",
    "default model": "a multi-model endpoint loads what is called and never reads it",
    "inception": "TensorFlow's backend left Triton at 25.03, so the graph is in ONNX form",
    "archives": "names of archives are like SageMaker's: letters, digits and inner hyphens",
    "trtexec: others": "TensorRT 10 has no `--workspace`; a build measures nothing, and its log is short",
}
"""Where we differ on purpose, and why."""


def renamed(value: Any) -> Any:
    """The value with the source's name of Inception."""
    return json.loads(json.dumps(value).replace("inception_onnx", "inception_graphdef"))


@cache
def ours(environment: str) -> dict[str, Any]:
    """The shipped endpoint, in the words of SOURCE."""
    (model,) = properties(environment, "gpu-ensembles", "Model")
    configs = {
        name: configuration(EXAMPLE / "models" / repository / name / "config.pbtxt")
        for repository, models in MODELS.items()
        for name in models
    }
    told = served(environment, "gpu-ensembles") | trtexec(environment, "gpu-ensembles")
    told["models"] = renamed(told["models"])
    told["default model"] = model["PrimaryContainer"]["Environment"].get(DEFAULT_MODEL)
    inception = configs["inception_onnx"]
    told["inception"] = (inception["name"], inception.pop("platform"))
    return told | {f"config: {name}": config for name, config in renamed(configs).items()}
