"""Each hosting mode by props: SageMaker gets what the same spec in a file gives it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack

from tests.support.fleet_folder import FleetFolder
from tests.synth.library.host import Host, properties, statements
from triton_endpoints import (
    ImportedEndpoint,
    Instance,
    TritonAlarms,
    TritonEndpoint,
    TritonImage,
    TritonModel,
)
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

TENSORS = """\
input { name: "x" data_type: TYPE_FP32 dims: 8 }
output { name: "y" data_type: TYPE_FP32 dims: 8 }
"""
PYTHON = f'backend: "python"\n{TENSORS}'
STEP = "{ model_name: \"embed\" model_version: -1 input_map { key: 'x' value: 'x' } output_map { key: 'y' value: 'y' } }"
ENSEMBLE = f'platform: "ensemble"\n{TENSORS}ensemble_scheduling {{ step [ {STEP} ] }}\n'
FILES = {
    "embed/config.pbtxt": PYTHON,
    "embed/1/model.py": "class TritonPythonModel: x = 1\n",
    "words/config.pbtxt": PYTHON,
    "words/2/model.py": "class TritonPythonModel: x = 2\n",
    "answers/config.pbtxt": ENSEMBLE,
    "answers/1/note.txt": "",
}


@dataclass(frozen=True)
class Mode:
    """A hosting mode: the model directories, the keys of a spec, and the model by props."""

    models: tuple[str, ...]
    keys: str
    model: Any
    data: str = "ModelDataUrl"
    further: dict[str, Any] = field(default_factory=dict)


def repositories(root: Path, names: tuple[str, ...]) -> Path:
    for path, text in FILES.items():
        if path.startswith(names):
            file = root / "repository" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return root / "repository"


SINGLE = "models: [{archive: model, repository: ../repository}]\n"
URL = "s3://their-models/all/"
MODES = {
    "a single model": Mode(("embed",), SINGLE, TritonModel.from_asset),
    "a single model, an ensemble": Mode(
        ("embed", "answers"),
        f"default_model: answers\n{SINGLE}",
        lambda folder: TritonModel.from_asset(folder, default_model="answers"),
    ),
    "several models": Mode(
        ("embed",),
        "mode: multi-model\nmodels: [{archive: a, repository: ../repository}]\n",
        lambda folder: TritonModel.multi_model(URL, archives=["a"]),
    ),
    "several models, ensembles among them": Mode(
        ("embed", "answers"),
        "mode: multi-model\nmodels: [{archive: answers, repository: ../repository}]\n",
        lambda folder: TritonModel.multi_model(URL, archives=["answers"]),
    ),
    "a shared container": Mode(
        ("embed", "words"),
        f"mode: shared-container\ndefault_model: text\nroutes: {{text: words, embed: embed}}\n{SINGLE}",
        lambda folder: TritonModel.shared_container(
            folder, routes={"text": "words", "embed": "embed"}, default_model="text"
        ),
    ),
    "a shared container of files in S3": Mode(
        ("embed", "words"),
        "mode: shared-container\nmodels: [{archive: model, repository: ../repository, compression: none}]\n",
        lambda folder: TritonModel.shared_container(URL, versions={"embed": [1], "words": [2]}),
        data="ModelDataSource",
    ),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_sagemaker_gets_what_the_same_spec_in_a_file_gives_it(mode: Mode, tmp_path: Path) -> None:
    fleet = FleetFolder(tmp_path)
    fleet.environment()
    folder = repositories(tmp_path, mode.models)
    base = 'endpoint: sentences\ntriton: "25.04"\ninstance: {type: ml.g5.xlarge}\n'
    fleet.spec(base=base + mode.keys)
    write_locks(open_project(tmp_path, "dev"))
    environment = tmp_path / "environments/dev.yaml"
    containers = []
    for kind in ("file", "props"):
        host = Host(is_audited=False)
        host.support(environment=environment)
        if kind == "file":
            file = tmp_path / "model_specs/sentences.yaml"
            TritonEndpoint.from_spec(host.stack, "Sentences", spec=file, environment=environment)
        else:
            host.endpoint(
                "Sentences",
                environment=environment,
                model=mode.model(folder),
                allow={"missing-security-fix": "nobody calls these endpoints"},
            )
        containers.append(properties(host.template(), "AWS::SageMaker::Model")["PrimaryContainer"])
    file_container, props_container = containers
    for name in ("Mode", "Environment"):
        assert props_container[name] == file_container[name]
    assert mode.data in file_container and mode.data in props_container
    if "shared" not in mode.keys:
        assert props_container["Image"] == file_container["Image"]


class TestSharedContainer:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return repositories(tmp_path, ("embed", "words"))

    def test_its_image_is_built_by_the_app_on_that_of_the_release(self, folder: Path) -> None:
        host = Host()
        host.support()
        host.endpoint(model=TritonModel.shared_container(folder))
        template = host.template()
        (image,) = json.loads(Path(host.app.outdir, "Host.assets.json").read_text())["dockerImages"].values()
        source = image["source"]
        assert Path(host.app.outdir, source["directory"], "Dockerfile").is_file()
        assert source["dockerBuildArgs"] == {
            "TRITON_IMAGE": "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
        }
        assert source["platform"] == "linux/amd64"
        (destination,) = image["destinations"].values()
        assert destination["imageTag"] in json.dumps(
            properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]
        )
        assert destination["repositoryName"] in json.dumps(statements(template, "Embeddings")["PullImage"])

    def test_a_stack_without_a_region_builds_on_the_image_of_any(self, folder: Path) -> None:
        host = Host(is_audited=False)
        stack = Stack(host.app, "Anywhere")
        host.support(stack)
        host.endpoint(scope=stack, model=TritonModel.shared_container(folder))
        host.app.synth()
        (image,) = json.loads(Path(host.app.outdir, "Anywhere.assets.json").read_text())[
            "dockerImages"
        ].values()
        assert image["source"]["dockerBuildArgs"]["TRITON_IMAGE"].endswith(
            ".dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
        )

    def test_a_release_that_the_deploy_decides_has_no_image_to_build_on(self, folder: Path) -> None:
        host = Host(is_audited=False)
        host.support()
        triton = CfnParameter(host.stack, "Triton").value_as_string
        host.endpoint(model=TritonModel.shared_container(folder), triton=triton)
        (problem,) = host.problems()
        assert problem.startswith("[Host/Embeddings] triton: FL616 the deploy decides `triton`")

    def test_routes_lead_to_models_of_the_folder(self, folder: Path) -> None:
        host = Host(is_audited=False)
        host.support()
        host.endpoint(
            model=TritonModel.shared_container(folder, routes={"text": "wrods"}, default_model="image")
        )
        problems = "\n".join(host.problems())
        assert "model.routes.text: FL730 the route 'text' leads to 'wrods'" in problems
        assert "model.default_model: FL731 `model.default_model` is 'image', which is not a route" in problems

    def test_an_image_of_the_app_has_to_start_the_router(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "image").mkdir()
        (tmp_path / "image/Dockerfile").write_text("ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n")
        host = Host(is_audited=False)
        host.support()
        image = TritonImage.from_asset(tmp_path / "image")
        host.endpoint(model=TritonModel.shared_container(folder), image=image)
        (problem,) = host.problems()
        assert "FL984 the image does not start the program of a shared container" in problem

    def test_models_in_s3_need_their_versions_for_which_the_container_waits(self) -> None:
        host = Host(is_audited=False)
        host.support()
        host.endpoint(model=TritonModel.shared_container("s3://their-models/all.tar.gz"))
        (problem,) = host.problems()
        assert problem.startswith("[Host/Embeddings] model.versions: FL735 nothing shows which versions")

    def test_a_spec_with_data_in_place_of_its_lock_is_refused(self, folder: Path, tmp_path: Path) -> None:
        fleet = FleetFolder(tmp_path)
        fleet.environment()
        fleet.spec("mode: shared-container\nroutes: {text: words}\n")
        host = Host(is_audited=False)
        host.support(environment="dev")
        TritonEndpoint.from_spec(
            host.stack,
            "Sentences",
            spec=tmp_path / "model_specs/sentences.yaml",
            environment="dev",
            model_data_url="s3://their-models/all.tar.gz",
        )
        (problem,) = host.problems()
        assert "FL735" in problem and "`model_data_url`" in problem

    def test_what_is_declared_beside_one_builds_no_image(self, folder: Path) -> None:
        host = Host(is_audited=False)
        host.support()
        imported_endpoint = ImportedEndpoint(
            host.stack,
            "Imported",
            endpoint_name="vision",
            triton="25.04",
            instance=Instance(type="ml.g5.xlarge"),
            model=TritonModel.shared_container(folder),
            environment="prod",
        )
        TritonAlarms(host.stack, "Alarms", endpoint=imported_endpoint)
        host.app.synth()
        assets = json.loads(Path(host.app.outdir, "Host.assets.json").read_text())
        assert not assets.get("dockerImages")
