"""The four hosting modes of Triton on SageMaker, each as a shipped endpoint, with the variables that the modes have.

The source is AWS's "Model deployment with Triton Inference Server"; names of variables, which its copies leave out,
are those of `docker/sagemaker/serve` of triton-inference-server/server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.sources import ENVIRONMENTS, properties
from triton_fleet.catalog.variables import variables
from triton_fleet.local.triton.model_backend import parse
from triton_fleet.project.project import open_project
from triton_fleet.repository.backends import backend_of
from triton_fleet.spec.container import Container

MODES = {
    "a single model": "resnet50",
    "a single model, an ensemble": "sentence-embeddings",
    "several models": "bert-trt",
    "several models, ensembles among them": "gpu-ensembles",
}
MODE = {name: "SingleModel" if name.startswith("a single") else "MultiModel" for name in MODES}
METRICS = {
    "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    "SAGEMAKER_TRITON_PUBLISH_METRICS_TO_CLOUDWATCH": "true",
    "SAGEMAKER_TRITON_METRICS_PORT": "23000",
}
PLACES = {
    "SAGEMAKER_TRITON_CLOUDWATCH_LOG_GROUP": "/triton-fleet/{}/metrics",
    "SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE": "TritonFleet/{}",
    "SAGEMAKER_TRITON_METRIC_NAMESPACE": "TritonFleet/{}",
}
DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"
TABLE = {
    "SAGEMAKER_MULTI_MODEL": "Boolean",
    "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "String",
    "SAGEMAKER_TRITON_PING_MODE": "String",
    "SAGEMAKER_TRITON_DISABLE_MODEL_NAMESPACING": "Boolean",
    "SAGEMAKER_BIND_TO_PORT": "String",
    "SAGEMAKER_SAFE_PORT_RANGE": "String",
    "SAGEMAKER_TRITON_ALLOW_GRPC": "Boolean",
    "SAGEMAKER_TRITON_GRPC_PORT": "String",
    "SAGEMAKER_TRITON_THREAD_COUNT": "String",
    "SAGEMAKER_TRITON_LOG_VERBOSE": "Boolean",
    "SAGEMAKER_TRITON_LOG_INFO": "Boolean",
    "SAGEMAKER_TRITON_LOG_WARNING": "Boolean",
    "SAGEMAKER_TRITON_LOG_ERROR": "Boolean",
    "SAGEMAKER_TRITON_SHM_DEFAULT_BYTE_SIZE": "String",
    "SAGEMAKER_TRITON_SHM_GROWTH_BYTE_SIZE": "String",
    "SAGEMAKER_TRITON_TENSORFLOW_VERSION": "String",
    "SAGEMAKER_TRITON_MODEL_LOAD_GPU_LIMIT": "String",
    "SAGEMAKER_TRITON_ALLOW_METRICS": "Boolean",
    "SAGEMAKER_TRITON_METRICS_PORT": "String",
    "SAGEMAKER_TRITON_PUBLISH_METRICS_TO_CLOUDWATCH": "Boolean",
    "SAGEMAKER_TRITON_CLOUDWATCH_LOG_GROUP": "String",
    "SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE": "String",
    "SAGEMAKER_TRITON_ADDITIONAL_ARGS": "String",
}
"""The source's table: a variable, and its type there."""
TYPES = {"Boolean": {"bool", "log-level", "choice"}, "String": {"text", "choice", "flags", "int", "float"}}
"""What ours calls a Boolean of theirs: LOG_VERBOSE takes a level too, MULTI_MODEL `true` alone."""
BY_NAME = {
    "SAGEMAKER_TRITON_DISABLE_MODEL_NAMESPACING": "only in `environment`",
    "SAGEMAKER_TRITON_ALLOW_GRPC": "only in `environment`",
    "SAGEMAKER_TRITON_GRPC_PORT": "only in `environment`",
    "SAGEMAKER_TRITON_ALLOW_METRICS": "follows from `metrics.triton`",
    "SAGEMAKER_TRITON_TENSORFLOW_VERSION": "only in `environment`",
}
"""Without a typed key; `environment` sets them, and `fleet check` reads them by their types."""
UNBATCHED_MODELS = {"resnet50", "inception_v1", "image_ensemble", "image_tensor", "image_inception"}
"""The source wants a `max_batch_size` of 1 or more. These graphs take one image at a time: their first dimension
is 1, not free, and 0 tells Triton so."""


def container(environment: str, endpoint: str) -> dict[str, Any]:
    """The container of the endpoint's Model."""
    (model,) = properties(environment, endpoint, "Model")
    primary_container: dict[str, Any] = model["PrimaryContainer"]
    return primary_container


def configs(endpoint: str) -> Iterator[tuple[Path, Any]]:
    """The committed configurations of an endpoint's model repositories; the rest is made of them."""
    for model in open_project(ROOT, "dev", [endpoint]).load(endpoint).spec.models:
        for file in sorted((ROOT / "model_specs" / model.repository).rglob("config.pbtxt")):
            yield file, parse(file.read_bytes())


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("mode", MODES)
def test_a_hosting_mode_is_declared_as_sagemaker_knows_it(environment: str, mode: str) -> None:
    told_container = container(environment, MODES[mode])
    assert told_container["Mode"] == MODE[mode]
    assert told_container["ModelDataUrl"].endswith(".tar.gz" if MODE[mode] == "SingleModel" else "/")


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("mode", MODES)
def test_a_single_endpoint_names_its_model_and_of_an_ensemble_the_ensemble_proper(
    environment: str, mode: str
) -> None:
    named_values = container(environment, MODES[mode])["Environment"].get(DEFAULT_MODEL)
    if MODE[mode] == "MultiModel":
        assert named_values is None, "it has no effect there: the target names the model"
        return
    (config,) = (config for _, config in configs(MODES[mode]) if config.name == named_values)
    assert (backend_of(config, named_values, []) == "ensemble") == mode.endswith("an ensemble")


def test_the_archives_of_several_models_hold_ensembles_in_one_mode_and_none_in_the_other() -> None:
    totals = {
        mode: sum(
            backend_of(config, file.parent.name, []) == "ensemble" for file, config in configs(endpoint)
        )
        for mode, endpoint in MODES.items()
    }
    assert totals["several models"] == totals["a single model"] == 0
    assert totals["several models, ensembles among them"] >= 1


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("endpoint", MODES.values())
def test_every_mode_publishes_tritons_metrics_under_the_endpoints_own_name(
    environment: str, endpoint: str
) -> None:
    expected_metrics = METRICS | {name: place.format(endpoint) for name, place in PLACES.items()}
    told_environment = container(environment, endpoint)["Environment"]
    assert {name: told_environment.get(name) for name in expected_metrics} == expected_metrics


@pytest.mark.parametrize(("name", "keystrokes"), TABLE.items())
def test_a_variable_of_the_table_is_typed(name: str, keystrokes: str) -> None:
    assert variables()[name].type in TYPES[keystrokes]


def test_what_a_user_sets_of_the_table_has_a_key_of_its_own() -> None:
    keys = {f"SAGEMAKER_TRITON_{key.upper()}" for key in Container.model_fields}
    of_users = {name for name in TABLE if variables()[name].set_by == "user"}
    assert of_users - keys == BY_NAME.keys()


@pytest.mark.parametrize(
    ("name", "message"), [*BY_NAME.items(), *((mode, f"`{MODES[mode]}`") for mode in MODES)]
)
def test_the_page_of_hosting_modes_tells_of_it(name: str, message: str) -> None:
    rows = [
        line for line in (ROOT / "docs/hosting-modes.md").read_text().splitlines() if line.startswith("|")
    ]
    first = [row.split("|")[1] for row in rows]
    (actual_row,) = (
        row
        for row, cell in zip(rows, first, strict=True)
        if name in (cell.strip(), *cell.strip("` ,").split("`"))
    )
    assert message in actual_row


@pytest.mark.parametrize("endpoint", MODES.values())
def test_every_config_has_the_fields_that_the_source_asks_for(endpoint: str) -> None:
    rows = list(configs(endpoint))
    assert rows
    for file, config in rows:
        assert config.name == file.parent.name
        assert config.platform or config.backend, file
        for tensor in (*config.input, *config.output):
            assert tensor.name and tensor.data_type and tensor.dims, file
        assert config.input and config.output, file
        assert (config.max_batch_size >= 1) == (config.name not in UNBATCHED_MODELS), file
