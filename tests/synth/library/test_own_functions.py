"""An endpoint that shares no support: it has what it needs in its own stack, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import NestedStack, Stack
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template

from tests.support.fleet_folder import LOCK, SPEC
from tests.synth.library.host import ACCOUNT, HOST_ENVIRONMENT, REGION, Host, properties, statements
from triton_endpoints import (
    Capture,
    EndpointSupport,
    FleetEnvironment,
    Input,
    Instance,
    Logs,
    Sample,
    Scaling,
    TritonAlarms,
    TritonEndpoint,
    TritonModel,
)

SCALING = Scaling(min=1, max=2).scale_on_invocations(600)
SAMPLES = [Sample(name="one", inputs={"TEXT": Input(datatype="BYTES", shape=[1, 1], data="seven")})]
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd"
OWN = "TritonFunctionsprod"


def custom_resources(template: Template) -> Counter[str]:
    """How many custom resources of each type there are."""
    types = (resource["Type"] for resource in template.to_json()["Resources"].values())
    return Counter(type for type in types if type.startswith("Custom::"))


def warnings(host: Host, text: str) -> list[Any]:
    return list(Annotations.from_stack(host.stack).find_warning("*", Match.string_like_regexp(text)))


class TestPlainEndpoint:
    def test_it_adds_at_most_twelve_resources_and_no_function(self) -> None:
        host = Host()
        host.endpoint()
        template = host.template()
        assert len(template.to_json()["Resources"]) <= 12
        template.resource_count_is("AWS::CloudWatch::Dashboard", 1)
        template.resource_count_is("AWS::CloudWatch::Alarm", 4)
        template.resource_count_is("AWS::Lambda::Function", 0)
        assert custom_resources(template) == {}

    def test_its_alarms_have_no_action_and_one_warning_says_so(self) -> None:
        host = Host()
        host.endpoint()
        alarms = host.template().find_resources("AWS::CloudWatch::Alarm").values()
        assert [alarm["Properties"]["AlarmActions"] for alarm in alarms] == [[]] * 4
        (warning,) = warnings(host, "FL617 the alarms notify nobody")
        assert "[ack: triton-fleet:FL617]" in warning.entry.data

    def test_with_actions_of_the_apps_own_or_without_alarms_there_is_no_warning(self) -> None:
        host = Host()
        topic = sns.Topic(host.stack, "Page", enforce_ssl=True)
        host.endpoint("One", alarm_actions=[actions.SnsAction(topic)])
        host.endpoint("Two", alarms=None)
        host.template()
        assert warnings(host, "FL617") == []

    def test_in_a_stack_without_account_and_region_it_is_the_same(self) -> None:
        stack = Stack()
        TritonEndpoint(
            stack,
            "Embeddings",
            endpoint_name="embeddings",
            triton="25.04",
            environment="prod",
            instance=Instance(type="ml.g5.xlarge"),
            model=TritonModel.single("s3://their-models/a.tar.gz"),
            scaling=SCALING,
        )
        template = Template.from_stack(stack)
        assert custom_resources(template) == {"Custom::ScalingGuard": 2}
        assert statements(template, f"{OWN}ScalingGuardPolicy")["SeeStack"]["Resource"] == {
            "Ref": "AWS::StackId"
        }


class TestFunctions:
    @pytest.mark.parametrize(
        ("props", "needs"),
        [
            ({"scaling": SCALING}, {"Custom::ScalingGuard": 2}),
            ({"samples": SAMPLES}, {"Custom::EndpointCheck": 1}),
            ({"logs": Logs(retention_days=7)}, {"Custom::EndpointLogs": 1}),
            (
                {"model": TritonModel.multi_model("s3://zoo/all/", archives=["a"]), "warm": ["a"]},
                {"Custom::EndpointCheck": 1},
            ),
        ],
        ids=["scaling", "samples", "logs", "warm"],
    )
    def test_an_endpoint_has_those_alone_that_it_needs(
        self, props: dict[str, Any], needs: dict[str, int]
    ) -> None:
        host = Host()
        host.endpoint(**props)
        template = host.template()
        assert custom_resources(template) == needs
        (noun,) = {type.removeprefix("Custom::") for type in needs}
        functions = template.find_resources("AWS::Lambda::Function")
        assert functions and all(id.startswith(f"{OWN}{noun}") for id in functions)

    def test_a_spec_that_has_the_key_logs_asks_for_the_function(self, tmp_path: Path) -> None:
        file = tmp_path / "sentences.yaml"
        file.write_text(f"{SPEC}logs: {{retention_days: 30}}\n")
        host = Host()
        TritonEndpoint.from_spec(
            host.stack,
            "Sentences",
            spec=file,
            environment="prod",
            model_data_url="s3://their-models/a.tar.gz",
        )
        template = host.template()
        assert custom_resources(template) == {"Custom::EndpointLogs": 1}
        template.resource_count_is("AWS::Logs::QueryDefinition", 2)

    def test_an_environments_key_is_that_of_log_groups_without_a_question(self) -> None:
        host = Host()
        environment = FleetEnvironment(name="prod", kms_key=KEY)
        host.endpoint(environment=environment, instance=Instance(type="ml.c5.xlarge"), scaling=SCALING)
        template = host.template()
        assert properties(template, "Custom::EndpointLogs")["KmsKey"] == KEY
        bucket = properties(template, "AWS::S3::Bucket")
        (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert encryption["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == KEY
        assert statements(template, f"{OWN}ScalingGuardPolicy")["UseKey"]["Resource"] == KEY

    def test_cloudformation_names_all_of_them(self) -> None:
        host = Host()
        host.endpoint(scaling=SCALING, samples=SAMPLES, logs=Logs(retention_days=7))
        names = {"FunctionName", "RoleName", "BucketName", "LogGroupName", "StateMachineName"}
        resources = host.template().to_json()["Resources"].values()
        assert [
            names & resource["Properties"].keys() for resource in resources if "Properties" in resource
        ] == [set()] * len(resources)

    def test_they_see_their_own_stack_and_no_other(self) -> None:
        host = Host()
        host.endpoint(scaling=SCALING, samples=SAMPLES, logs=Logs(retention_days=7))
        template = host.template()
        for noun in ("ScalingGuard", "EndpointCheck", "EndpointLogs"):
            grants = statements(template, f"{OWN}{noun}Policy")
            assert grants["SeeStack"]["Resource"] == {"Ref": "AWS::StackId"}
            assert not {"SeeStacks", "SeeTaggedStacks"} & grants.keys()
        assert host.app.synth().get_stack_by_name("Host").tags == {}

    def test_the_boundary_of_the_environment_is_on_their_roles_and_its_tags_are_on_them(self) -> None:
        boundary = f"arn:aws:iam::{ACCOUNT}:policy/teams/boundary"
        host = Host()
        environment = FleetEnvironment(name="prod", permissions_boundary=boundary, tags={"team": "ml"})
        host.endpoint(environment=environment, scaling=SCALING)
        template = host.template()
        roles = template.find_resources("AWS::IAM::Role").values()
        assert {role["Properties"]["PermissionsBoundary"] for role in roles} == {boundary}
        functions = template.find_resources("AWS::Lambda::Function").values()
        tag = {"Key": "team", "Value": "ml"}
        assert all(tag in function["Properties"]["Tags"] for function in functions)

    def test_custom_resources_are_deployed_after_them_under_ids_that_those_of_a_support_do_not_have(
        self,
    ) -> None:
        """CloudFormation refuses another token for a custom resource."""
        ids = []
        for has_support in (False, True):
            host = Host()
            if has_support:
                host.support()
            host.endpoint(scaling=SCALING, samples=SAMPLES, logs=Logs(retention_days=7))
            resources = host.template().to_json()["Resources"]
            ids.append({id for id in resources if resources[id]["Type"].startswith("Custom::")})
            for id in ids[-1]:
                noun = resources[id]["Type"].removeprefix("Custom::")
                prefix = "Support" if has_support else OWN
                assert any(need.startswith(f"{prefix}{noun}Policy") for need in resources[id]["DependsOn"])
        assert len(ids[0]) == len(ids[1]) == 4 and not ids[0] & ids[1]


class TestBucket:
    def test_the_guard_has_a_small_one_of_its_own(self) -> None:
        host = Host()
        host.endpoint(scaling=SCALING)
        template = host.template()
        (name,) = template.find_resources("AWS::S3::Bucket")
        bucket = properties(template, "AWS::S3::Bucket")
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert "BucketEncryption" in bucket
        assert "aws:SecureTransport" in json.dumps(properties(template, "AWS::S3::BucketPolicy"))
        keep = statements(template, f"{OWN}ScalingGuardPolicy")["KeepScaling"]["Resource"]
        assert keep == {"Fn::Join": ["", ["arn:aws:s3:::", {"Ref": name}, "/scaling-guard/*"]]}
        (look,) = template.find_resources("AWS::Lambda::Function", _handler("is_complete")).values()
        assert look["Properties"]["Environment"]["Variables"]["BUCKET"] == {"Ref": name}

    def test_one_that_the_environment_names_has_archives_calls_and_scalings(self, tmp_path: Path) -> None:
        environment = tmp_path / "prod.yaml"
        environment.write_text(
            f'environment: prod\naccount: "{ACCOUNT}"\nregion: {REGION}\nartifact_bucket: their-bucket\n'
        )
        (tmp_path / "sentences.yaml").write_text(f'{SPEC}capture: {{sample: "10%"}}\n')
        (tmp_path / "sentences.lock.yaml").write_text(LOCK)
        host = Host()
        TritonEndpoint.from_spec(
            host.stack, "Sentences", spec=tmp_path / "sentences.yaml", environment=environment
        )
        host.endpoint(environment=environment, scaling=SCALING)
        template = host.template()
        template.resource_count_is("AWS::S3::Bucket", 0)
        urls = [
            model["Properties"]["PrimaryContainer"]["ModelDataUrl"]
            for model in template.find_resources("AWS::SageMaker::Model").values()
        ]
        assert f"s3://their-bucket/endpoints/sentences/{'a' * 64}.tar.gz" in urls
        guard = statements(template, f"{OWN}ScalingGuardPolicy")
        assert guard["KeepScaling"]["Resource"] == "arn:aws:s3:::their-bucket/scaling-guard/*"

    def test_captured_calls_are_of_an_artifact_bucket_alone(self) -> None:
        host = Host()
        host.endpoint(scaling=SCALING, capture=Capture(sample="10%"))
        (problem,) = host.problems()
        assert "capture: FL608 `capture` needs an artifact bucket" in problem


def _handler(entry: str) -> dict[str, Any]:
    return {"Properties": {"Handler": f"scaling_guard.handler.{entry}"}}


class TestSharing:
    def test_two_endpoints_of_one_stack_share_them(self) -> None:
        host = Host()
        host.endpoint("One", scaling=SCALING)
        host.endpoint("Two", scaling=SCALING, samples=SAMPLES)
        template = host.template()
        guards = template.find_resources("Custom::ScalingGuard").values()
        assert len(guards) == 4
        assert len({json.dumps(guard["Properties"]["ServiceToken"]) for guard in guards}) == 1
        assert len(template.find_resources("AWS::Lambda::Function", _handler("is_complete"))) == 1

    def test_two_stacks_and_a_nested_one_have_their_own(self) -> None:
        host = Host()
        host.endpoint("One", scaling=SCALING)
        host.endpoint("Two", scaling=SCALING, scope=Stack(host.app, "Other", env=HOST_ENVIRONMENT))
        nested_stack = NestedStack(host.stack, "Nested")
        host.endpoint("Three", scaling=SCALING, scope=nested_stack)
        for template in (host.template(), host.template("Other"), Template.from_stack(nested_stack)):
            assert len(template.find_resources("AWS::Lambda::Function", _handler("is_complete"))) == 1
            see = statements(template, f"{OWN}ScalingGuardPolicy")["SeeStack"]
            assert see["Resource"] == {"Ref": "AWS::StackId"}

    def test_two_environments_of_one_stack_have_their_own(self) -> None:
        host = Host()
        host.endpoint("One", scaling=SCALING)
        host.endpoint("Two", scaling=SCALING, environment="dev")
        guards = host.template().find_resources("Custom::ScalingGuard").values()
        assert len({json.dumps(guard["Properties"]["ServiceToken"]) for guard in guards}) == 2

    def test_two_descriptions_of_one_environment_are_an_error_for_those_who_share(self) -> None:
        host = Host()
        host.endpoint("One", scaling=SCALING)
        other_environment = FleetEnvironment(name="prod", tags={"team": "ml"})
        host.endpoint("Plain", environment=other_environment)
        host.endpoint("Two", scaling=SCALING, environment=other_environment)
        (problem,) = host.problems()
        assert problem.startswith(
            "[Host/Two] FL608 `environment` 'prod' has another key, boundary, bucket or"
        )
        assert "Host/One" in problem


class TestLateSupport:
    @pytest.mark.parametrize("kind", ["declared", "deployed"])
    def test_it_is_an_error_that_names_the_endpoint(self, kind: str) -> None:
        host = Host()
        host.endpoint()
        if kind == "declared":
            host.support()
        else:
            EndpointSupport.from_environment(host.stack, "Support", environment="prod")
        (problem,) = host.problems()
        assert problem.startswith(
            "[Host/Support] FL608 Host/Embeddings of environment 'prod' is declared before"
        )
        assert "declare the support first" in problem and "`support=`" in problem

    def test_after_alarms_that_looked_for_topics_it_is_one_too(self) -> None:
        host = Host()
        legacy = TritonEndpoint.from_endpoint_name(host.stack, "Legacy", "legacy")
        TritonAlarms(host.stack, "Alarms", endpoint=legacy, environment="prod")
        host.support()
        (problem,) = host.problems()
        assert problem.startswith("[Host/Support] FL608 Host/Alarms of environment 'prod'")

    def test_of_another_environment_or_region_it_is_none(self) -> None:
        host = Host()
        host.endpoint()
        host.support(environment="dev")
        EndpointSupport(
            Stack(host.app, "West", env={"account": ACCOUNT, "region": "us-west-2"}),
            "Support",
            environment="prod",
        )
        assert host.problems() == []
