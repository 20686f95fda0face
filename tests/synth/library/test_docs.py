"""Each page of the constructs is a program that runs, type-checks and declares what the page states."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import mkdtemp
from typing import Any

import pytest
from aws_cdk import App, CfnResource
from aws_cdk.assertions import Annotations, Match
from constructs import IConstruct

import triton_endpoints
from tests.support import engine_bucket
from tests.support.constructs_page import PAGE, constructs_page
from tests.support.fleet_folder import LOCK, ROOT, SPEC
from tests.synth.library.host import Host
from tests.synth.library.test_hosting_modes import FILES
from triton_endpoints import Instance, TritonModel

ENTRY = ROOT / "docs" / "constructs.md"
README = ROOT / "constructs" / "README.md"
PAGES = {page.stem: page for page in sorted((ROOT / "docs" / "constructs").glob("*.md"))}
NOUNS = {
    "alarms": "TritonAlarms",
    "artifact-bucket": "ArtifactBucket",
    "dashboard": "TritonDashboard",
    "endpoint": "TritonEndpoint",
    "endpoint-configuration": "TritonEndpointConfig",
    "engine-builds": "EngineBuilds",
    "sagemaker-model": "SageMakerModel",
    "scaling": "TritonScaling",
    "support": "EndpointSupport",
}
"""The construct that a page is about, which declares exactly the types of resources that the page lists."""
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DECLARATION_SECTION = re.compile(r"^## What it declares$(.*?)^## ", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"`((?:AWS::\w+|Custom)::\w+)`")
CONFIG = 'backend: "onnxruntime"\nmax_batch_size: 8\n'
HINT = re.compile(r"^\s*assert\b|\bcast\(|# type: ignore|: Any\b")
"""A hint about a type; the page on tests has assertions, and the CDK has no narrow type of `default_child`."""


def program(page: Path) -> str:
    return "\n".join(SNIPPET.findall(page.read_text()))


def app_folder(folder: Path) -> Path:
    """A folder with what the programs have beside them."""
    version = folder / "models" / "words" / "1"
    version.mkdir(parents=True)
    (version / "model.onnx").write_bytes(engine_bucket.small_onnx())
    (folder / "models" / "words" / "config.pbtxt").write_text(CONFIG + engine_bucket.TENSORS)
    for path, text in FILES.items():
        if path.startswith(("embed", "words")):
            file = folder / "vision" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    plan = folder / "trt_models" / "resnet"
    plan.mkdir(parents=True)
    (plan / "config.pbtxt").write_text(engine_bucket.CONFIG + engine_bucket.TENSORS)
    (folder / "resnet.onnx").write_bytes(engine_bucket.small_onnx())
    (folder / "container").mkdir()
    (folder / "container" / "Dockerfile").write_text("FROM nvcr.io/nvidia/tritonserver:26.05-py3\n")
    (folder / "sentences.yaml").write_text(SPEC)
    (folder / "sentences.lock.yaml").write_text(LOCK)
    return folder


@cache
def names_of(name: str) -> dict[str, Any]:
    """The names of a page's program, after it has run."""
    page = PAGES[name]
    names: dict[str, Any] = {"__name__": page.stem}
    with chdir(app_folder(Path(mkdtemp()))):
        exec(compile(program(page), page.name, "exec"), names)
        if isinstance(app := names.get("app"), App):
            app.synth()
        for test in [value for name, value in names.items() if name.startswith("test_")]:
            test()
    return names


def template(name: str, stack: str = "Search") -> dict[str, Any]:
    """The resources of a stack of a page, by their logical ids."""
    assembly = names_of(name)["app"].synth()
    return dict(assembly.get_stack_by_name(stack).template["Resources"])


def of_type(resources: dict[str, Any], kind: str, part: str = "") -> list[dict[str, Any]]:
    """The properties of the resources of a type whose logical ids begin with `part`."""
    return [
        resource.get("Properties", {})
        for id, resource in resources.items()
        if resource["Type"] == kind and id.startswith(part)
    ]


def declared_types(construct: IConstruct) -> Iterator[str]:
    for child in construct.node.find_all():
        if CfnResource.is_cfn_resource(child):
            assert isinstance(child, CfnResource)
            yield child.cfn_resource_type


@pytest.mark.parametrize("name", PAGES)
def test_the_snippets_of_a_page_are_a_program_that_synthesises(name: str) -> None:
    assert names_of(name)


@pytest.mark.parametrize("name", NOUNS)
def test_a_page_lists_the_types_of_resources_that_its_construct_declares(name: str) -> None:
    kind = getattr(triton_endpoints, NOUNS[name])
    constructs = [value for value in names_of(name).values() if isinstance(value, kind)]
    (section,) = DECLARATION_SECTION.findall(PAGES[name].read_text())
    assert {kind for construct in constructs for kind in declared_types(construct)} == set(
        TYPE.findall(section)
    )


def test_the_programs_and_the_app_of_a_host_pass_mypy_strict_without_a_hint_to_it(tmp_path: Path) -> None:
    copytree(ROOT / "tests" / "host_app", tmp_path, dirs_exist_ok=True)
    for name, page in [*PAGES.items(), ("entry", ENTRY), ("readme", README)]:
        (tmp_path / f"page_{name.replace('-', '_')}.py").write_text(program(page))
    hints = [
        f"{file.name}: {line}"
        for file in tmp_path.rglob("*.py")
        for line in file.read_text().splitlines()
        if file.stem != "page_testing" and "isinstance(endpoint, sagemaker.CfnEndpoint)" not in line
        if HINT.search(line)
    ]
    assert hints == []
    command = [sys.executable, "-m", "mypy", "--cache-dir", ".mypy_cache", *map(str, tmp_path.rglob("*.py"))]
    environment = {**os.environ, "MYPYPATH": str(tmp_path)}
    result = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_an_endpoint_of_the_page_serves_what_its_props_and_its_spec_say() -> None:
    resources = template("endpoint")
    names = [endpoint["EndpointName"] for endpoint in of_type(resources, "AWS::SageMaker::Endpoint")]
    assert sorted(names) == ["private", "ranking", "sentences"]
    urls = [
        json.dumps(model["PrimaryContainer"]["ModelDataUrl"])
        for model in of_type(resources, "AWS::SageMaker::Model")
    ]
    assert sum("cdk-hnb659fds-assets" in url for url in urls) == 2, "props with a folder"
    assert sum(f"endpoints/sentences/{'a' * 64}" in url for url in urls) == 1, "the lock's archive"
    (policy,) = of_type(resources, "AWS::IAM::Policy", "Caller")
    resource_arns = [statement["Resource"] for statement in policy["PolicyDocument"]["Statement"]]
    assert any("endpoint/legacy-ranking" in json.dumps(resource) for resource in resource_arns)
    (rule,) = of_type(resources, "AWS::EC2::SecurityGroupIngress", "Cache")
    assert "PrivateSecurityGroup" in json.dumps(rule["SourceSecurityGroupId"])
    alarms = of_type(resources, "AWS::CloudWatch::Alarm", "LegacyAlarms")
    assert all("legacy-ranking" in json.dumps(alarm) for alarm in alarms) and alarms


def test_model_data_of_the_page_is_readable_and_a_folder_needs_no_change_to_be_the_same() -> None:
    resources = template("model-data")
    grants = {
        name: json.dumps(of_type(resources, "AWS::IAM::Policy", f"{name}Role"))
        for name in ("Packed", "Ranking", "Zoo")
    }
    assert ["kms:Decrypt" in grant for grant in grants.values()] == [False, True, False]
    assert "our-models/zoo/*" in grants["Zoo"]
    (zoo,) = of_type(resources, "AWS::SageMaker::Model", "Zoo")
    assert zoo["PrimaryContainer"]["Mode"] == "MultiModel"


def test_images_of_the_page_are_pinned_pulled_and_built() -> None:
    resources = template("image")
    images = [
        json.dumps(of_type(resources, "AWS::SageMaker::Model", name)[0]["PrimaryContainer"]["Image"])
        for name in ("Pinned", "Shared", "Built")
    ]
    assert f"sagemaker-tritonserver@sha256:{'9f2c8b0f' * 8}" in images[0]
    assert ":2.1" in images[1]
    assert "cdk-hnb659fds-container-assets" in images[2]


def test_the_model_waits_for_grants_to_its_role_and_a_role_that_was_handed_out_gets_none() -> None:
    resources = template("role")
    models = {
        id[:-8]: entry  # without its digest
        for id, entry in resources.items()
        if entry["Type"] == "AWS::SageMaker::Model"
    }
    waits = [name for name in models["Own"]["DependsOn"] if "ExecutionRolePolicy" in name]
    assert len(waits) == 1 and "s3:GetObject*" in json.dumps(resources[waits[0]])
    arns = [json.dumps(models[name]["Properties"]["ExecutionRoleArn"]) for name in ("First", "Second")]
    assert arns[0] == arns[1] and "Role" in arns[0]
    assert of_type(resources, "AWS::IAM::Policy", "First") and of_type(
        resources, "AWS::IAM::Policy", "Second"
    )
    assert not of_type(resources, "AWS::IAM::Policy", "Handed")


def test_variants_of_the_page_have_the_host_images_of_their_releases() -> None:
    (config,) = of_type(template("endpoint-configuration"), "AWS::SageMaker::EndpointConfig")
    variants = config["ProductionVariants"]
    assert [(variant["VariantName"], variant["InitialVariantWeight"]) for variant in variants] == [
        ("Old", 9),
        ("New", 1),
    ]
    assert len({variant["InferenceAmiVersion"] for variant in variants}) == 2
    assert {variant["RoutingConfig"]["RoutingStrategy"] for variant in variants} == {
        "LEAST_OUTSTANDING_REQUESTS"
    }


def test_the_target_of_the_scaling_page_is_of_one_gpu_and_waits_for_the_endpoint() -> None:
    resources = template("scaling")
    (target,) = [
        entry
        for entry in resources.values()
        if entry["Type"] == "AWS::ApplicationAutoScaling::ScalableTarget"
    ]
    assert "Endpoint" in target["DependsOn"]
    (policy,) = of_type(resources, "AWS::ApplicationAutoScaling::ScalingPolicy", "ScalingGpu")
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 4 * 60


def test_critical_alarms_of_the_page_page_and_others_are_mute() -> None:
    alarms = of_type(template("alarms"), "AWS::CloudWatch::Alarm")
    action_flags = [bool(alarm.get("AlarmActions")) for alarm in alarms]
    assert 0 < sum(action_flags) < len(action_flags)
    assert not [alarm for alarm in alarms if "DiskUtilization" in json.dumps(alarm)]


def test_the_dashboard_of_the_page_ends_with_the_apps_widget_and_has_no_metric_of_triton() -> None:
    (dashboard,) = of_type(template("dashboard"), "AWS::CloudWatch::Dashboard")
    body = json.dumps(dashboard)
    assert "# Owned by search" in body and "TritonFleet/legacy-ranking" not in body


def test_whoever_is_granted_starts_the_builds_of_engines() -> None:
    (policy,) = of_type(template("engine-builds", "Research"), "AWS::IAM::Policy", "Starter")
    assert "codebuild:StartBuild" in policy["PolicyDocument"]["Statement"][0]["Action"]


def test_the_model_of_the_page_waits_for_its_engine() -> None:
    (model,) = of_type(template("engines", "ModelsStack"), "AWS::SageMaker::Model")
    source = model["PrimaryContainer"]["ModelDataSource"]["S3DataSource"]
    assert "Fn::GetAtt" in json.dumps(source["S3Uri"])
    assert of_type(template("engines", "ModelsStack"), "Custom::ModelAssembly")


def test_the_buckets_of_the_page_are_retained_and_the_support_has_no_other() -> None:
    resources = template("artifact-bucket", "Shared")
    buckets = [entry for entry in resources.values() if entry["Type"] == "AWS::S3::Bucket"]
    assert all(bucket["DeletionPolicy"].startswith("Retain") for bucket in buckets)
    assert [bucket["Properties"].get("BucketName") for bucket in buckets].count("our-archives") == 1
    assert len(buckets) == 2


def test_values_of_the_page_are_in_the_template_and_are_listed_as_not_checked() -> None:
    resources = template("values")
    (target,) = of_type(resources, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["MaxCapacity"] == {"Ref": "Most"}
    (alarm,) = of_type(resources, "AWS::CloudWatch::Alarm", "RankingAlarmsLatency")
    assert alarm["Threshold"] == {"Ref": "Slow"}
    infos = Annotations.from_stack(names_of("values")["stack"]).find_info(
        "/Search/Ranking", Match.any_value()
    )
    info_texts = [str(info.entry.data) for info in infos]
    assert any("scaling.max" in text and "alarms.latency_p99" in text for text in info_texts)


class TestPipelines:
    def test_the_models_are_published_to_both_accounts_before_the_stages(self) -> None:
        (pipeline,) = of_type(template("pipelines", "Tools"), "AWS::CodePipeline::Pipeline")
        stages = {stage["Name"]: stage["Actions"] for stage in pipeline["Stages"]}
        assert list(stages)[-4:] == ["Assets", "Dev", "Prod", "Staging"]
        assert "Ranking_Archive" in [action["Name"] for action in stages["Assets"]]
        assert stages["Prod"][0]["Name"] == "Approve"

    def test_the_stack_of_an_endpoint_follows_its_support_and_the_step_that_publishes(self) -> None:
        (pipeline,) = of_type(template("pipelines", "Tools"), "AWS::CodePipeline::Pipeline")
        for stage in pipeline["Stages"][-3:]:
            order = {action["Name"]: action["RunOrder"] for action in stage["Actions"]}
            assert order["Shared.Deploy"] < order["Models.Prepare"] < order["Models.Deploy"]
        assert order["Shared.Deploy"] < order["Models.Publish"] < order["Models.Prepare"]

    def test_each_stage_serves_one_archive_from_its_own_account(self) -> None:
        assembly = names_of("pipelines")["app"].synth()
        urls = []
        for name, account in (("Dev", "111122223333"), ("Prod", "444455556666")):
            stage_assembly = assembly.get_nested_assembly(f"assembly-{name}")
            (resources,) = [
                stack.template["Resources"]
                for stack in stage_assembly.stacks
                if stack.stack_name == f"{name}-Models"
            ]
            (model,) = of_type(resources, "AWS::SageMaker::Model")
            url = model["PrimaryContainer"]["ModelDataUrl"]
            assert account in url
            urls.append(url.rpartition("/")[2])
        assert urls[0] == urls[1]


def test_the_hatches_of_the_page_are_in_the_template() -> None:
    resources = template("escape-hatches")
    (config,) = of_type(resources, "AWS::SageMaker::EndpointConfig")
    assert config["ProductionVariants"][0]["RoutingConfig"] == {"RoutingStrategy": "RANDOM"}
    (endpoint,) = of_type(resources, "AWS::SageMaker::Endpoint")
    assert endpoint["RetainDeploymentConfig"] is True and endpoint["RetainAllVariantProperties"] is False
    (model,) = of_type(resources, "AWS::SageMaker::Model")
    assert model["EnableNetworkIsolation"] is True
    alarms = of_type(resources, "AWS::CloudWatch::Alarm")
    assert {alarm["ActionsEnabled"] for alarm in alarms} == {False}


class TestReadme:
    def test_its_program_has_at_most_30_lines(self) -> None:
        assert len(program(README).splitlines()) <= 30

    def test_it_declares_an_api_of_the_endpoint_and_a_key_without_a_deprecated_call(
        self, tmp_path: Path
    ) -> None:
        environment = {**os.environ, "JSII_DEPRECATED": "fail", "CDK_OUTDIR": str(tmp_path / "out")}
        command = [sys.executable, "-c", program(README)]
        result = subprocess.run(
            command, env=environment, cwd=app_folder(tmp_path), capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr[-800:]
        resources = json.loads((tmp_path / "out" / "Search.template.json").read_text())["Resources"]
        (method,) = of_type(resources, "AWS::ApiGateway::Method")
        (endpoint,) = [id for id, entry in resources.items() if entry["Type"] == "AWS::SageMaker::Endpoint"]
        (key,) = [id for id, entry in resources.items() if entry["Type"] == "AWS::KMS::Key"]
        assert {"Fn::GetAtt": [endpoint, "EndpointName"]} in method["Integration"]["Uri"]["Fn::Join"][1]
        grants = json.dumps(of_type(resources, "AWS::IAM::Policy"))
        assert "sagemaker:InvokeEndpoint" in grants
        (logs,) = of_type(resources, "Custom::EndpointLogs")
        assert logs["KmsKey"] == {"Fn::GetAtt": [key, "Arn"]}


def test_the_first_endpoint_of_the_entry_is_deployed_with_its_models(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    with chdir(app_folder(tmp_path)):
        exec(compile(program(ENTRY), ENTRY.name, "exec"), names)
    resources = names["app"].synth().get_stack_by_name("Search").template["Resources"]
    (model,) = of_type(resources, "AWS::SageMaker::Model")
    assert "cdk-hnb659fds-assets" in json.dumps(model["PrimaryContainer"]["ModelDataUrl"])


def test_the_mistakes_of_the_page_are_what_a_synth_prints() -> None:
    host = Host(name="ModelsStack")
    host.support()
    host.endpoint("Ranking", instance=Instance(type="ml.g5.large"))
    model = TritonModel.multi_model("s3://our-models/zoo/", archives=["resnet50", "resnet50"])
    host.endpoint("Zoo", model=model)
    (match,) = TEXT.findall(PAGES["testing"].read_text())
    assert host.problems() == re.sub(r"\n  +", " ", match).splitlines()


def test_the_reference_is_what_the_code_says() -> None:
    assert PAGE.read_text() == constructs_page(), "run `python -m tests.support.constructs_page`"
