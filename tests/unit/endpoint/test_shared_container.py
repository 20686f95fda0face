"""Settings of the container of `mode: shared-container`, and what is wrong with a spec of that mode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.context.context import EndpointContext
from triton_fleet.project.project import open_project
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import lock_text
from triton_fleet.store.lock_measurement import measured_lock
from triton_fleet.store.sources.spec_sources import SpecRepositories

DIGEST = f"sha256:{1:064}"
KEY = f"sha256:{2:064}"
THREE: Mapping[str, Any] = {
    "resnet": {"backend": "onnxruntime", "versions": ["1", "2"]},
    "yolov5s": {"backend": "onnxruntime", "versions": ["1"]},
    "detector": {"backend": "ensemble", "steps": ["yolov5s"], "versions": ["1"]},
}
SHARED_MODE = "mode: shared-container\n"


@pytest.fixture
def folder(tmp_path: Path) -> FleetFolder:
    folder = FleetFolder(tmp_path)
    folder.environment()
    lock_models(folder, THREE)
    return folder


def lock_models(folder: FleetFolder, models: Mapping[str, Any]) -> None:
    """A lock of the shared container's image, and of a repository with the models."""
    document = {
        "endpoint": "sentences",
        "image": {"key": KEY, "digest": DIGEST},
        "archives": {"sentences": {"digest": DIGEST, "size": 1000, "models": models}},
    }
    folder.write("locks/dev/sentences.lock.yaml", lock_text(Lock.model_validate(document)))


def variables(folder: FleetFolder, keys: str = "") -> Mapping[str, str]:
    folder.spec(SHARED_MODE + keys)
    return folder.resolve().variables


def join_strings(values: Mapping[str, str], name: str) -> Any:
    """A document of several variables, as the container joins them."""
    parts = [name, *(f"{name}_{index}" for index in range(1, 100))]
    return json.loads("".join(values[part] for part in parts if part in values))


class TestRoutes:
    def test_without_routes_each_model_is_called_by_its_own_name_in_the_versions_that_it_serves(
        self, folder: FleetFolder
    ) -> None:
        assert join_strings(variables(folder), "TRITON_FLEET_ROUTES") == {
            "routes": {
                "detector": {"model": "detector", "versions": ["1"]},
                "resnet": {"model": "resnet", "versions": ["1", "2"]},
                "yolov5s": {"model": "yolov5s", "versions": ["1"]},
            }
        }

    def test_with_routes_no_other_model_has_a_name(self, folder: FleetFolder) -> None:
        result = join_strings(variables(folder, "routes: {yolov5: detector}\n"), "TRITON_FLEET_ROUTES")
        assert result["routes"] == {"yolov5": {"model": "detector", "versions": ["1"]}}

    def test_the_only_route_and_the_one_that_is_named_answer_calls_that_name_none(
        self, folder: FleetFolder
    ) -> None:
        first_variables = variables(folder, "routes: {yolov5: detector}\n")
        named_variables = variables(folder, "default_model: resnet\n")
        assert join_strings(first_variables, "TRITON_FLEET_ROUTES")["default"] == "yolov5"
        assert join_strings(named_variables, "TRITON_FLEET_ROUTES")["default"] == "resnet"

    def test_a_document_that_is_longer_than_one_variable_is_cut_into_several(
        self, folder: FleetFolder
    ) -> None:
        lock_models(
            folder, {f"a-model-with-a-long-name-{number:02}": {"versions": ["1"]} for number in range(40)}
        )
        actual_variables = variables(folder)
        assert all(len(value) <= 1024 for value in actual_variables.values())
        assert "TRITON_FLEET_ROUTES_2" in actual_variables
        assert len(join_strings(actual_variables, "TRITON_FLEET_ROUTES")["routes"]) == 40


class TestOptions:
    def test_settings_of_the_container_are_options_of_its_tritonserver(self, folder: FleetFolder) -> None:
        actual_variables = variables(
            folder, "container: {thread_count: 4, additional_args: [--log-format=ISO8601]}\n"
        )
        options = join_strings(actual_variables, "TRITON_FLEET_OPTIONS")
        assert {"--http-thread-count=4", "--log-format=ISO8601", "--log-verbose=false"} <= set(options)
        assert {"--allow-metrics=true", "--metrics-port=23000"} <= set(options)

    def test_the_container_gets_no_setting_of_awss_start_script(self, folder: FleetFolder) -> None:
        actual_variables = variables(folder, "environment: {HF_HOME: /tmp/hf}\n")
        assert [name for name in actual_variables if name.startswith("SAGEMAKER_")] == []
        assert actual_variables["HF_HOME"] == "/tmp/hf"

    def test_metrics_have_the_endpoints_namespace_and_no_log_group_of_their_own(
        self, folder: FleetFolder
    ) -> None:
        actual_variables = variables(folder)
        assert actual_variables["TRITON_FLEET_METRICS_NAMESPACE"] == "TritonFleet/sentences"
        assert folder.resolve().log_groups == ("/aws/sagemaker/Endpoints/sentences",)

    def test_without_metrics_nothing_is_published(self, folder: FleetFolder) -> None:
        actual_variables = variables(folder, "metrics: {triton: false}\n")
        assert "TRITON_FLEET_METRICS_NAMESPACE" not in actual_variables
        assert not [
            item for item in join_strings(actual_variables, "TRITON_FLEET_OPTIONS") if "metrics-port" in item
        ]

    def test_verbose_logs_have_a_line_for_each_call(self, folder: FleetFolder) -> None:
        assert variables(folder, "container: {log_verbose: true}\n")["TRITON_FLEET_ACCESS_LOG"] == "all"


class TestModel:
    def test_the_image_is_of_the_environments_own_repository(self, folder: FleetFolder) -> None:
        folder.spec(SHARED_MODE)
        image = folder.resolve().image
        assert (image.repository, image.digest) == ("triton-fleet-dev", DIGEST)

    def test_all_models_of_the_repository_are_counted_and_in_memory(self, folder: FleetFolder) -> None:
        folder.spec(f"{SHARED_MODE}routes: {{yolov5: detector}}\n")
        assert folder.resolve().counted_models == ("detector", "resnet", "yolov5s")

    def test_models_that_a_caller_reaches_are_those_of_the_routes(self, folder: FleetFolder) -> None:
        folder.spec(f"{SHARED_MODE}routes: {{yolov5: detector}}\n")
        project = open_project(folder.root, "dev")
        lock = Lock.model_validate(
            {
                "endpoint": "sentences",
                "archives": {"sentences": {"digest": DIGEST, "size": 1, "models": dict(THREE)}},
            }
        )
        context = EndpointContext(
            loaded_spec=project.load("sentences"), environment=project.environment, lock=lock
        )
        assert [model.name for model in context.called_models()] == ["detector"]
        assert {model.name for model in context.answering_models()} == {"detector", "yolov5s"}


@pytest.mark.parametrize(
    ("keys", "expected_text"),
    [
        ("routes: {vision: resnet50}", "FL730 the route 'vision' leads to 'resnet50'"),
        ("default_model: resnt", "FL731 `default_model` is 'resnt', which is not a route"),
        (
            "warm: [sentences]",
            "FL326 'sentences' is named as a target, but mode `shared-container` has none"
            " | leave it out: only a multi-model endpoint loads a model for a call",
        ),
        (
            "samples: [{name: one, target: sentences, inputs: {x: {datatype: INT8, shape: [1], data: 1}}}]",
            "FL326 'sentences' is named as a target, but mode `shared-container` has none"
            " | write `model:` and one of detector, resnet, yolov5s",
        ),
        (
            "samples: [{name: one, target: resnet, inputs: {x: {datatype: INT8, shape: [1], data: 1}}}]",
            "FL326 'resnet' is named as a target, but mode `shared-container` has none"
            " | write `model: resnet`",
        ),
        (
            "container: {inference_type: generate}",
            "FL210 `inference_type` has no effect on a shared-container",
        ),
        ("archive_set: live", "FL212 only a multi-model endpoint has a live set"),
        (
            'container: {additional_args: ["--http-port=8000"]}',
            "FL243 `additional_args` has --http-port=8000: the container takes a free port",
        ),
        (
            "environment: {TRITON_FLEET_ROUTES_1: x}",
            "FL207 `environment` sets TRITON_FLEET_ROUTES_1, whose prefix is reserved",
        ),
        (
            "environment: {SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: resnet}",
            "FL210 SAGEMAKER_TRITON_DEFAULT_MODEL_NAME has no effect on a shared-container",
        ),
        (
            "environment: {TRITON_FLEET_ROUTES: x}",
            "FL207 `environment` sets TRITON_FLEET_ROUTES, which another key of the spec already sets",
        ),
    ],
)
def test_a_mistake_is_reported_at_its_line(folder: FleetFolder, keys: str, expected_text: str) -> None:
    folder.spec(f"{SHARED_MODE}{keys}\n")
    lines = [line for line in folder.finding_lines() if line.startswith("sentences.yaml:7 ")]
    assert [line for line in lines if expected_text in line], folder.finding_lines()


SAMPLE = "samples: [{{name: one, inputs: {{x: {{datatype: FP32, shape: [1], data: 1}}}}{}}}]\n"


@pytest.mark.parametrize(
    ("keys", "expected_text"),
    [
        ("", "FL733 sample 'one' names no model, and there is no `default_model`"),
        (", model: resnt", "FL733 sample 'one' calls 'resnt', which is not a route"),
        (
            ", model: resnet, version: 3",
            "FL733 sample 'one' calls version 3 of 'resnet', which serves 1, 2",
        ),
    ],
)
def test_a_sample_that_the_router_would_answer_with_404_is_reported(
    folder: FleetFolder, keys: str, expected_text: str
) -> None:
    folder.spec(SHARED_MODE + SAMPLE.format(keys))
    assert [line for line in folder.finding_lines() if expected_text in line], folder.finding_lines()


def test_a_sample_of_a_version_that_is_served_is_right(folder: FleetFolder) -> None:
    folder.spec(SHARED_MODE + SAMPLE.format(", model: resnet, version: 2"))
    assert folder.finding_lines() == []


def test_a_sample_of_a_model_without_known_versions_is_not_reported_beside_the_model(
    folder: FleetFolder,
) -> None:
    lock_models(folder, {"resnet": {"backend": "onnxruntime", "versions": [], "size": 1}})
    folder.spec(SHARED_MODE + SAMPLE.format(", model: resnet, version: 2"))
    codes = {line.split()[1] for line in folder.finding_lines()}
    assert "FL735" in codes
    assert "FL733" not in codes


def test_the_weights_of_all_models_count_together_as_nothing_is_unloaded(folder: FleetFolder) -> None:
    half = {
        "backend": "onnxruntime",
        "versions": ["1"],
        "size": 13 << 30,
        "instances": [{"kind": "KIND_GPU"}],
    }
    for names, count in ((["one"], 0), (["one", "two"], 1)):
        lock_models(folder, dict.fromkeys(names, half))
        folder.spec(f"{SHARED_MODE}routes: {{first: one}}\n")
        assert len([line for line in folder.finding_lines() if " FL251 " in line]) == count, (
            folder.finding_lines()
        )


def test_a_sample_that_is_to_be_answered_with_404_may_name_what_there_is_not(folder: FleetFolder) -> None:
    folder.spec(SHARED_MODE + SAMPLE.format(", model: nowhere, status: 404"))
    assert folder.finding_lines() == []


def test_the_limit_of_a_gpus_memory_is_an_option_for_each_gpu(folder: FleetFolder) -> None:
    actual_variables = variables(folder, "container: {model_load_gpu_limit: 0.8}\n")
    assert "--model-load-gpu-limit=0:0.8" in join_strings(actual_variables, "TRITON_FLEET_OPTIONS")


@pytest.mark.parametrize(
    ("versions", "expected_text"),
    [
        (None, "the lock does not have the versions of the model 'one'"),
        ([], "Triton loads no version of the model"),
    ],
)
def test_a_route_without_a_version_is_reported_as_the_container_would_wait_for_ever(
    folder: FleetFolder, versions: list[str] | None, expected_text: str
) -> None:
    lock_models(folder, {"one": {"backend": "onnxruntime", "versions": versions}})
    folder.spec(SHARED_MODE)
    assert [line for line in folder.finding_lines() if f"FL735 {expected_text}" in line], (
        folder.finding_lines()
    )


def test_a_decoupled_part_of_an_ensemble_that_is_called_is_reported(folder: FleetFolder) -> None:
    part = {"backend": "python", "versions": ["1"], "decoupled": True}
    lock_models(folder, {"all": {"backend": "ensemble", "steps": ["part"], "versions": ["1"]}, "part": part})
    folder.spec(f"{SHARED_MODE}routes: {{all: all}}\n")
    assert [line for line in folder.finding_lines() if "FL258 model 'part' is decoupled" in line], (
        folder.finding_lines()
    )


def test_a_lock_has_the_versions_of_folders_without_files(folder: FleetFolder) -> None:
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\nversion_policy { all { } }\n')
    for version in ("1", "12"):
        folder.write(f"repository/embed/{version}/model.py", "class TritonPythonModel: x = 1\n")
    policy = "version_policy { specific { versions: 3 } }\n"
    folder.write("repository/whole/config.pbtxt", f"{ENSEMBLE}{policy}")
    folder.spec(SHARED_MODE)
    project = open_project(folder.root, "dev")
    models = (
        measured_lock(SpecRepositories(project.load("sentences")), project.environment)
        .archives["sentences"]
        .models
    )
    assert {name: model.versions for name, model in models.items()} == {"embed": ("1", "12"), "whole": ("3",)}


ENSEMBLE = """\
platform: "ensemble"
input { name: "x" data_type: TYPE_FP32 dims: 1 }
output { name: "y" data_type: TYPE_FP32 dims: 1 }
ensemble_scheduling { step {
  model_name: "embed" model_version: -1
  input_map { key: "x" value: "x" } output_map { key: "y" value: "y" }
} }
"""
