"""The endpoint check in the templates: it comes last, is in every endpoint's stack, and may do little."""

from __future__ import annotations

import json

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import add_fleet
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.resources import only_resource
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

NAME = "triton-fleet-dev-endpoint-check"
SAMPLES = "samples: [{name: one, inputs: {x: {datatype: FP32, shape: [1], data: 1}}}]\n"
SCALING = "scaling: {min: 1, max: 4, invocations_per_instance: 600}\n"


@pytest.fixture(scope="module")
def check_templates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Template, Template]:
    """Foundation and an endpoint that is scaled and has a sample."""
    folder = FleetFolder(tmp_path_factory.mktemp("checked"))
    folder.environment()
    folder.spec(SAMPLES + SCALING, base=SPEC)
    folder.lock()
    app = App()
    add_fleet(app, resolve_project(open_project(folder.root, "dev")))
    foundation, endpoint = sorted(app.synth().stacks, key=lambda stack: len(stack.stack_name))
    return Template.from_json(foundation.template), Template.from_json(endpoint.template)


def test_it_waits_for_all_that_changes_with_the_endpoint(check_templates: tuple[Template, Template]) -> None:
    _, endpoint = check_templates
    after = set(only_resource(endpoint, "Custom::EndpointCheck")["DependsOn"])
    guards = endpoint.find_resources("Custom::ScalingGuard")
    (last,) = [name for name, guard in guards.items() if guard["Properties"]["Step"] == "after"]
    scaling = [*endpoint.find_resources("AWS::ApplicationAutoScaling::ScalableTarget")]
    scaling += endpoint.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy")
    assert after == {last, *scaling}
    (served,) = endpoint.find_resources("AWS::SageMaker::Endpoint")
    assert served in guards[last]["DependsOn"]


def test_it_is_called_for_each_configuration_and_told_its_name(
    check_templates: tuple[Template, Template],
) -> None:
    _, endpoint = check_templates
    (config,) = endpoint.find_resources("AWS::SageMaker::EndpointConfig")
    properties = only_resource(endpoint, "Custom::EndpointCheck")["Properties"]
    assert properties["EndpointConfigName"] == {"Fn::GetAtt": [config, "EndpointConfigName"]}
    assert properties["EndpointName"] == "sentences"
    assert json.loads(properties["Samples"])[0]["name"] == "one"


def test_its_token_stays_for_good(check_templates: tuple[Template, Template]) -> None:
    foundation, endpoint = check_templates
    token = only_resource(endpoint, "Custom::EndpointCheck")["Properties"]["ServiceToken"]
    assert token == f"arn:aws:lambda:us-east-1:111122223333:function:{NAME}"
    foundation.has_resource_properties(
        "AWS::Lambda::Function", {"FunctionName": NAME, "Handler": "framework.onEvent"}
    )


@pytest.mark.parametrize(
    ("construct", "package"), [("EndpointCheck", "endpoint_check"), ("ScalingGuard", "scaling_guard")]
)
def test_the_deadline_of_a_wait_comes_before_that_of_the_framework_and_of_cloudformation(
    check_templates: tuple[Template, Template], construct: str, package: str
) -> None:
    foundation, _ = check_templates
    machines = foundation.find_resources("AWS::StepFunctions::StateMachine")
    (machine,) = [resource for name, resource in machines.items() if name.startswith(construct)]
    parts = machine["Properties"]["DefinitionString"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else "arn" for part in parts)
    (retry,) = json.loads(text)["States"]["framework-isComplete-task"]["Retry"]
    functions = foundation.find_resources("AWS::Lambda::Function").values()
    (look,) = [
        function["Properties"]
        for function in functions
        if function["Properties"]["Handler"] == f"{package}.handler.is_complete"
    ]
    ours = int(look["Environment"]["Variables"]["SECONDS"]) + look["Timeout"]
    assert ours < retry["IntervalSeconds"] * retry["MaxAttempts"] < 3600
    assert look["Timeout"] < 900


def test_its_functions_may_look_at_endpoints_and_call_them_and_nothing_else(
    check_templates: tuple[Template, Template],
) -> None:
    foundation, _ = check_templates
    policies = foundation.find_resources("AWS::IAM::Policy").values()
    (own,) = [
        policy["Properties"]["PolicyDocument"]["Statement"]
        for policy in policies
        if "sagemaker:InvokeEndpoint" in json.dumps(policy)
    ]
    assert {statement["Action"] for statement in own} == {
        "sagemaker:DescribeEndpoint",
        "sagemaker:InvokeEndpoint",
        "cloudformation:DescribeStacks",
    }


def test_they_may_call_what_has_the_tag_that_the_endpoint_has_or_what_aws_shows_no_tag_of(
    check_templates: tuple[Template, Template],
) -> None:
    foundation, endpoint = check_templates
    policies = foundation.find_resources("AWS::IAM::Policy").values()
    (call,) = [
        statement
        for policy in policies
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "sagemaker:InvokeEndpoint"
    ]
    tags = {
        f"aws:ResourceTag/{tag['Key']}": tag["Value"]
        for tag in only_resource(endpoint, "AWS::SageMaker::Endpoint")["Properties"]["Tags"]
    }
    ((name, environment),) = call["Condition"]["StringEqualsIfExists"].items()
    assert tags[name] == environment == "dev"


def test_an_endpoint_without_samples_is_checked_as_well(folder: FleetFolder) -> None:
    folder.lock()
    app = App()
    add_fleet(app, resolve_project(open_project(folder.root, "dev")))
    endpoint = Template.from_json(max(app.synth().stacks, key=lambda item: len(item.stack_name)).template)
    properties = only_resource(endpoint, "Custom::EndpointCheck")["Properties"]
    assert (properties["Samples"], properties["Warm"]) == ("[]", [])
