"""The hint of a refused call: the targets of the spec, or how the endpoint comes to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT, FleetFolder
from triton_fleet.cli.invoke.refusals import instead, routes_of
from triton_fleet.project.project import Project, open_project

DOWNLOAD = "Failed to download model data(bucket: b, key: k). Please ensure that there is an object"


def project(environment: str = "local") -> Project:
    return open_project(ROOT, environment, ["gpu-ensembles", "sentence-embeddings"])


def test_a_target_without_its_ending_is_told_with_it_and_all_others() -> None:
    hint = instead(project(), "gpu-ensembles", "model-tf-dali", DOWNLOAD)
    assert hint.startswith("did you mean `model-tf-dali.tar.gz`?")
    assert "model-trt-python.tar.gz" in hint


def test_a_call_without_a_target_is_told_all_of_them() -> None:
    hint = instead(project(), "gpu-ensembles", None, "the endpoint has several models")
    assert hint == "pass one with --target: model-tf-dali.tar.gz, model-trt-python.tar.gz"


@pytest.mark.parametrize(
    ("name", "target"), [("gpu-ensembles", "model-tf-dali.tar.gz"), ("sentence-embeddings", None)]
)
def test_where_the_target_is_right_nothing_is_guessed(name: str, target: str | None) -> None:
    assert instead(project(), name, target, DOWNLOAD) == ""


@pytest.mark.parametrize(
    ("environment", "hint"),
    [("local", "`fleet local up gpu-ensembles` deploys it"), ("dev", "`fleet ls --env dev` lists them")],
)
def test_an_endpoint_that_is_not_there_is_told_with_the_command_that_helps(
    environment: str, hint: str
) -> None:
    text = "Endpoint gpu-ensembles of account 123456789012 not found."
    assert instead(project(environment), "gpu-ensembles", None, text) == hint


def test_a_model_that_a_shared_container_does_not_have_is_told_with_its_routes(tmp_path: Path) -> None:
    folder = FleetFolder(tmp_path)
    folder.environment()
    folder.spec("mode: shared-container\nroutes: {vision: resnet, text: bert}\n")
    assert routes_of(open_project(tmp_path, "dev"), "sentences") == ("text", "vision")
    assert routes_of(project(), "gpu-ensembles") == ()
