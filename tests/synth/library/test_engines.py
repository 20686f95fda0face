"""An engine by props, on which a Model depends: what is declared for it, and what is checked before a GPU is paid for."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from aws_cdk import CfnParameter, Environment, Stack
from aws_cdk import aws_sns as sns

from tests.support.artifact_bucket import BUCKET as DEV_BUCKET
from tests.support.codebuild_stand_in import StandInCodeBuild
from tests.support.engine_bucket import CONFIG, TENSORS, small_onnx
from tests.support.fleet_folder import FleetFolder
from tests.support.model_assembly_app import App, assembly_s3
from tests.synth.library.host import (
    ACCOUNT,
    HOST_ENVIRONMENT,
    REGION,
    Host,
    a_model,
    properties,
    statements,
)
from tests.synth.shipped_specs import ENVIRONMENTS, shipped_spec
from tests.synth.test_engine_calls import ACTIONS as S3_ACTIONS
from triton_endpoints import (
    EndpointSupport,
    Engine,
    EngineBuilds,
    ImportedEndpoint,
    Instance,
    TritonDashboard,
    TritonModel,
)
from triton_fleet.builds.engines.request import EngineRequest
from triton_fleet.project.project import open_project
from triton_fleet.spec.engine import Engine as SpecEngine
from triton_fleet.store.lock import write_locks

BUCKET = f"triton-fleet-prod-{ACCOUNT}-{REGION}"
ACTIONS = {**S3_ACTIONS, "UploadPartCopy": "s3:PutObject"}
SHAPES = {"x": ["1x8", "4x8", "8x8"]}
ASSEMBLY = "Custom::ModelAssembly"
SPEC = """\
endpoint: embeddings
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - archive: model
    repository: ../models
    compression: none
    engines:
      - {model: bert, onnx: ../bert.onnx, precision: fp16, shapes: {x: [1x8, 4x8, 8x8]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model repository, whose plan is missing, and an ONNX model beside it."""
    file = tmp_path / "models/bert/config.pbtxt"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIG + TENSORS)
    (tmp_path / "bert.onnx").write_bytes(small_onnx())
    return tmp_path


def engine(folder: Path, **props: Any) -> Engine:
    return Engine(**{"onnx": folder / "bert.onnx", "precision": "fp16", "shapes": SHAPES, **props})


def builds(host: Host, scope: Stack | None = None, **props: Any) -> EngineBuilds:
    scope = scope or host.stack
    topic = sns.Topic(scope, "Failures", enforce_ssl=True)
    return EngineBuilds(scope, "Engines", **{"environment": "prod", "failures": topic, **props})


def model(
    folder: Path, engine_builds: EngineBuilds | EndpointSupport | None, **engines: Engine
) -> TritonModel:
    return TritonModel.from_asset(
        folder / "models", engines=engines or {"bert": engine(folder)}, engine_builds=engine_builds
    )


@pytest.fixture
def host() -> Host:
    host = Host()
    host.support(engine_builds=False)
    return host


class TestDeclaration:
    def test_the_model_waits_for_the_data_that_its_engine_joins(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)))
        template = host.template()
        (assembly,) = template.find_resources(ASSEMBLY)
        container = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]
        assert container["ModelDataSource"]["S3DataSource"] == {
            "S3Uri": {"Fn::GetAtt": [assembly, "Url"]},
            "CompressionType": "None",
            "S3DataType": "S3Prefix",
        }
        assert container["Environment"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "bert"

    def test_its_role_reads_these_files_and_no_others(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)))
        template = host.template()
        prefix = properties(template, ASSEMBLY)["Prefix"]
        granted_statements = statements(template, "Embeddings")
        assert granted_statements["ReadArchives"]["Resource"] == f"arn:aws:s3:::{BUCKET}/{prefix}*"
        assert granted_statements["ListArchives"]["Condition"]["StringLike"]["s3:prefix"] == [f"{prefix}*"]

    def test_files_are_relative_to_the_folder_in_which_the_app_runs(
        self, host: Host, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(folder)
        host.endpoint(model=model(Path(), builds(host)))
        host.template().resource_count_is(ASSEMBLY, 1)

    def test_the_request_is_the_one_that_publishing_a_spec_writes(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)))
        (declared_engine,) = properties(host.template(), ASSEMBLY)["Engines"]
        fleet = FleetFolder(folder)
        fleet.environment(name="prod")
        fleet.spec(base=SPEC, name="embeddings")
        write_locks(open_project(folder, "prod"))
        (expected_engine,) = fleet.resolve("prod").engines
        request = EngineRequest.of(declared_engine["Request"].encode())
        assert request.key == expected_engine.build.key
        assert declared_engine["RequestKey"] == f"engines/plans/{request.hexadecimal}/request.json"
        assert declared_engine["Path"] == "bert/1/model.plan"
        assert (request.gpu, request.job.instance_type) == ("A10G", "ml.g5.xlarge")

    def test_the_files_are_published_with_one_in_each_folder_that_stays_empty(
        self, host: Host, folder: Path
    ) -> None:
        (folder / "models/words").mkdir()
        (folder / "models/words/config.pbtxt").write_text(f'backend: "of-nobody"\n{TENSORS}')
        parts = TritonModel.from_asset(
            folder / "models",
            default_model="words",
            engines={"bert": engine(folder)},
            engine_builds=builds(host),
        )
        host.endpoint(model=parts)
        host.app.synth()
        files = json.loads(Path(host.app.outdir, "Host.assets.json").read_text())["files"].values()
        (stream,) = [file["source"]["path"] for file in files if file["source"]["path"].endswith(".tar")]
        with tarfile.open(Path(host.app.outdir, stream)) as tar:
            names = {member.name for member in tar if member.isfile()}
        assert names == {"bert/config.pbtxt", "words/config.pbtxt", "words/1/PLACEHOLDER"}

    def test_the_functions_read_the_assets_of_their_models_alone(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)))
        template = host.template()
        declared_assembly = properties(template, ASSEMBLY)
        (declared_engine,) = declared_assembly["Engines"]
        expected_objects = {
            declared_assembly["Repository"],
            declared_assembly["Script"],
            declared_engine["Onnx"],
        }
        grant = statements(template, "EnginesModelAssemblyRoleDefaultPolicy")["s3:GetObject"]["Resource"]
        assert {arn["Fn::Join"][1][-1].removeprefix(":s3:::") for arn in grant} == expected_objects

    def test_the_functions_delete_nothing_and_write_no_plan(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)))
        granted_statements = statements(host.template(), "EnginesModelAssemblyPolicy")
        actions = json.dumps([statement["Action"] for statement in granted_statements.values()])
        assert "Delete" not in actions
        objects = f"arn:aws:s3:::{BUCKET}"
        assert granted_statements["HandOverBuilds"]["Resource"] == [
            f"{objects}/engines/onnx/*",
            f"{objects}/engines/scripts/*",
            f"{objects}/engines/plans/*/request.json",
        ]
        assert granted_statements["AssembleModels"]["Resource"] == f"{objects}/repositories/*"
        project = f"arn:aws:codebuild:{REGION}:{ACCOUNT}:project/triton-fleet-prod-engines-job"
        assert granted_statements["BuildEngines"]["Resource"] == project

    def test_every_call_of_the_functions_is_one_that_their_role_allows(self, folder: Path) -> None:
        host = Host(is_audited=False)
        host.support(engine_builds=False)
        host.endpoint(model=model(folder, builds(host, environment="dev")))
        granted_statements = statements(host.template(), "EnginesModelAssemblyPolicy").values()
        large = {"bert/config.pbtxt": b"", "bert/1/weights.bin": bytes(9 << 20)}
        calls: list[tuple[str, str]] = []

        def record_call(params: dict[str, Any], model: Any, **_: Any) -> None:
            if params["Bucket"] == DEV_BUCKET:
                calls.append((model.name, f"{DEV_BUCKET}/{params['Key']}" if "Key" in params else DEV_BUCKET))

        with assembly_s3() as s3:
            app = App(s3, StandInCodeBuild(s3, on_look=lambda id: None), files=large)
            s3.meta.events.register("provide-client-params.s3", record_call)
            event = app.begin()
            app.look(event)
            s3.meta.events.unregister("provide-client-params.s3", record_call)
            app.codebuild.succeed("engines:1")
            s3.meta.events.register("provide-client-params.s3", record_call)
            app.look(event)
            s3.meta.events.unregister("provide-client-params.s3", record_call)
        assert {name for name, _ in calls} >= {"PutObject", "UploadPartCopy", "ListObjectsV2", "HeadObject"}
        assert [call for call in calls if not is_allowed(granted_statements, *call)] == []

    def test_the_builds_of_a_support_build_it_as_well(self, folder: Path) -> None:
        host = Host()
        support = host.support()
        host.endpoint(model=model(folder, support))
        template = host.template()
        template.resource_count_is(ASSEMBLY, 1)
        (project,) = [
            id
            for id, project in template.find_resources("AWS::CodeBuild::Project").items()
            if project["Properties"]["Name"].endswith("-engines-job")
        ]
        (assembly,) = template.find_resources(ASSEMBLY).values()
        assert project in assembly["DependsOn"]

    def test_builds_of_another_stack_are_deployed_before_and_export_nothing(self, folder: Path) -> None:
        host = Host()
        second_stack = Stack(host.app, "Shared", env=HOST_ENVIRONMENT)
        host.support(second_stack, engine_builds=False)
        host.endpoint(model=model(folder, builds(host, second_stack)))
        template = host.template()
        template.resource_count_is(ASSEMBLY, 1)
        assert "Fn::ImportValue" not in json.dumps(template.to_json())
        assert second_stack in host.stack.dependencies

    def test_two_models_share_the_functions(self, host: Host, folder: Path) -> None:
        engine_builds = builds(host)
        host.endpoint("One", model=model(folder, engine_builds))
        host.endpoint("Two", model=model(folder, engine_builds))
        template = host.template()
        template.resource_count_is(ASSEMBLY, 2)
        names = [
            name
            for name in template.find_resources("AWS::Lambda::Function")
            if name.startswith("EnginesModelAssemblyLook")
        ]
        assert len(names) == 1

    def test_a_model_of_the_apps_own_endpoint_takes_engines_too(self, folder: Path) -> None:
        host = Host(is_audited=False)
        a_model(host, model=model(folder, builds(host)))
        host.template().resource_count_is(ASSEMBLY, 1)

    def test_what_is_declared_beside_an_endpoint_builds_nothing(self, folder: Path) -> None:
        host = Host(is_audited=False)
        imported_endpoint = ImportedEndpoint(
            host.stack,
            "Imported",
            endpoint_name="bert",
            triton="25.04",
            instance=Instance(type="ml.g5.xlarge"),
            model=model(folder, builds(host)),
            environment="prod",
        )
        TritonDashboard(host.stack, "Dashboard", endpoint=imported_endpoint)
        host.template().resource_count_is(ASSEMBLY, 0)


def is_allowed(granted_statements: Iterable[dict[str, Any]], operation: str, resource: str) -> bool:
    """Whether one of the statements, which have no conditions, covers a call."""
    for statement in granted_statements:
        actions, resources = (
            [value] if isinstance(value, str) else value
            for value in (statement["Action"], statement["Resource"])
        )
        if ACTIONS[operation] in actions and any(
            fnmatchcase(f"arn:aws:s3:::{resource}", pattern) for pattern in resources
        ):
            return True
    return False


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_shipped_stack_builds_an_engine_while_it_is_deployed(environment: str) -> None:
    for stack, template in shipped_spec(environment).items():
        resources = template["Resources"].values()
        assert ASSEMBLY not in {resource["Type"] for resource in resources}, stack
        assert "model_assembly" not in json.dumps(template), stack


def test_builds_without_a_model_have_no_functions() -> None:
    host = Host()
    builds(host)
    host.template().resource_count_is("AWS::Lambda::Function", 0)


PROBLEMS: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "of no model": (
        lambda folder: {"brt": engine(folder)},
        "model.engines.brt.model: FL293 the repository has no model 'brt' for this engine; remedy: did you mean `bert`?",
    ),
    "of no file": (
        lambda folder: {"bert": engine(folder, onnx=folder / "bart.onnx")},
        "model.engines.bert.onnx: FL370",
    ),
    "of an object in S3": (
        lambda folder: {"bert": engine(folder, onnx="s3://their-models/bert.onnx")},
        "model.engines.bert.onnx: FL370 s3://their-models/bert.onnx is in S3",
    ),
    "of an unknown precision": (
        lambda folder: {"bert": engine(folder, precision="fp17")},
        "model.engines.bert.precision: FL112",
    ),
    "with shapes that are smaller than the model's batches": (
        lambda folder: {"bert": engine(folder, shapes={"x": ["1x8", "2x8", "4x8"]})},
        "model.engines.bert.shapes.x",
    ),
    "with an input that the model does not have": (
        lambda folder: {"bert": engine(folder, shapes={"z": ["1x8", "4x8", "8x8"]})},
        "model.engines.bert.shapes.z: FL395",
    ),
}


@pytest.mark.parametrize(("engines", "expected_value"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_wrong_engine_is_reported_at_its_prop(
    folder: Path, engines: Callable[[Path], dict[str, Any]], expected_value: str
) -> None:
    host = Host(is_audited=False)
    host.support(engine_builds=False)
    host.endpoint(model=model(folder, builds(host), **engines(folder)))
    problems = host.problems()
    assert any(problem.startswith(f"[Host/Embeddings] {expected_value}") for problem in problems), problems


class TestProblems:
    @pytest.fixture
    def host(self) -> Host:
        host = Host(is_audited=False)
        host.support(engine_builds=False)
        return host

    def test_engines_need_builds(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, None))
        (problem,) = host.problems()
        assert problem.startswith("[Host/Embeddings] FL608 `model.engines` has engines to build")

    def test_a_support_that_is_deployed_elsewhere_has_none_here(self, folder: Path) -> None:
        host = Host(is_audited=False)
        support = EndpointSupport.from_environment(host.stack, "Support", environment="prod")
        host.endpoint(model=model(folder, support), support=support)
        (problem,) = host.problems()
        assert "FL608" in problem and "it is deployed elsewhere" in problem

    def test_builds_of_another_region_are_refused(self, host: Host, folder: Path) -> None:
        west = Stack(host.app, "West", env=Environment(account=ACCOUNT, region="us-west-2"))
        host.endpoint(model=model(folder, builds(host, west)))
        (problem,) = host.problems()
        assert "FL608 `model.engine_builds` is of account 111122223333 and region 'us-west-2'" in problem

    def test_an_instance_type_that_the_deploy_decides_has_no_engine(self, host: Host, folder: Path) -> None:
        type = CfnParameter(host.stack, "Type").value_as_string
        host.endpoint(model=model(folder, builds(host)), instance=Instance(type=type))
        (problem,) = host.problems()
        assert "FL616 the deploy decides `instance.type`" in problem

    def test_a_cpu_has_no_engine(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host)), instance=Instance(type="ml.c5.xlarge"))
        assert any("FL290" in problem for problem in host.problems())

    def test_a_plan_in_the_folder_is_in_the_engines_place(self, host: Host, folder: Path) -> None:
        (folder / "models/bert/1").mkdir()
        (folder / "models/bert/1/model.plan").write_bytes(b"ftrt" + bytes(64))
        host.endpoint(model=model(folder, builds(host)))
        assert any("FL372" in problem for problem in host.problems())

    def test_builds_that_are_wrong_report_that_themselves(self, host: Host, folder: Path) -> None:
        host.endpoint(model=model(folder, builds(host, environment="Wrong name")))
        assert {problem.split("]")[0] for problem in host.problems()} == {"[Host/Engines"}


def test_an_engine_has_the_keys_and_the_defaults_of_a_spec() -> None:
    """`model` is the key of the mapping, `digest` of ONNX models in S3."""
    props = {field.name: field for field in fields(Engine)}
    keys = SpecEngine.model_fields
    assert props.keys() == keys.keys() - {"model", "digest"}
    hints = get_type_hints(Engine)
    for name in ("precision", "compatibility"):
        assert props[name].default == keys[name].default.value
        assert set(get_args(hints[name])) == {item.value for item in type(keys[name].default)}
    assert props["onnx"].default is MISSING and keys["onnx"].is_required()
    assert props["workspace"].default is None and keys["workspace"].default is None
