"""Each prop takes what users of the CDK have: values that the deploy decides, and constructs of the app."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from aws_cdk import Aws, CfnParameter, Duration, Environment, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_ssm as ssm

from tests.synth.library.host import DATA, Host, properties
from triton_endpoints import (
    Alarms,
    Capture,
    FleetEnvironment,
    Input,
    Instance,
    Logs,
    Sample,
    Scaling,
    Timeouts,
    TritonImage,
    TritonModel,
)

Props = Callable[[Stack], dict[str, Any]]


def text(stack: Stack) -> str:
    return CfnParameter(stack, "Value").value_as_string


def number(stack: Stack) -> Any:
    return CfnParameter(stack, "Value", type="Number").value_as_number


def parameter(stack: Stack) -> str:
    return ssm.StringParameter.value_for_string_parameter(stack, "/ml/value")


VALUES: dict[str, Props] = {
    "name of a parameter": lambda stack: {"endpoint_name": text(stack)},
    "name of the stack": lambda stack: {"endpoint_name": Aws.STACK_NAME},
    "name with a token in it": lambda stack: {"endpoint_name": f"search-{Aws.STACK_NAME}"},
    "type of a parameter": lambda stack: {"instance": Instance(type=text(stack))},
    "type in the parameter store": lambda stack: {"instance": Instance(type=parameter(stack))},
    "count of a parameter": lambda stack: {"instance": Instance(type="ml.g5.xlarge", count=number(stack))},
    "maximum of a parameter": lambda stack: {
        "scaling": Scaling(min=1, max=number(stack)).scale_on_invocations(600)
    },
    "target of a parameter": lambda stack: {
        "scaling": Scaling(min=1, max=4).scale_on_invocations(number(stack))
    },
    "release in the parameter store": lambda stack: {"triton": parameter(stack)},
    "default model of a parameter": lambda stack: {
        "model": TritonModel.single(DATA, default_model=text(stack))
    },
    "variable": lambda stack: {"container_environment": {"WORDS": text(stack)}},
    "variable that is a number": lambda stack: {"container_environment": {"WORDS": number(stack)}},
    "digest of a parameter": lambda stack: {"image": TritonImage.from_release(digest=text(stack))},
    "threshold of a parameter": lambda stack: {"alarms": Alarms(latency_p99=number(stack))},
    "address of a parameter": lambda stack: {"model": TritonModel.single(text(stack))},
    "address in the parameter store": lambda stack: {"model": TritonModel.single(parameter(stack))},
    "bucket of a parameter": lambda stack: {"model": TritonModel.single(f"s3://{text(stack)}/a.tar.gz")},
    "key of a parameter": lambda stack: {"model": TritonModel.single(f"s3://models/{text(stack)}.tar.gz")},
    "prefix of a parameter": lambda stack: {
        "model": TritonModel.multi_model(f"s3://models/{text(stack)}/", archives=["a"])
    },
    "data of a sample": lambda stack: {
        "samples": [
            Sample(name="first", inputs={"T": Input(datatype="BYTES", shape=[1], data=[text(stack)])})
        ]
    },
    "raw image": lambda stack: {"cloudformation": {"Model": {"PrimaryContainer.Image": text(stack)}}},
}
ENVIRONMENTS: dict[str, Props] = {
    "ARN of a key of the app": lambda stack: {"kms_key": a_key(stack).key_arn},
    "key of the app": lambda stack: {"kms_key": a_key(stack)},
    "imported key": lambda stack: {
        "kms_key": kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-east-1:111122223333:key/{KEY_ID}")
    },
    "boundary of the app": lambda stack: {"permissions_boundary": a_policy(stack).managed_policy_arn},
    "policy of the app": lambda stack: {"permissions_boundary": a_policy(stack)},
    "boundary with the account's token": lambda stack: {
        "permissions_boundary": f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:policy/limits"
    },
    "tag": lambda stack: {"tags": {"stack": Aws.STACK_NAME}},
    "function of the app": lambda stack: {"notifications": {"critical": [a_function(stack).function_arn]}},
    "queue of the app": lambda stack: {"notifications": {"critical": [sqs.Queue(stack, "Queue").queue_arn]}},
    "subscribers themselves": lambda stack: {
        "notifications": {"critical": [sqs.Queue(stack, "Queue")], "warning": [a_function(stack)]}
    },
    "role of the app": lambda stack: {
        "allowed_roles": [
            iam.Role(stack, "Handed", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        ]
    },
}
KEY_ID = "12345678-1234-4234-8234-123456789012"


def a_key(stack: Stack) -> kms.Key:
    return kms.Key(stack, "Key")


def a_policy(stack: Stack) -> iam.ManagedPolicy:
    return iam.ManagedPolicy(
        stack, "Limits", statements=[iam.PolicyStatement(actions=["*"], resources=["*"])]
    )


def a_function(stack: Stack) -> lambda_.Function:
    code = lambda_.Code.from_inline("def handler(event, context): pass")
    return lambda_.Function(
        stack, "Page", runtime=lambda_.Runtime.PYTHON_3_13, handler="index.handler", code=code
    )


STAND_INS = ("value-", "stand-in", "210987654321", "ml.g5.12xlarge", "Token[", "${token", "e+289", "-188815")


@pytest.mark.parametrize("props", VALUES.values(), ids=VALUES)
def test_a_value_that_the_deploy_decides_is_in_the_template_and_no_stand_in_is(props: Props) -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(**props(host.stack))
    template = host.template()
    body = template.to_json()
    text_of_template = json.dumps({**body, "Parameters": {}})
    assert not [word for word in STAND_INS if word in text_of_template]
    (name,) = [
        name
        for name in body["Parameters"]
        if name == "Value" or body["Parameters"][name].get("Default") == "/ml/value"
    ] or ["AWS::StackName"]
    assert f'{{"Ref": "{name}"}}' in text_of_template


@pytest.mark.parametrize("props", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_an_environment_takes_what_the_app_has(props: Props) -> None:
    host = Host(is_audited=False)
    support = host.support(environment=FleetEnvironment(name="prod", **props(host.stack)))
    host.endpoint(environment=None, support=support)
    text_of_template = json.dumps(host.template().to_json())
    assert not [word for word in STAND_INS if word in text_of_template]


@pytest.mark.parametrize("region", [None, "us-east-1"])
def test_a_stack_needs_no_account_and_no_region(region: str | None) -> None:
    host = Host(is_audited=False)
    stack = Stack(host.app, "Plain", env=Environment(region=region))
    host.support(stack)
    host.endpoint(scope=stack)
    template = host.template("Plain")
    resources = json.dumps(template.to_json()["Resources"])
    assert not [word for word in (*STAND_INS, "us-west-2") if word in resources]
    image = json.dumps(properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"])
    if region:
        assert image == '"763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"'
        return
    (name, accounts) = next(iter(template.to_json()["Mappings"].items()))
    assert accounts["us-east-1"] != accounts["ap-east-1"]
    assert json.dumps({"Fn::FindInMap": [name, {"Ref": "AWS::Region"}, "Account"]}) in image


def test_a_release_that_the_deploy_decides_needs_no_region() -> None:
    host = Host(is_audited=False)
    stack = Stack(host.app, "Plain")
    host.support(stack)
    host.endpoint(scope=stack, triton=parameter(stack))
    template = host.template("Plain")
    image = json.dumps(properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"])
    assert "Fn::FindInMap" in image and not [word for word in STAND_INS if word in image]


CONSTRUCTS: dict[str, Props] = {
    "archive of a parameter": lambda stack: {
        "model": TritonModel.multi_model("s3://models/all/", archives=[text(stack)])
    },
    "retention as the CDK has it": lambda stack: {"logs": Logs(retention_days=logs.RetentionDays.ONE_WEEK)},
    "retention as a number": lambda stack: {"logs": Logs(retention_days=7)},
    "time-out as a Duration": lambda stack: {"timeouts": Timeouts(startup=Duration.minutes(10))},
    "share as a number": lambda stack: {"capture": Capture(sample=10)},
    "imported VPC with lists that are tokens": lambda stack: {
        "vpc": ec2.Vpc.from_vpc_attributes(
            stack,
            "Vpc",
            vpc_id=text(stack),
            availability_zones=Fn.get_azs(),
            private_subnet_ids=Fn.split(",", parameter(stack)),
        )
    },
    "two imported subnets": lambda stack: {
        "vpc": ec2.Vpc.from_vpc_attributes(
            stack,
            "Vpc",
            vpc_id=text(stack),
            availability_zones=["us-east-1a", "us-east-1b"],
            private_subnet_ids=[Fn.import_value("SubnetA"), Fn.import_value("SubnetB")],
        )
    },
    "public subnets alone": lambda stack: {"vpc": a_vpc(stack, ec2.SubnetType.PUBLIC)},
    "isolated subnets alone": lambda stack: {"vpc": a_vpc(stack, ec2.SubnetType.PRIVATE_ISOLATED)},
    "VPC that is looked up": lambda stack: {"vpc": ec2.Vpc.from_lookup(stack, "Vpc", is_default=True)},
    "imported security group": lambda stack: {
        "vpc": a_vpc(stack, ec2.SubnetType.PRIVATE_ISOLATED),
        "security_groups": [ec2.SecurityGroup.from_security_group_id(stack, "Group", text(stack))],
    },
    "asset": lambda stack: {"model": TritonModel.single(an_asset(stack).s3_object_url)},
    "object of an imported bucket": lambda stack: {
        "model": TritonModel.single(
            s3.Bucket.from_bucket_name(stack, "Models", "their-models").s3_url_for_object("a.tar.gz")
        )
    },
}


def a_vpc(stack: Stack, kind: ec2.SubnetType) -> ec2.Vpc:
    subnets = [ec2.SubnetConfiguration(name="Own", subnet_type=kind)]
    return ec2.Vpc(stack, "Network", nat_gateways=0, subnet_configuration=subnets)


def an_asset(stack: Stack) -> s3_assets.Asset:
    file = Path(mkdtemp(), "models.tar.gz")
    file.write_bytes(b"")
    return s3_assets.Asset(stack, "Repository", path=str(file))


@pytest.mark.parametrize("props", CONSTRUCTS.values(), ids=CONSTRUCTS)
def test_a_prop_takes_what_the_cdk_has_for_it(props: Props) -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(**props(host.stack))
    resources = json.dumps(host.template().to_json()["Resources"])
    assert not [word for word in STAND_INS if word in resources]


def test_an_environment_may_have_a_hyphen_in_its_name() -> None:
    host = Host(is_audited=False)
    support = host.support(environment="ml-prod")
    host.endpoint(environment=None, support=support)
    resources = json.dumps(host.template().to_json()["Resources"])
    assert "triton-fleet-ml-prod" in resources


@pytest.mark.parametrize("captures", [False, True])
def test_the_bucket_of_a_support_may_be_imported_by_a_token(captures: bool) -> None:
    host = Host(is_audited=False)
    bucket = s3.Bucket.from_bucket_name(host.stack, "Artifacts", text(host.stack))
    host.support(bucket=bucket)
    host.endpoint(capture=Capture(sample="10%") if captures else None)
    host.template()


@pytest.mark.parametrize(
    ("place", "props"),
    [
        ("environment.name", {}),
        ("model.archives", {"model": TritonModel.multi_model("s3://m/a/", archives=[])}),
    ],
)
def test_a_name_of_an_environment_that_is_a_token_and_no_archive_are_refused(
    place: str, props: dict[str, Any]
) -> None:
    host = Host(is_audited=False)
    name = "prod" if props else text(host.stack)
    support = host.support(environment=FleetEnvironment(name=name))
    host.endpoint(environment=None, support=support, **props)
    assert [problem for problem in host.problems() if f"{place}: " in problem]


def test_a_raw_role_of_the_app_is_one_that_the_environment_allows() -> None:
    host = Host(is_audited=False)
    role = iam.Role(host.stack, "Handed", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    environment = FleetEnvironment(name="prod", allowed_roles=[role.role_arn])
    support = host.support(environment=environment)
    raw = {"Model": {"ExecutionRoleArn": role.role_arn}}
    host.endpoint(environment=environment, support=support, cloudformation=raw)
    model = properties(host.template(), "AWS::SageMaker::Model")
    assert model["ExecutionRoleArn"] == host.stack.resolve(role.role_arn)


def test_a_raw_role_that_the_environment_does_not_allow_is_refused_as_a_token_too() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(cloudformation={"Model": {"ExecutionRoleArn": Aws.STACK_ID}})
    (problem,) = host.problems()
    assert " FL346 ExecutionRoleArn of Model gives the endpoint a role" in problem


def test_a_literal_that_is_the_same_as_a_stand_in_stays() -> None:
    host = Host(is_audited=False)
    stack = Stack(host.app, "Plain")
    runbook = "https://example.com/us-east-1/210987654321"
    support = host.support(stack, environment=FleetEnvironment(name="prod", runbook=runbook))
    host.endpoint(scope=stack, environment=None, support=support, endpoint_name=text(stack))
    assert runbook in json.dumps(host.template("Plain").to_json()["Resources"])


def test_variables_that_are_called_as_keys_keep_their_own_values() -> None:
    host = Host(is_audited=False)
    stack = Stack(host.app, "Plain")
    host.support(stack)
    host.endpoint(scope=stack, container_environment={"region": text(stack), "triton": Aws.STACK_NAME})
    variables = properties(host.template("Plain"), "AWS::SageMaker::Model")["PrimaryContainer"]["Environment"]
    assert (variables["region"], variables["triton"]) == ({"Ref": "Value"}, {"Ref": "AWS::StackName"})


def test_an_endpoint_of_a_type_that_is_not_known_may_have_volumes_with_the_environments_key() -> None:
    host = Host(is_audited=False)
    key = a_key(host.stack)
    support = host.support(environment=FleetEnvironment(name="prod", kms_key=key.key_arn))
    host.endpoint(environment=None, support=support, instance=Instance(type=text(host.stack)))
    config = properties(host.template(), "AWS::SageMaker::EndpointConfig")
    assert config["KmsKeyId"] == host.stack.resolve(key.key_arn)


def test_targets_below_an_address_that_is_a_token_are_all_readable() -> None:
    host = Host(is_audited=False)
    host.support()
    host.endpoint(model=TritonModel.multi_model(text(host.stack), archives=["a"]))
    (resource,) = [
        statement["Resource"]
        for id, policy in host.template().find_resources("AWS::IAM::Policy").items()
        if id.startswith("Embeddings")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "ReadArchives"
    ]
    assert json.dumps(resource).endswith('"*"]]}')


def test_values_of_the_app_itself_need_no_account() -> None:
    host = Host(is_audited=False)
    stack = Stack(host.app, "Plain")
    environment = FleetEnvironment(
        name="prod",
        kms_key=a_key(stack).key_arn,
        notifications={"critical": [a_function(stack).function_arn]},
    )
    support = host.support(stack, environment=environment)
    host.endpoint(scope=stack, environment=None, support=support)
    template = host.template("Plain")
    assert "AWS::SNS::Subscription" in json.dumps(template.to_json())
