"""Resources that endpoints share, in a stack of the app's own, in another app, or with a bucket of somebody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aws_cdk import NestedStack, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.synth.library.host import ACCOUNT, HOST_ENVIRONMENT, REGION, Host, properties, statements
from triton_endpoints import Capture, EndpointSupport, FleetEnvironment, Instance, TritonEndpoint, TritonModel

OWN = f"triton-fleet-prod-{ACCOUNT}-{REGION}"
STACK_TAG = "triton-fleet:endpoints/prod"
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/teams/boundary"


def test_it_declares_what_foundation_declares() -> None:
    host = Host()
    support = host.support()
    template = host.template()
    names = {
        resource["Properties"].get("FunctionName")
        for resource in template.find_resources("AWS::Lambda::Function").values()
    }
    assert {
        f"triton-fleet-prod-{noun}" for noun in ("scaling-guard", "endpoint-check", "endpoint-logs")
    } <= names
    template.resource_count_is("AWS::CodeBuild::Project", 2)
    template.resource_count_is("AWS::ECR::Repository", 1)
    template.resource_count_is("AWS::SNS::Topic", 2)
    assert EndpointSupport.bucket_name("prod", ACCOUNT, REGION) == OWN
    assert support.alarm_topic("critical") is support.alarm_topic("critical")


@pytest.mark.parametrize(
    ("engines", "images", "remaining_lines"), [(False, True, ["images"]), (True, False, ["engines-job"])]
)
def test_without_builds_it_has_no_projects_of_them(
    engines: bool, images: bool, remaining_lines: list[str]
) -> None:
    host = Host()
    host.support(engine_builds=engines, image_builds=images)
    template = host.template()
    projects = template.find_resources("AWS::CodeBuild::Project").values()
    assert sorted(project["Properties"]["Name"] for project in projects) == [
        f"triton-fleet-prod-{e}" for e in remaining_lines
    ]
    template.resource_count_is("AWS::ECR::Repository", int(images))


def test_its_functions_may_see_the_fleets_stacks_by_name_and_those_of_apps_by_their_tag() -> None:
    host = Host()
    host.support()
    template = host.template()
    for functions in ("ScalingGuard", "EndpointCheck", "EndpointLogs"):
        grants = statements(template, f"Support{functions}Policy")
        stacks = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack"
        assert grants["SeeStacks"]["Resource"] == f"{stacks}/triton-fleet-prod-*"
        assert grants["SeeTaggedStacks"] == {
            "Sid": "SeeTaggedStacks",
            "Effect": "Allow",
            "Action": "cloudformation:DescribeStacks",
            "Resource": f"{stacks}/*",
            "Condition": {"StringEquals": {f"aws:ResourceTag/{STACK_TAG}": "true"}},
        }


@pytest.mark.parametrize("kind", ["declared", "deployed"])
def test_the_stack_of_an_endpoint_has_that_tag_and_no_other_stack_has_it(kind: str) -> None:
    host = Host(name="TheirStack")
    shared_stack = Stack(host.app, "Shared", env=HOST_ENVIRONMENT)
    if kind == "declared":
        host.support(shared_stack)
    else:
        EndpointSupport.from_environment(shared_stack, "Deployed", environment="prod")
    host.endpoint("One")
    host.endpoint("Two")
    assembly = host.app.synth()
    tags = {stack.stack_name: stack.tags for stack in assembly.stacks}
    assert tags == {"TheirStack": {STACK_TAG: "true"}, "Shared": {}}


def test_of_a_nested_stack_the_tag_is_on_that_one_which_the_functions_ask() -> None:
    host = Host()
    host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT))
    host.endpoint(scope=NestedStack(host.stack, "Nested"))
    assembly = host.app.synth()
    stack = assembly.get_stack_by_name("Host")
    assert stack.tags == {}
    tags = properties(Template.from_json(stack.template), "AWS::CloudFormation::Stack")["Tags"]
    assert {"Key": STACK_TAG, "Value": "true"} in tags


@pytest.mark.parametrize("first", ["declared", "deployed"])
def test_of_two_supports_of_an_environment_endpoints_share_the_declared_one(first: str) -> None:
    host = Host()
    if first == "declared":
        host.support()
    EndpointSupport.from_environment(host.stack, "Deployed", environment="prod")
    if first == "deployed":
        host.support()
    host.endpoint()
    (logs,) = host.template().find_resources("Custom::EndpointLogs").values()
    assert any(text.startswith("SupportEndpointLogs") for text in logs.get("DependsOn", []))


def test_of_several_deployed_supports_endpoints_share_the_first() -> None:
    host = Host()
    for number in range(8):
        bucket = s3.Bucket.from_bucket_name(host.stack, f"Bucket{number}", f"bucket-{number}")
        EndpointSupport.from_environment(host.stack, f"Support{number}", environment="prod", bucket=bucket)
    host.endpoint(capture=Capture(sample="10%"))
    config = properties(host.template(), "AWS::SageMaker::EndpointConfig")
    assert config["DataCaptureConfig"]["DestinationS3Uri"] == "s3://bucket-0/capture/embeddings"


def test_a_given_bucket_is_that_of_archives_captured_calls_and_saved_scalings(tmp_path: Path) -> None:
    host = Host()
    key = kms.Key(host.stack, "Key", enable_key_rotation=True)
    logs = s3.Bucket.from_bucket_name(host.stack, "AccessLogs", "their-logs")
    bucket = s3.Bucket(
        host.stack,
        "Theirs",
        encryption_key=key,
        enforce_ssl=True,
        versioned=True,
        server_access_logs_bucket=logs,
    )
    support = host.support(bucket=bucket)
    assert support.bucket is bucket
    TritonEndpoint.from_spec(
        host.stack, "Sentences", spec=_spec(tmp_path, 'capture: {sample: "10%"}\n'), environment="prod"
    )
    template = host.template()
    (logical,) = template.find_resources("AWS::S3::Bucket")
    (key_id,) = template.find_resources("AWS::KMS::Key")
    name, arn = {"Ref": logical}, {"Fn::GetAtt": [key_id, "Arn"]}
    assert OWN not in json.dumps(template.to_json())
    container = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]
    assert container["ModelDataUrl"] == {
        "Fn::Join": ["", ["s3://", name, f"/endpoints/sentences/{'a' * 64}.tar.gz"]]
    }
    capture = properties(template, "AWS::SageMaker::EndpointConfig")["DataCaptureConfig"]
    assert capture["DestinationS3Uri"] == {"Fn::Join": ["", ["s3://", name, "/capture/sentences"]]}
    assert capture["KmsKeyId"] == arn
    granted_statements = statements(template, "Sentences")
    assert granted_statements["ReadArchives"]["Resource"] == {
        "Fn::Join": ["", ["arn:aws:s3:::", name, "/endpoints/sentences/*"]]
    }
    assert granted_statements["UseKey"]["Resource"] == arn
    guard = statements(template, "SupportScalingGuardPolicy")
    assert guard["KeepScaling"]["Resource"] == {"Fn::Join": ["", ["arn:aws:s3:::", name, "/scaling-guard/*"]]}
    assert guard["UseKey"]["Resource"] == arn


def test_what_is_deployed_already_is_referred_to_by_names_and_declares_nothing() -> None:
    host = Host()
    support = EndpointSupport.from_environment(host.stack, "Support", environment="prod")
    host.endpoint(support=support, environment=None)
    template = host.template()
    template.resource_count_is("AWS::Lambda::Function", 0)
    token = properties(template, "Custom::EndpointLogs")["ServiceToken"]
    assert token == f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:triton-fleet-prod-endpoint-logs"


def test_the_boundary_of_the_environment_is_on_every_role_and_its_tags_on_every_resource() -> None:
    host = Host()
    environment = FleetEnvironment(name="prod", permissions_boundary=BOUNDARY, tags={"team": "ml"})
    support = host.support(environment=environment)
    host.endpoint(support=support, environment=None)
    template = host.template()
    roles = template.find_resources("AWS::IAM::Role").values()
    assert {role["Properties"]["PermissionsBoundary"] for role in roles} == {BOUNDARY}
    endpoint = properties(template, "AWS::SageMaker::Endpoint")
    assert {"Key": "team", "Value": "ml"} in endpoint["Tags"]


def test_a_stack_without_an_app_has_one_of_the_cdks() -> None:
    """As tests of constructs write it."""
    stack = Stack(env=HOST_ENVIRONMENT)
    EndpointSupport(stack, "Support", environment="prod")
    TritonEndpoint(
        stack,
        "Embeddings",
        endpoint_name="embeddings",
        triton="25.04",
        environment="prod",
        instance=Instance(type="ml.g5.xlarge"),
        model=TritonModel.single("s3://their-models/a.tar.gz"),
    )
    Template.from_stack(stack).resource_count_is("AWS::SageMaker::Endpoint", 1)


def test_an_environment_that_is_only_named_is_that_of_its_support() -> None:
    host = Host()
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd"
    host.support(environment=FleetEnvironment(name="prod", kms_key=key, tags={"team": "ml"}))
    host.endpoint(environment="prod", instance=Instance(type="ml.c5.xlarge"))
    template = host.template()
    assert properties(template, "AWS::SageMaker::EndpointConfig")["KmsKeyId"] == key
    assert properties(template, "Custom::EndpointLogs")["KmsKey"] == key
    assert {"Key": "team", "Value": "ml"} in properties(template, "AWS::SageMaker::Endpoint")["Tags"]


class TestSpec:
    def test_its_archives_are_those_of_the_lock_beside_it(self, tmp_path: Path) -> None:
        host = Host()
        host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT))
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=_spec(tmp_path), environment="prod")
        template = host.template()
        url = f"s3://{OWN}/endpoints/sentences/{'a' * 64}.tar.gz"
        assert properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataUrl"] == url
        assert properties(template, "AWS::SageMaker::Endpoint")["EndpointName"] == "sentences"

    def test_of_a_fleet_they_are_those_of_its_locks_and_its_environment_holds(
        self, folder: FleetFolder
    ) -> None:
        folder.environment("overrides: {sentences: {instance: {count: 3}}}\ntags: {team: ml}\n")
        host = Host()
        file = folder.root / "environments/dev.yaml"
        host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT), environment=file)
        spec = folder.root / "model_specs/sentences.yaml"
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=spec, environment=file)
        template = host.template()
        (variant,) = properties(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"]
        assert variant["InitialInstanceCount"] == 3
        assert {"Key": "team", "Value": "ml"} in properties(template, "AWS::SageMaker::Endpoint")["Tags"]

    @pytest.mark.parametrize(
        ("cwd", "spec", "lock"),
        [
            ("", "model_specs/sentences.yaml", "locks/dev/sentences.lock.yaml"),
            ("model_specs", "sentences.yaml", "{root}/locks/dev/sentences.lock.yaml"),
        ],
    )
    def test_of_a_fleet_the_locks_are_beside_its_specs_wherever_the_app_runs(
        self, folder: FleetFolder, monkeypatch: pytest.MonkeyPatch, cwd: str, spec: str, lock: str
    ) -> None:
        monkeypatch.chdir(folder.root / cwd)
        host = Host()
        host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT), environment="dev")
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=spec, environment="dev")
        assert host.problems() == []
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        host = Host()
        host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT), environment="dev")
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=spec, environment="dev")
        (problem,) = host.problems()
        assert problem.startswith(f"[Host/Sentences] {lock.format(root=folder.root)}: FL301 ")

    def test_without_a_lock_the_error_names_the_file_and_the_command(self, tmp_path: Path) -> None:
        host = Host()
        host.support()
        file = _spec(tmp_path)
        (tmp_path / "sentences.lock.yaml").unlink()
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=file, environment="prod")
        (problem,) = host.problems()
        assert problem.startswith(f"[Host/Sentences] {tmp_path}/sentences.lock.yaml: FL301 ")
        assert "`fleet lock --env prod sentences`" in problem

    def test_model_data_in_s3_stands_in_place_of_a_lock(self, tmp_path: Path) -> None:
        host = Host()
        host.support()
        file = _spec(tmp_path)
        (tmp_path / "sentences.lock.yaml").unlink()
        TritonEndpoint.from_spec(
            host.stack, "Sentences", spec=file, environment="prod", model_data_url="s3://theirs/a.tar.gz"
        )
        container = properties(host.template(), "AWS::SageMaker::Model")["PrimaryContainer"]
        assert container["ModelDataUrl"] == "s3://theirs/a.tar.gz"

    def test_mistakes_of_the_file_are_told_with_file_and_line(self, tmp_path: Path) -> None:
        host = Host()
        host.support()
        file = _spec(tmp_path, "alarm: {}\n")
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=file, environment="prod")
        (problem,) = host.problems()
        assert problem.startswith(f"[Host/Sentences] {file}:6:1: FL110 unknown key `alarm`")

    def test_a_bucket_of_the_same_stack_is_a_warning_as_its_first_deploy_finds_no_archive(
        self, tmp_path: Path
    ) -> None:
        host = Host()
        host.support()
        TritonEndpoint.from_spec(host.stack, "Sentences", spec=_spec(tmp_path), environment="prod")
        result = Annotations.from_stack(host.stack).find_warning(
            "/Host/Sentences", Match.string_like_regexp("FL612 .*run `fleet publish --env prod ")
        )
        assert len(result) == 1


def _spec(folder: Path, keys: str = "") -> Path:
    """A spec with its lock beside it."""
    (folder / "sentences.lock.yaml").write_text(LOCK)
    file = folder / "sentences.yaml"
    file.write_text(SPEC + keys)
    return file
