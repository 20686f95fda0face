"""The values of the system that `gpu-ensembles` is taken from, and those of `gpu-ensembles`; test_sources.py compares them.

The source is "Deploy thousands of model ensembles with Amazon SageMaker multi-model endpoints on GPU to minimize your
hosting costs" with its notebook, `sm-triton_mme_gpu_ensemble_dali` of aws/amazon-sagemaker-examples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from fleet_emulator.stand_ins.triton.dali.pipeline_file import read_pipeline
from tests.support.fleet_folder import ROOT
from tests.support.sources import OWN_VARIANT, TRTEXEC, Different, configuration, differences, served, trtexec

EXAMPLE = ROOT / "examples/gpu_ensembles"
MODELS = {
    "image": ("ensemble_dali_inception", "dali", "inception_onnx"),
    "text": ("ensemble", "preprocess", "bert-trt", "postprocess"),
}
SOFTMAX = "InceptionV3/Predictions/Softmax"
RGB, FLOAT = 0, 9
"""Of DALI's types.DALIImageType and types.DALIDataType."""
ARGUMENTS = {"output_type", "resize_x", "resize_y", "dtype", "output_layout", "crop", "mean", "std"}
ON_GPU, ON_CPU = [{"kind": "KIND_GPU"}], [{"kind": "KIND_CPU"}]
ENVIRONMENT = {
    "EXECUTION_ENV_PATH": {"string_value": "$$TRITON_MODEL_DIRECTORY/processing_env.tar.gz"},
}


def tensor(name: str, kind: str, *dims: int, **more: str) -> dict[str, Any]:
    return {"name": name, "data_type": f"TYPE_{kind}", "dims": [str(dimension) for dimension in dims], **more}


def step(model: str, inputs: dict[str, str], outputs: dict[str, str]) -> dict[str, Any]:
    return {"model_name": model, "model_version": "-1", "input_map": inputs, "output_map": outputs}


SOURCE: dict[str, Any] = {
    **OWN_VARIANT,
    "instance type": "ml.g4dn.4xlarge",
    "instance count": 1,
    "scaled by": set(),
    "endpoint": "triton-mme-gpu-ensemble-<time>",
    "image": "sagemaker-tritonserver:23.03-py3",
    "prefix": "triton-mme-gpu-ensemble/",
    "variables": {"DEFAULT_MODEL_NAME": "ensemble_dali_inception"},
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
    "pipeline": [
        ("ExternalSource", "cpu", {}),
        ("decoders__Image", "mixed", {"output_type": RGB}),
        ("Resize", "gpu", {"resize_x": 299.0, "resize_y": 299.0}),
        (
            "CropMirrorNormalize",
            "gpu",
            {
                "dtype": FLOAT,
                "output_layout": "HWC",
                "crop": [299.0, 299.0],
                "mean": [round(255 * number, 3) for number in (0.485, 0.456, 0.406)],
                "std": [round(255 * number, 3) for number in (0.229, 0.224, 0.225)],
            },
        ),
    ],
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
    "trtexec: precision": "fp32",
    "trtexec: workspace": "--workspace=14000",
    "trtexec: others": {"--verbose"},
}
DIFFERENT = differences("gpu-ensembles") | {
    "image": Different(
        "sagemaker-tritonserver:25.04-py3",
        "25.04 is the newest whose driver g4dn instances are known to get, and engines need an image with Python 3.10"
        " or newer",
    ),
    "archives": Different(
        ["model-tf-dali", "model-trt-python"],
        "archive names have letters, digits and inner hyphens here, like endpoint names",
    ),
    "inception": Different(
        ("inception_onnx", "onnxruntime_onnx"),
        "Triton 25.03 removed TensorFlow's backend, so the graph is in ONNX form",
    ),
    **TRTEXEC,
}
"""Where we differ on purpose, and why."""


def pipeline() -> list[tuple[str, Any, dict[str, Any]]]:
    """The operators of the pipeline in order: name, device, and the arguments that its author writes."""
    read = read_pipeline((EXAMPLE / "models/image/dali/1/model.dali").read_bytes())
    return [
        (operator.name, operator.arguments["device"], fill_arguments(operator.arguments))
        for operator in read.operators
    ]


def fill_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: value for name, value in arguments.items() if name in ARGUMENTS}
    return {
        name: [round(number, 3) for number in value] if isinstance(value, list) else value
        for name, value in values.items()
    }


def rename_keys(value: Any) -> Any:
    """The value with the source's name of Inception."""
    return json.loads(json.dumps(value).replace("inception_onnx", "inception_graphdef"))


@cache
def ours(environment: str) -> dict[str, Any]:
    """The shipped endpoint, in the words of SOURCE."""
    configs = {
        name: configuration(EXAMPLE / "models" / repository / name / "config.pbtxt")
        for repository, models in MODELS.items()
        for name in models
    }
    report = served(environment, "gpu-ensembles") | trtexec(environment, "gpu-ensembles")
    report["models"] = rename_keys(report["models"])
    report["pipeline"] = pipeline()
    inception = configs["inception_onnx"]
    report["inception"] = (inception["name"], inception.pop("platform"))
    return report | {f"config: {name}": config for name, config in rename_keys(configs).items()}
