"""Members that users of the CDK expect of an endpoint: grants, metrics, alarm actions, tags, aspects, references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsii
import pytest
from aws_cdk import Aspects, CfnResource, IAspect, Stack, Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import IConstruct

from fleet_emulator.stacks.resources import in_dependency_order
from tests.synth.library.host import ACCOUNT, HOST_ENVIRONMENT, REGION, Host, properties, statements
from tests.synth.resources import notified_topics
from triton_endpoints import TritonEndpoint
from triton_endpoints.library.reference import EndpointReference

ARN = {
    "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":sagemaker:{REGION}:{ACCOUNT}:endpoint/bert-qa"]]
}
METRICS: dict[Callable[[EndpointReference], cloudwatch.Metric], tuple[str, str, str]] = {
    lambda item: item.metric_invocations(): ("AWS/SageMaker", "Invocations", "Sum"),
    lambda item: item.metric_invocations_per_instance(): ("AWS/SageMaker", "InvocationsPerInstance", "Sum"),
    lambda item: item.metric_invocation_4xx_errors(): ("AWS/SageMaker", "Invocation4XXErrors", "Sum"),
    lambda item: item.metric_invocation_5xx_errors(): ("AWS/SageMaker", "Invocation5XXErrors", "Sum"),
    lambda item: item.metric_model_latency(statistic="p99"): ("AWS/SageMaker", "ModelLatency", "p99"),
    lambda item: item.metric_overhead_latency(): ("AWS/SageMaker", "OverheadLatency", "Average"),
    lambda item: item.metric_gpu_utilization(): ("/aws/sagemaker/Endpoints", "GPUUtilization", "Average"),
    lambda item: item.metric_gpu_memory_utilization(): (
        "/aws/sagemaker/Endpoints",
        "GPUMemoryUtilization",
        "Average",
    ),
    lambda item: item.metric_cpu_utilization(): ("/aws/sagemaker/Endpoints", "CPUUtilization", "Average"),
    lambda item: item.metric_memory_utilization(): (
        "/aws/sagemaker/Endpoints",
        "MemoryUtilization",
        "Average",
    ),
    lambda item: item.metric_disk_utilization(): ("/aws/sagemaker/Endpoints", "DiskUtilization", "Average"),
    lambda item: item.metric("loaded_model_count"): (
        "/aws/sagemaker/Endpoints",
        "LoadedModelCount",
        "Average",
    ),
}


def caller(stack: Stack) -> lambda_.Function:
    return lambda_.Function(
        stack,
        "Caller",
        runtime=lambda_.Runtime.PYTHON_3_14,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): pass"),
        role=iam.Role(stack, "CallerRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")),
    )


class TestGrants:
    def test_who_may_invoke_may_invoke_this_endpoint_alone(self) -> None:
        host = Host()
        host.support()
        endpoint = host.endpoint()
        function = caller(host.stack)
        endpoint.grant_invoke(function)
        function.add_environment("ENDPOINT", endpoint.endpoint_name)
        template = host.template()
        (served,) = template.find_resources("AWS::SageMaker::Endpoint")
        granted_actions = statements(template, "CallerRole")["sagemaker:InvokeEndpoint"]
        assert granted_actions == {
            "Action": "sagemaker:InvokeEndpoint",
            "Effect": "Allow",
            "Resource": {"Ref": served},
        }
        variables = properties(template, "AWS::Lambda::Function", "Caller")["Environment"]["Variables"]
        assert variables == {"ENDPOINT": {"Fn::GetAtt": [served, "EndpointName"]}}

    def test_other_constructs_grant_to_its_role(self) -> None:
        host = Host()
        host.support()
        topic = sns.Topic.from_topic_arn(host.stack, "Topic", f"arn:aws:sns:{REGION}:{ACCOUNT}:results")
        topic.grant_publish(host.endpoint())
        (granted_statement,) = statements(host.template(), "EmbeddingsExecutionRole").values()
        assert (granted_statement["Action"], granted_statement["Resource"]) == (
            "sns:Publish",
            f"arn:aws:sns:{REGION}:{ACCOUNT}:results",
        )


class TestImported:
    def test_an_endpoint_by_its_name_is_granted_by_its_arn_in_lower_case(self) -> None:
        host = Host()
        endpoint = TritonEndpoint.from_endpoint_name(host.stack, "Bert", "BERT-qa")
        assert endpoint.endpoint_name == "BERT-qa"
        endpoint.grant_invoke(caller(host.stack))
        granted_actions = statements(host.template(), "CallerRole")["sagemaker:InvokeEndpoint"]
        assert granted_actions["Resource"] == ARN

    @pytest.mark.parametrize(
        ("product", "expected_value"), METRICS.items(), ids=[metric[1] for metric in METRICS.values()]
    )
    def test_metrics_are_of_the_endpoints_variant(
        self, product: Callable[[EndpointReference], cloudwatch.Metric], expected_value: tuple[str, str, str]
    ) -> None:
        host = Host()
        metric = product(TritonEndpoint.from_endpoint_name(host.stack, "Bert", "bert"))
        assert (metric.namespace, metric.metric_name, metric.statistic) == expected_value
        assert metric.dimensions == {"EndpointName": "bert", "VariantName": "AllTraffic"}

    def test_a_metric_that_sagemaker_does_not_have_is_refused(self) -> None:
        endpoint = TritonEndpoint.from_endpoint_name(Host().stack, "Bert", "bert")
        with pytest.raises(ValueError, match="SageMaker has no metric 'latency' of an endpoint"):
            endpoint.metric("latency")


class TestAlarmActions:
    def test_without_actions_alarms_notify_the_supports_topics(self) -> None:
        host = Host()
        host.support()
        host.endpoint()
        template = host.template()
        for id, alarm in alarms(template).items():
            (topic,) = alarm["AlarmActions"]
            assert topic["Ref"].startswith(
                f"SupportAlarmTopics{'Critical' if 'Critical' in id else 'Warning'}"
            )

    def test_in_another_stack_they_find_the_topics_by_the_parameter_store(self) -> None:
        host = Host()
        host.support(Stack(host.app, "Shared", env=HOST_ENVIRONMENT))
        host.endpoint()
        template = host.template()
        named_topics = {
            topic
            for alarm in alarms(template).values()
            for topic in notified_topics(template.to_json(), alarm)
        }
        assert named_topics == {
            f"/triton-fleet/prod/alarm-topic/{severity}" for severity in ("warning", "critical")
        }

    def test_any_action_replaces_the_topics_for_alarms_and_their_end(self) -> None:
        host = Host()
        host.support()
        page = sns.Topic.from_topic_arn(host.stack, "Page", f"arn:aws:sns:{REGION}:{ACCOUNT}:page")
        function = caller(host.stack)
        host.endpoint(
            alarm_actions={
                "critical": [actions.SnsAction(page), actions.LambdaAction(function)],
                "warning": [],
            }
        )
        template = host.template()
        for id, alarm in alarms(template).items():
            if "Critical" not in id:
                assert not alarm.get("AlarmActions")
                continue
            assert alarm["AlarmActions"] == alarm["OKActions"]
            assert alarm["AlarmActions"][0] == f"arn:aws:sns:{REGION}:{ACCOUNT}:page"
            assert alarm["AlarmActions"][1]["Fn::GetAtt"][0].startswith("Caller")
        template.resource_count_is("AWS::Lambda::Permission", 1)

    def test_an_action_may_call_the_endpoint_whose_alarm_it_is_of(self) -> None:
        host = Host()
        host.support()
        function = caller(host.stack)
        calls = {"critical": [actions.LambdaAction(function)], "warning": []}
        host.endpoint(alarm_actions=calls).grant_invoke(function)
        resources = host.template().to_json()["Resources"]
        assert len(in_dependency_order(resources)) == len(resources), "CloudFormation refuses circles"

    def test_one_list_is_what_all_alarms_do(self) -> None:
        host = Host()
        host.support()
        page = sns.Topic.from_topic_arn(host.stack, "Page", f"arn:aws:sns:{REGION}:{ACCOUNT}:page")
        host.endpoint(alarm_actions=[actions.SnsAction(page)])
        assert {str(alarm["AlarmActions"]) for alarm in alarms(host.template()).values()} == {
            f"['arn:aws:sns:{REGION}:{ACCOUNT}:page']"
        }

    def test_its_alarms_are_those_of_composite_alarms(self) -> None:
        host = Host()
        host.support()
        endpoint = host.endpoint()
        rule = cloudwatch.AlarmRule.any_of(*endpoint.alarms)
        assert endpoint.alarms == endpoint.alarms
        cloudwatch.CompositeAlarm(host.stack, "Any", alarm_rule=rule)
        host.template().resource_count_is("AWS::CloudWatch::CompositeAlarm", 1)


def alarms(template: Any) -> dict[str, Any]:
    resources = template.find_resources("AWS::CloudWatch::Alarm")
    return {id: resource["Properties"] for id, resource in resources.items() if "Alarms" in id}


@jsii.implements(IAspect)
class Retain:
    """An aspect of the app: every Model is kept."""

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, CfnResource) and node.cfn_resource_type == "AWS::SageMaker::Model":
            node.add_metadata("seen", "by the aspect")


class TestTagsAndAspects:
    def test_what_it_declares_has_the_tags_by_which_the_functions_may_touch_it(self) -> None:
        """The functions' policies are conditional on the environment's tag: an endpoint without it is nobody's."""
        host = Host()
        host.support()
        host.endpoint()
        template = host.template()
        call = statements(template, "SupportEndpointCheck")["CallEndpoints"]
        assert call["Condition"] == {
            "StringEqualsIfExists": {"aws:ResourceTag/triton-fleet:environment": "prod"}
        }
        for kind in ("AWS::SageMaker::Endpoint", "AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model"):
            assert tags_of(properties(template, kind)) == {
                "triton-fleet:environment": "prod",
                "triton-fleet:endpoint": "embeddings",
            }
        for bucket in template.find_resources("AWS::S3::Bucket").values():
            assert tags_of(bucket["Properties"])["triton-fleet:environment"] == "prod"

    def test_an_apps_tag_reaches_every_resource_and_the_log_groups(self) -> None:
        host = Host()
        host.support()
        host.endpoint()
        Tags.of(host.app).add("cost-centre", "7")
        template = host.template()
        assert tags_of(properties(template, "AWS::SageMaker::Endpoint"))["cost-centre"] == "7"
        assert properties(template, "Custom::EndpointLogs")["Tags"]["cost-centre"] == "7"

    def test_no_tag_of_the_app_takes_the_endpoint_from_its_environment(self) -> None:
        host = Host()
        host.support()
        endpoint = host.endpoint()
        Tags.of(endpoint).add("triton-fleet:environment", "other")
        Tags.of(host.app).remove("triton-fleet:environment")
        tags = tags_of(properties(host.template(), "AWS::SageMaker::Endpoint"))
        assert tags["triton-fleet:environment"] == "prod"

    def test_an_aspect_of_the_app_reaches_its_resources(self) -> None:
        host = Host()
        host.support()
        host.endpoint()
        Aspects.of(host.app).add(Retain())
        (model,) = host.template().find_resources("AWS::SageMaker::Model").values()
        assert model["Metadata"]["seen"] == "by the aspect"


def tags_of(resource: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in resource["Tags"]}
