"""Alarms, scaling and a dashboard beside an endpoint that is deployed elsewhere; a Model; engine builds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template

from tests.synth.library.host import ACCOUNT, DATA, REGION, Host, properties, statements
from triton_endpoints import (
    Alarms,
    Container,
    EngineBuilds,
    FleetEnvironment,
    ImportedEndpoint,
    Instance,
    SageMakerModel,
    Scaling,
    TritonAlarms,
    TritonDashboard,
    TritonEndpoint,
    TritonEndpointConfig,
    TritonModel,
    TritonRole,
    TritonScaling,
    Variant,
)

ENDPOINT_ATTRIBUTES: dict[str, Any] = {
    "endpoint_name": "ranking",
    "triton": "25.04",
    "instance": Instance(type="ml.g5.xlarge"),
    "model": TritonModel.single(DATA, default_model="ranking"),
    "environment": "prod",
}
SCALING = Scaling(min=1, max=4).scale_on_invocations(600).scale_on_gpu_utilization(60)


def import_endpoint(host: Host, **props: Any) -> ImportedEndpoint:
    return ImportedEndpoint(host.stack, "Ranking", **{**ENDPOINT_ATTRIBUTES, **props})


def page(host: Host) -> actions.SnsAction:
    return actions.SnsAction(sns.Topic(host.stack, "Page", enforce_ssl=True))


class TestAlarms:
    def test_they_are_those_of_a_spec_and_take_their_own_actions(self) -> None:
        host = Host()
        alarms = TritonAlarms(
            host.stack,
            "Alarms",
            endpoint=import_endpoint(host),
            alarms=Alarms(latency_p99="200ms", memory=None),
            alarm_actions=[page(host)],
        )
        template = host.template()
        latency = properties(template, "AWS::CloudWatch::Alarm", "AlarmsLatencyP99")
        assert latency["Threshold"] == 200_000
        value = latency["Metrics"][-1]["MetricStat"]["Metric"]
        assert value["MetricName"] == "ModelLatency"
        assert {"Name": "EndpointName", "Value": "ranking"} in value["Dimensions"]
        assert [list(alarm_action) for alarm_action in latency["AlarmActions"]] == [["Ref"]]
        assert len(alarms.alarms) == len(template.find_resources("AWS::CloudWatch::Alarm"))
        template.resource_count_is("AWS::SageMaker::Endpoint", 0)

    def test_without_actions_the_topics_of_the_support_are_theirs(self) -> None:
        host = Host()
        support = host.support()
        TritonAlarms(host.stack, "Alarms", endpoint=import_endpoint(host, support=support, environment=None))
        alarm = next(iter(host.template().find_resources("AWS::CloudWatch::Alarm").values()))
        assert alarm["Properties"]["AlarmActions"][0]["Ref"].startswith("SupportAlarmTopics")

    def test_without_actions_and_a_support_they_notify_nobody_and_say_so(self) -> None:
        host = Host()
        TritonAlarms(host.stack, "Alarms", endpoint=import_endpoint(host))
        alarm = next(iter(host.template().find_resources("AWS::CloudWatch::Alarm").values()))
        assert alarm["Properties"]["AlarmActions"] == []
        text = Match.string_like_regexp("FL617 the alarms notify nobody")
        assert len(Annotations.from_stack(host.stack).find_warning("/Host/Alarms", text)) == 1

    def test_a_threshold_that_a_spec_cannot_have_is_told_at_their_path(self) -> None:
        host = Host()
        TritonAlarms(
            host.stack,
            "Alarms",
            endpoint=import_endpoint(host),
            alarms=Alarms(latency_p99="200 fortnights"),
            alarm_actions=[page(host)],
        )
        (problem,) = host.problems()
        assert problem.startswith("[Host/Alarms] alarms.latency_p99: FL112")


class TestScaling:
    def test_it_is_that_of_a_spec(self) -> None:
        host = Host()
        TritonScaling(host.stack, "Scaling", endpoint=import_endpoint(host), scaling=SCALING)
        template = host.template()
        target = properties(template, "AWS::ApplicationAutoScaling::ScalableTarget")
        assert target["ResourceId"] == "endpoint/ranking/variant/AllTraffic"
        assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
        template.resource_count_is("AWS::ApplicationAutoScaling::ScalingPolicy", 2)

    def test_the_rules_know_the_instance_that_is_described(self) -> None:
        host = Host()
        cpu = import_endpoint(host, instance=Instance(type="ml.c5.xlarge"))
        TritonScaling(host.stack, "Scaling", endpoint=cpu, scaling=SCALING)
        (problem,) = host.problems()
        assert problem.startswith("[Host/Scaling] scaling.gpu_utilization: FL")


def test_an_endpoint_of_which_only_the_name_is_known_is_scaled_in_a_stack_without_a_region() -> None:
    stack = Stack()
    endpoint = TritonEndpoint.from_endpoint_name(stack, "Ranking", "ranking")
    TritonScaling(stack, "Scaling", endpoint=endpoint, scaling=Scaling(min=1, max=4).scale_on_invocations(9))
    Template.from_stack(stack).resource_count_is("AWS::ApplicationAutoScaling::ScalingPolicy", 1)


def test_a_dashboard_shows_the_endpoint_with_its_thresholds() -> None:
    host = Host()
    TritonDashboard(
        host.stack,
        "Dashboard",
        endpoint=import_endpoint(host),
        alarms=Alarms(latency_p99="200ms"),
        scaling=SCALING,
    )
    body = properties(host.template(), "AWS::CloudWatch::Dashboard")["DashboardBody"]
    text = body if isinstance(body, str) else json.dumps(body)
    assert "ranking" in text and "AllTraffic" in text and "200" in text


class TestModel:
    def test_it_stands_without_an_endpoint_of_ours(self) -> None:
        host = Host()
        vpc = ec2.Vpc(host.stack, "Vpc", flow_logs={"All": ec2.FlowLogOptions()})
        model = SageMakerModel(
            host.stack, "Model", container=Container(thread_count=16), vpc=vpc, **ENDPOINT_ATTRIBUTES
        )
        sagemaker.CfnEndpointConfig(
            host.stack,
            "Config",
            kms_key_id="alias/theirs",
            production_variants=[
                sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                    variant_name="one", model_name=model.model_name, initial_variant_weight=1
                )
            ],
        )
        iam.Grant.add_to_principal(
            grantee=model,
            actions=["s3:GetObject"],
            resource_arns=["arn:aws:s3:::theirs/labels.txt"],
            scope=host.stack,
        )
        template = host.template()
        container = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]
        assert container["Environment"]["SAGEMAKER_TRITON_THREAD_COUNT"] == "16"
        assert (
            statements(template, "ModelRole")["ReadArchives"]["Resource"]
            == "arn:aws:s3:::their-models/embed/model.tar.gz"
        )
        variant = properties(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0]
        assert variant["ModelName"]["Fn::GetAtt"][0].startswith("Model")
        assert len(model.connections.security_groups) == 1
        template.resource_count_is("AWS::SageMaker::Endpoint", 0)

    def test_the_rules_judge_it_at_its_path(self) -> None:
        host = Host()
        old = Instance(type="ml.g4dn.xlarge", ami="al2-ami-sagemaker-inference-gpu-2")
        model = SageMakerModel(
            host.stack, "Model", **{**ENDPOINT_ATTRIBUTES, "instance": old, "triton": "25.12"}
        )
        assert model.role is not None
        problems = host.problems()
        assert all(problem.startswith("[Host/Model] instance.ami: FL2") for problem in problems) and problems


class TestEngineBuilds:
    def test_they_stand_without_a_support_and_may_notify_a_topic_of_the_app(self) -> None:
        host = Host()
        topic = sns.Topic(host.stack, "Page", enforce_ssl=True)
        environment = FleetEnvironment(name="prod", engine_builds={"timeout": "2h"})
        EngineBuilds(host.stack, "Engines", environment=environment, failures=topic)
        template = host.template()
        projects = template.find_resources("AWS::CodeBuild::Project").values()
        assert {project["Properties"]["Name"] for project in projects} == {
            "triton-fleet-prod-engines-job",
        }
        policy = properties(template, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
        assert {"Service": "events.amazonaws.com"} in [entry["Principal"] for entry in policy]
        policies = json.dumps(template.find_resources("AWS::IAM::Policy"))
        assert f"arn:aws:s3:::triton-fleet-prod-{ACCOUNT}-{REGION}/engines/jobs/*" in policies

    def test_two_of_an_environment_are_a_mistake(self) -> None:
        host = Host()
        topic = sns.Topic(host.stack, "Page", enforce_ssl=True)
        host.support()
        EngineBuilds(host.stack, "Engines", environment="prod", failures=topic)
        (problem,) = host.problems()
        assert problem.startswith(
            "[Host/Engines] FL613 Host/Support declares the engine builds of environment"
        )
        assert "engine_builds=False" in problem


def a_cfn_endpoint(host: Host) -> sagemaker.CfnEndpoint:
    return sagemaker.CfnEndpoint(host.stack, "Cfn", endpoint_config_name="by-hand")


ENDPOINTS: dict[str, Any] = {
    "a CfnEndpoint": a_cfn_endpoint,
    "an endpoint of the CDK's": lambda host: TritonEndpoint.from_endpoint_name(
        host.stack, "Other", "ranking"
    ),
    "a TritonEndpoint": lambda host: host.endpoint(support=host.support()),
}


@pytest.mark.parametrize("kind", ENDPOINTS)
class TestAnyEndpoint:
    def test_it_is_scaled_after_it_exists(self, kind: str) -> None:
        host = Host(is_audited=False)
        endpoint = ENDPOINTS[kind](host)
        scaling = Scaling(min=1, max=4).scale_on_invocations(600)
        TritonScaling(host.stack, "Scaling", endpoint=endpoint, scaling=scaling, variant="Main")
        template = host.template()
        ((_, target),) = template.find_resources("AWS::ApplicationAutoScaling::ScalableTarget").items()
        assert json.dumps(target["Properties"]["ResourceId"]).endswith('/variant/Main"]]}') or (
            target["Properties"]["ResourceId"] == "endpoint/ranking/variant/Main"
        )
        endpoints = template.find_resources("AWS::SageMaker::Endpoint")
        assert set(endpoints) <= set(target.get("DependsOn", []))

    def test_it_has_alarms_and_a_dashboard_that_takes_widgets(self, kind: str) -> None:
        host = Host(is_audited=False)
        endpoint = ENDPOINTS[kind](host)
        own = cloudwatch.TextWidget(markdown="Whom to call", height=2)
        TritonAlarms(host.stack, "Own", endpoint=endpoint, alarm_actions=[page(host)])
        TritonDashboard(host.stack, "Dashboard", endpoint=endpoint, widgets=[own])
        template = host.template()
        bodies = [
            json.dumps(dashboard["Properties"]["DashboardBody"])
            for dashboard in template.find_resources("AWS::CloudWatch::Dashboard").values()
        ]
        assert [body for body in bodies if "Whom to call" in body and "ModelLatency" in body]
        assert [id for id in template.find_resources("AWS::CloudWatch::Alarm") if id.startswith("Own")]

    def test_a_target_for_all_gpus_needs_the_instance_type(self, kind: str) -> None:
        host = Host(is_audited=False)
        endpoint = ENDPOINTS[kind](host)
        scaling = Scaling(min=1, max=4).scale_on_gpu_utilization(60)
        TritonScaling(host.stack, "Scaling", endpoint=endpoint, scaling=scaling)
        (problem,) = host.problems()
        assert problem.startswith("[Host/Scaling] FL616 ") and "instance.type" in problem
        host = Host(is_audited=False)
        TritonScaling(
            host.stack,
            "Scaling",
            endpoint=ENDPOINTS[kind](host),
            scaling=scaling,
            instance_type="ml.g5.12xlarge",
        )
        policy = properties(host.template(), "AWS::ApplicationAutoScaling::ScalingPolicy", "Scaling")
        assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 240


class TestEndpointConfig:
    def test_its_variants_have_what_the_releases_of_their_models_need(self) -> None:
        host = Host(is_audited=False)
        role = TritonRole(host.stack, "Role")
        shared_props = {**ENDPOINT_ATTRIBUTES, "role": role}
        old = SageMakerModel(host.stack, "Old", **shared_props)
        new = SageMakerModel(host.stack, "New", **{**shared_props, "triton": "25.12"})
        config = TritonEndpointConfig(
            host.stack,
            "Config",
            variants=[
                Variant(model=old, name="Old", weight=9),
                Variant(model=new, name="New", startup=Duration.minutes(20)),
            ],
        )
        sagemaker.CfnEndpoint(host.stack, "Endpoint", endpoint_config_name=config.endpoint_config_name)
        template = host.template()
        first, second = properties(template, "AWS::SageMaker::EndpointConfig")["ProductionVariants"]
        assert (first["VariantName"], first["InitialVariantWeight"], second["InitialVariantWeight"]) == (
            "Old",
            9,
            1,
        )
        assert second["ContainerStartupHealthCheckTimeoutInSeconds"] == 1200
        assert first["InferenceAmiVersion"] != second["InferenceAmiVersion"]
        (name,) = [id for id in template.find_resources("AWS::IAM::Role") if id.startswith("Role")]
        models = template.find_resources("AWS::SageMaker::Model").values()
        arn = {"Fn::GetAtt": [name, "Arn"]}
        assert [model["Properties"]["ExecutionRoleArn"] for model in models] == [arn, arn]

    def test_a_wrong_model_is_reported_at_its_own_path(self) -> None:
        host = Host(is_audited=False)
        model = SageMakerModel(host.stack, "Model", **{**ENDPOINT_ATTRIBUTES, "triton": "1.2"})
        TritonEndpointConfig(host.stack, "Config", variants=[Variant(model=model)])
        (problem,) = host.problems()
        assert problem.startswith("[Host/Model] triton: FL112")


def test_builds_of_engines_can_be_started_by_whom_the_app_allows() -> None:
    host = Host(is_audited=False)
    builds = EngineBuilds(host.stack, "Engines", environment="prod", failures=sns.Topic(host.stack, "Page"))
    caller = iam.Role(host.stack, "Caller", assumed_by=iam.AccountRootPrincipal())
    builds.grant_start(caller)
    (statement,) = properties(host.template(), "AWS::IAM::Policy", "Caller")["PolicyDocument"]["Statement"]
    assert "codebuild:StartBuild" in statement["Action"]
    assert "project/" in json.dumps(statement["Resource"])
