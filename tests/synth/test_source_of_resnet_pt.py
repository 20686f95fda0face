"""`resnet-pt` has the values of the system that it is taken from, and where it differs it says why.

The source is "Host ML models on Amazon SageMaker using Triton: PyTorch models" with its notebook,
`resnet_pytorch_python_backend_MME` of aws/amazon-sagemaker-examples.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from fleet.catalog.backends import backend_facts
from fleet.repository.config.parameter_values import wrong_value
from fleet_folder import ROOT
from sources import ENVIRONMENTS, config, policies, properties, served

CONFIG = ROOT / "examples/resnet_pt/models/resnet/config.pbtxt"
PARAMETERS = (
    "DISABLE_OPTIMIZED_EXECUTION",
    "INFERENCE_MODE",
    "ENABLE_NVFUSER",
    "ENABLE_WEIGHT_SHARING",
    "ENABLE_CACHE_CLEANING",
    "ENABLE_JIT_EXECUTOR",
    "ENABLE_JIT_PROFILING",
    "ENABLE_TENSOR_FUSER",
)
"""As the text names them."""
SOURCE: dict[str, Any] = {
    "mode": "MultiModel",
    "instance type": "ml.g4dn.4xlarge",
    "instance count": 2,  # "at least two instances"
    "variant": "AllTraffic",
    "weight": 1,
    "scaled by": {"GPUUtilization"},
    "scaling: fewest": 1,
    "scaling: most": 5,
    "scaling: target": 60,
    "scaling: namespace": "/aws/sagemaker/Endpoints",
    "scaling: statistic": "Average",
    "scaling: unit": "Percent",
    "scaling: cooldown in": 600,
    "scaling: cooldown out": 200,
    "endpoint": "resnet50-mme-gpu-ep-<time>",
    "image": "sagemaker-tritonserver:22.07-py3",
    "prefix": "resnet50-mme-gpu/",
    "archives": ["resnet_pt_v0"],
    "models": ["resnet"],
    "config: name": "resnet",
    "config: platform": "pytorch_libtorch",
    "config: max_batch_size": 128,
    "config: tensors": {"INPUT__0": ("TYPE_FP32", [3, 224, 224]), "OUTPUT__0": ("TYPE_FP32", [1000])},
    "config: instance_group": [(1, "KIND_GPU")],
    "config: parameters": set(PARAMETERS),
    "config: inference mode": "true",
}
DIFFERENT = {
    "endpoint": "the name is fixed: an update keeps it, and a time in it would make a new endpoint of each",
    "image": "25.04 is the newest whose driver g4dn instances get",
    "prefix": "each set of archives has a prefix of its own, so that a rollback finds the one before",
    "archives": "names of archives are letters, digits and hyphens, as those of endpoints",
    "scaling: fewest": "one instance would be in one zone; the source's text asks for two",
    "config: parameters": "Triton reads ENABLE_NVFUSER no more since 23.12, and `fleet check` warns of it",
}
"""Where we differ on purpose, and why."""


@cache
def ours(environment: str) -> dict[str, Any]:
    """The shipped endpoint, in the words of SOURCE."""
    told = config(CONFIG)
    parameters = told["config: parameters"]
    told |= {
        "config: parameters": set(parameters),
        "config: inference mode": parameters["INFERENCE_MODE"],
    }
    return {**served(environment, "resnet-pt"), **_scaling(environment), **told}


def _scaling(environment: str) -> dict[str, Any]:
    (between,) = properties(environment, "resnet-pt", "ScalableTarget")
    (policy,) = policies(environment, "resnet-pt")
    metric = policy["CustomizedMetricSpecification"]
    told = {
        "fewest": between["MinCapacity"],
        "most": between["MaxCapacity"],
        "target": policy["TargetValue"],
        "namespace": metric["Namespace"],
        "statistic": metric["Statistic"],
        "unit": metric["Unit"],
        "cooldown in": policy["ScaleInCooldown"],
        "cooldown out": policy["ScaleOutCooldown"],
    }
    return {f"scaling: {key}": value for key, value in told.items()}


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
    readme = " ".join((ROOT / "examples/resnet_pt/README.md").read_text().split())
    assert [name for name, why in DIFFERENT.items() if why not in readme] == []


def test_of_the_sources_parameters_only_one_that_triton_no_longer_reads_is_left_out() -> None:
    missing = SOURCE["config: parameters"] - ours("prod")["config: parameters"]
    assert missing == {"ENABLE_NVFUSER"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_of_the_source_is_typed(name: str) -> None:
    facts = backend_facts("pytorch", platform="pytorch_libtorch")
    assert facts is not None
    wrong = wrong_value(facts.parameters[name], "yes", "resnet", None)
    assert wrong is not None and wrong.said == "failed to convert 'yes' to boolean"
