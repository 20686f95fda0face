"""Our constructs beside those of others: grants from other stacks, tokens, overrides, stages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jsii
import pytest
from aws_cdk import App, Aspects, CfnResource, Duration, IAspect, Stack, Stage
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_ssm as ssm
from aws_cdk.assertions import Template
from constructs import IConstruct

from tests.support.fleet_folder import ROOT
from tests.synth.library.host import DATA, HOST_ENVIRONMENT, Host, a_model, properties
from triton_endpoints import (
    Alarms,
    EndpointSupport,
    ImportedEndpoint,
    Instance,
    Rollout,
    Scaling,
    TritonDashboard,
    TritonEndpoint,
    TritonModel,
    TritonRole,
)

GRANTS: dict[str, Any] = {
    "bucket": lambda stack, grantee: s3.Bucket(stack, "Given", enforce_ssl=True).grant_read(grantee),
    "key": lambda stack, grantee: kms.Key(stack, "Given", enable_key_rotation=True).grant_decrypt(grantee),
    "topic": lambda stack, grantee: sns.Topic(stack, "Given", enforce_ssl=True).grant_publish(grantee),
    "queue": lambda stack, grantee: sqs.Queue(stack, "Given", enforce_ssl=True).grant_send_messages(grantee),
    "secret": lambda stack, grantee: secretsmanager.Secret(stack, "Given").grant_read(grantee),
    "repository": lambda stack, grantee: ecr.Repository(stack, "Given").grant_pull(grantee),
}


@pytest.mark.parametrize("kind", GRANTS)
def test_a_grant_of_another_stack_is_a_policy_of_the_role_alone(kind: str) -> None:
    host = Host(is_audited=False)
    host.support()
    endpoint = host.endpoint()
    second_stack = Stack(host.app, "Other", env=HOST_ENVIRONMENT)
    assert GRANTS[kind](second_stack, endpoint).success
    assert "Fn::ImportValue" not in json.dumps(host.template("Other").to_json())
    policies = host.template().find_resources("AWS::IAM::Policy")
    grants = [name for name in policies if name.startswith("EmbeddingsExecutionRole")]
    assert len(grants) == 1


@pytest.mark.parametrize("kind", ["endpoint", "model"])
def test_the_model_waits_for_what_is_granted_to_its_role(kind: str) -> None:
    host = Host(is_audited=False)
    host.support()
    grantee: Any = host.endpoint() if kind == "endpoint" else a_model(host)
    s3.Bucket(host.stack, "Words", enforce_ssl=True).grant_read(grantee)
    (model,) = host.template().find_resources("AWS::SageMaker::Model").values()
    assert any("ExecutionRolePolicy" in name for name in model["DependsOn"])


@pytest.mark.parametrize("kind", ["endpoint", "model"])
def test_the_model_waits_for_what_a_given_role_is_granted(kind: str) -> None:
    host = Host(is_audited=False)
    host.support()
    role = TritonRole(host.stack, "Shared")
    s3.Bucket(host.stack, "Words", enforce_ssl=True).grant_read(role)
    _ = host.endpoint(role=role) if kind == "endpoint" else a_model(host, role=role)
    (model,) = host.template().find_resources("AWS::SageMaker::Model").values()
    assert any(name.startswith("SharedDefaultPolicy") for name in model["DependsOn"])


def test_the_parts_of_an_endpoint_are_all_its_resources() -> None:
    host = Host(is_audited=False)
    host.support()
    endpoint = host.endpoint(
        instance=Instance(type="ml.g5.xlarge", count=2),
        scaling=Scaling(min=2, max=4).scale_on_invocations(600),
        rollout=Rollout(strategy="canary", canary="50%", rollback_on=["errors"]),
    )
    parts = [
        item.node.path
        for value in vars(endpoint.parts).values()
        for item in (value if isinstance(value, tuple) else (value,))
        if item is not None
    ]
    resources = [item.node.path for item in endpoint.node.find_all() if isinstance(item, CfnResource)]
    assert sorted(parts) == sorted(resources)


def test_an_endpoint_whose_name_the_deploy_decides_is_granted_by_that_name() -> None:
    host = Host(is_audited=False)
    name = ssm.StringParameter.value_for_string_parameter(host.stack, "/ml/endpoint")
    caller = iam.Role(host.stack, "Caller", assumed_by=iam.AccountRootPrincipal())
    TritonEndpoint.from_endpoint_name(host.stack, "Search", name).grant_invoke(caller)
    resource = properties(host.template(), "AWS::IAM::Policy", "Caller")["PolicyDocument"]["Statement"][0][
        "Resource"
    ]
    assert "token" not in json.dumps(resource).lower()
    (parameter,) = host.template().find_parameters("*", {"Default": "/ml/endpoint"})
    assert {"Ref": parameter} in resource["Fn::Join"][1]


DEPRECATION = """
from aws_cdk import aws_iam as iam
from tests.support.fleet_folder import ROOT
from tests.synth.library.host import a_model, Host
host = Host(is_audited=False)
host.support()
host.endpoint().grant_invoke(iam.Role(host.stack, "Caller", assumed_by=iam.AccountRootPrincipal()))
"""


def test_grants_use_nothing_that_the_cdk_calls_deprecated() -> None:
    environment = {**os.environ, "JSII_DEPRECATED": "fail"}
    command = [sys.executable, "-c", DEPRECATION]
    result = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-800:]


def test_a_severity_that_does_not_exist_is_refused_and_mutes_no_alarm() -> None:
    host = Host(is_audited=False)
    host.support()
    page = actions.SnsAction(sns.Topic(host.stack, "Page", enforce_ssl=True))
    host.endpoint(alarm_actions={"critcal": [page]})
    (problem,) = host.problems()
    assert problem == (
        "[Host/Embeddings] alarm_actions.critcal: FL110 unknown key `alarm_actions.critcal`;"
        " remedy: did you mean `critical`?"
    )


def test_an_action_that_is_not_in_a_list_is_refused_at_its_prop() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(alarm_actions=actions.SnsAction(sns.Topic(host.stack, "Page", enforce_ssl=True)))
    (problem,) = host.problems()
    assert problem.startswith("[Host/Embeddings] alarm_actions: FL112 `alarm_actions` is a SnsAction")
    assert problem.endswith("it must be a list of IAlarmAction or a mapping; remedy: put it in a list")


@pytest.mark.parametrize("kind", ["endpoint", "model"])
def test_connections_without_a_vpc_are_refused(kind: str) -> None:
    host = Host(is_audited=False)
    host.support()
    connectable: Any = host.endpoint() if kind == "endpoint" else a_model(host)
    with pytest.raises(ValueError, match=r"Host/\w+ has no security groups: give it a `vpc`"):
        _ = connectable.connections


def test_a_threshold_takes_a_duration_below_a_second() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(alarms=Alarms(latency_p99=Duration.millis(200)))
    assert (
        properties(host.template(), "AWS::CloudWatch::Alarm", "EmbeddingsAlarmsLatencyP99")["Threshold"]
        == 200_000
    )


def test_the_parts_of_a_wrong_endpoint_raise_its_own_findings() -> None:
    host = Host(is_audited=False)
    host.support()
    endpoint = host.endpoint(instance=Instance(type="ml.g5.large"))
    with pytest.raises(ValueError, match=r"\[Host/Embeddings\] instance.type: FL203 .*ml.g5.large"):
        _ = endpoint.parts.endpoint


def test_what_a_wrong_support_declares_raises_its_own_findings() -> None:
    host = Host(is_audited=False)
    support = host.support(environment="Prod")
    endpoint = host.endpoint(environment=None, support=support)
    looks: list[Callable[[], object]] = [
        lambda: support.bucket,
        lambda: support.alarm_topic("warning"),
        lambda: endpoint.parts,
    ]
    for look in looks:
        with pytest.raises(ValueError, match=r"\[Host/Support\] environment.*FL112"):
            look()


def test_a_multi_model_endpoint_refuses_a_default_model() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(
        model=TritonModel(model_data_url="s3://their-models/zoo/", archives=("a",), default_model="a")
    )
    (problem,) = host.problems()
    assert problem.startswith("[Host/Embeddings] model.default_model: FL")


class TestStages:
    def test_an_endpoint_uses_no_support_of_another_stage_but_functions_of_its_own_stack(self) -> None:
        host = Host(is_audited=False)
        host.support(stage_stack(host.app, "First"))
        host.endpoint(
            scope=stage_stack(host.app, "Second"), scaling=Scaling(min=1, max=2).scale_on_invocations(600)
        )
        (stack,) = host.app.synth().get_nested_assembly("assembly-Second").stacks
        template = Template.from_json(stack.template)
        token = properties(template, "Custom::ScalingGuard", "EmbeddingsUpdateBefore")["ServiceToken"]
        assert token["Fn::GetAtt"][0].startswith("TritonFunctionsprodScalingGuard")
        assert stack.tags == {}

    def test_it_finds_a_deployed_one_of_its_own_stage(self) -> None:
        host = Host(is_audited=False)
        host.support(stage_stack(host.app, "First"))
        models = stage_stack(host.app, "Second")
        EndpointSupport.from_environment(models, "Deployed", environment="prod")
        host.endpoint(scope=models)
        assembly = host.app.synth().get_nested_assembly("assembly-Second")
        (stack,) = assembly.stacks
        assert "AWS::SageMaker::Endpoint" in json.dumps(stack.template)

    def test_two_stages_of_one_account_and_region_cannot_both_declare_it(self) -> None:
        host = Host(is_audited=False)
        host.support(stage_stack(host.app, "First"))
        host.support(stage_stack(host.app, "Second"))
        (problem,) = host.problems()
        assert problem.startswith("[Second/Models/Support] FL610 First/Models/Support is the support")


def stage_stack(app: App, name: str) -> Stack:
    return Stack(Stage(app, name, env=HOST_ENVIRONMENT), "Models")


def test_a_dashboard_of_an_endpoint_made_by_hand_shows_no_metrics_that_nobody_publishes() -> None:
    host = Host(is_audited=False)
    legacy = ImportedEndpoint(
        host.stack,
        "Legacy",
        environment="prod",
        endpoint_name="legacy",
        triton="25.04",
        instance=Instance(type="ml.g5.xlarge"),
        model=TritonModel.single(DATA, default_model="embed"),
    )
    TritonDashboard(host.stack, "Dashboard", endpoint=legacy)
    body = json.dumps(properties(host.template(), "AWS::CloudWatch::Dashboard"))
    assert "AWS/SageMaker" in body and "TritonFleet/legacy" not in body


@jsii.implements(IAspect)
class _TerminateLater:
    """The app's own aspect, which changes how endpoints are updated."""

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, sagemaker.CfnEndpoint):
            node.deployment_config = sagemaker.CfnEndpoint.DeploymentConfigProperty(
                rolling_update_policy=sagemaker.CfnEndpoint.RollingUpdatePolicyProperty(
                    maximum_batch_size=sagemaker.CfnEndpoint.CapacitySizeProperty(
                        type="INSTANCE_COUNT", value=1
                    ),
                    wait_interval_in_seconds=600,
                )
            )


def _exclude_capture(endpoint: TritonEndpoint) -> None:
    endpoint.parts.endpoint.retain_all_variant_properties = False


def _add_aspect(endpoint: TritonEndpoint) -> None:
    Aspects.of(endpoint.node.root).add(_TerminateLater())


@pytest.mark.parametrize("change", [_exclude_capture, _add_aspect])
def test_a_change_of_the_endpoint_after_it_is_declared_is_another_configuration(
    change: Callable[[TritonEndpoint], None],
) -> None:
    def config_id(*changes: Callable[[TritonEndpoint], None]) -> str:
        host = Host(is_audited=False)
        host.support()
        endpoint = host.endpoint()
        for apply in changes:
            apply(endpoint)
        template = host.template()
        (name,) = template.find_resources("AWS::SageMaker::EndpointConfig")
        reference = properties(template, "AWS::SageMaker::Endpoint")["EndpointConfigName"]
        assert reference == {"Fn::GetAtt": [name, "EndpointConfigName"]}
        return name

    assert config_id(change) != config_id()
    assert config_id(change) == config_id(change)


def test_a_second_synth_of_one_app_gives_the_configuration_the_same_id() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint()
    first = host.app.synth(force=True).get_stack_by_name("Host").template
    assert host.app.synth(force=True).get_stack_by_name("Host").template == first
