"""A prop of a wrong Python type is a finding that names it, at its construct's path, with all others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import CfnParameter
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from tests.support.fleet_folder import SPEC
from tests.synth.library.host import DATA, Host, a_model, properties
from triton_endpoints import (
    EndpointSupport,
    EngineBuilds,
    FleetEnvironment,
    ImportedEndpoint,
    Instance,
    Sample,
    Scaling,
    TritonAlarms,
    TritonDashboard,
    TritonEndpoint,
    TritonEndpointConfig,
    TritonModel,
    TritonScaling,
    Variant,
)

NUMBER: Any = 7
FRACTION: Any = 0.5
TEXT: Any = "text"
KEYS: Any = {}
NO_VALUE: Any = None
PROPS: dict[str, tuple[Any, str]] = {
    "endpoint_name": (3, 'is 3: it must be text; remedy: put it in quotes, "3"'),
    "triton": (25.04, 'is 25.04: it must be text; remedy: put it in quotes, "25.04"'),
    "instance": ("ml.g5.xlarge", 'is "ml.g5.xlarge": it must be an Instance; remedy: write `Instance(...)`'),
    "model": (DATA, f'is "{DATA}": it must be a TritonModel; remedy: write `TritonModel(...)`'),
    "environment": (3, "is 3: it must be text, a Path or a FleetEnvironment; remedy: put it in quotes"),
    "support": ("prod", 'is "prod": it must be an EndpointSupport'),
    "scaling": ({"min": 1}, "is a dict: it must be a Scaling; remedy: write `Scaling(...)`, with its keys"),
    "rollout": ({}, "is a dict: it must be a Rollout; remedy: write `Rollout(...)`"),
    "alarms": ({}, "is a dict: it must be an Alarms"),
    "alarm_actions": (
        print,
        "is a builtin_function_or_method: it must be a list of IAlarmAction or a mapping",
    ),
    "dashboard": ("yes", 'is "yes": it must be True or False'),
    "capture": ("10%", 'is "10%": it must be a Capture'),
    "vpc": ("vpc-0123", 'is "vpc-0123": it must be an IVpc'),
    "vpc_subnets": (["subnet-1"], "is a list: it must be a SubnetSelection or a mapping"),
    "isolated": (1, "is 1: it must be True or False"),
    "role": ("arn:aws:iam::1:role/a", 'is "arn:aws:iam::1:role/a": it must be an IRole'),
    "container": ({"thread_count": 16}, "is a dict: it must be a Container; remedy: write `Container(...)`"),
    "metrics": ({}, "is a dict: it must be a Metrics"),
    "logs": (7, "is 7: it must be a Logs"),
    "timeouts": ("10m", 'is "10m": it must be a Timeouts'),
    "image": ("image:1", 'is "image:1": it must be a TritonImage'),
    "samples": (
        Sample(name="one", inputs={}),
        "is a Sample: it must be a list of Sample; remedy: put it in a",
    ),
    "warm": ("resnet", 'is "resnet": it must be a list; remedy: put it in a list'),
    "cloudformation": ([], "is a list: it must be a mapping"),
    "allow": ("FL342", 'is "FL342": it must be a mapping'),
}


def test_all_wrong_props_of_an_endpoint_are_reported_at_once() -> None:
    host = Host(is_audited=False)
    host.support()
    endpoint = host.endpoint(**{name: value for name, (value, _) in PROPS.items()})
    host.endpoint("Other", instance=Instance(type="ml.g5.xlarge", count=0))
    *problems, other_problem = host.problems()
    for (name, (_, text)), problem in zip(sorted(PROPS.items()), sorted(problems), strict=True):
        assert problem.startswith(f"[Host/Embeddings] {name}: FL112 `{name}` {text}")
    assert other_problem.startswith("[Host/Other] instance.count: FL112")
    endpoint.grant_invoke(iam.Role(host.stack, "Caller", assumed_by=iam.AccountRootPrincipal()))
    endpoint.connections.allow_to_any_ipv4(ec2.Port.tcp(443))
    with pytest.raises(ValueError, match=r"\[Host/Embeddings\] scaling: FL112"):
        _ = endpoint.parts


INSIDE: dict[str, tuple[dict[str, Any], str]] = {
    "instance.count": (
        {"instance": Instance(type="ml.g5.xlarge", count=TEXT)},
        'is "text": it must be a number',
    ),
    "scaling.targets.invocations_per_instance": (
        {"scaling": Scaling(min=1, max=2).scale_on_invocations(TEXT)},
        'is "text": it must be a number',
    ),
    "model.archives[0]": (
        {"model": TritonModel.multi_model("s3://b/k/", archives=[NUMBER])},
        "is 7: it must be text",
    ),
    "model.versions.words": (
        {"model": TritonModel.shared_container("s3://b/k/", versions={"words": [FRACTION]})},
        "has 0.5, and a version is a whole number",
    ),
    "model.encryption_key": (
        {"model": TritonModel.single(DATA, encryption_key=TEXT)},
        'is "text": it must be an IKey',
    ),
    "samples[0]": ({"samples": [KEYS]}, "is a dict: it must be a Sample"),
    "samples[0].inputs.T": (
        {"samples": [Sample(name="one", inputs={"T": KEYS})]},
        "is a dict: it must be an Input",
    ),
    "security_groups[0]": ({"security_groups": ["sg-1"]}, 'is "sg-1": it must be an ISecurityGroup'),
    "container_environment.OMP_NUM_THREADS": (
        {"container_environment": {"OMP_NUM_THREADS": 1}},
        'is 1: it must be text; remedy: put it in quotes, "1"',
    ),
    "environment.tags.team": (
        {"environment": FleetEnvironment(name="prod", tags={"team": NUMBER})},
        "is 7: it must be",
    ),
    "alarm_actions.critical": (
        {"alarm_actions": {"critical": print}},
        "is a builtin_function_or_method: it must be",
    ),
    "vpc_subnets": (
        {"vpc_subnets": {"subnet_kind": 1}},
        "SubnetSelection.__init__() got an unexpected keyword",
    ),
}


@pytest.mark.parametrize("path", INSIDE)
def test_what_is_wrong_inside_a_prop_is_named_by_its_path(path: str) -> None:
    props, text = INSIDE[path]
    host = Host(is_audited=False)
    host.support()
    host.endpoint(**props)
    (problem,) = host.problems()
    assert problem.startswith(f"[Host/Embeddings] {path}: FL112 `{path}`")
    assert text in problem


def import_endpoint(host: Host, **props: Any) -> ImportedEndpoint:
    model = TritonModel.single(DATA, default_model="embed")
    plain = {
        "endpoint_name": "search",
        "triton": "25.04",
        "instance": Instance(type="ml.g5.xlarge"),
        "model": model,
    }
    return ImportedEndpoint(host.stack, "Imported", **{**plain, "environment": "prod", **props})


CONSTRUCTS: dict[str, tuple[Callable[[Host], object], list[str]]] = {
    "a Model": (
        lambda host: a_model(host, instance=KEYS, role=NUMBER, container=KEYS),
        ["container", "instance", "role"],
    ),
    "a configuration": (
        lambda host: TritonEndpointConfig(
            host.stack,
            "Config",
            variants=[Variant(model=NUMBER), NUMBER],
            volume_key=TEXT,
            detailed_observability=TEXT,
        ),
        ["detailed_observability", "variants[0].model", "variants[1]", "volume_key"],
    ),
    "alarms": (
        lambda host: TritonAlarms(
            host.stack, "Alarms", endpoint=TEXT, alarms=NO_VALUE, scaling=KEYS, instance_type=NUMBER
        ),
        ["alarms", "endpoint", "instance_type", "scaling"],
    ),
    "scaling": (
        lambda host: TritonScaling(host.stack, "Scaling", endpoint=NUMBER, scaling=KEYS, variant=NUMBER),
        ["endpoint", "scaling", "variant"],
    ),
    "a dashboard": (
        lambda host: TritonDashboard(
            host.stack, "Board", endpoint=import_endpoint(host), widgets=[NUMBER], alarms=KEYS
        ),
        ["alarms", "widgets[0]"],
    ),
    "engine builds": (
        lambda host: EngineBuilds(host.stack, "Engines", environment=NUMBER, failures=TEXT, bucket=TEXT),
        ["bucket", "environment", "failures"],
    ),
    "a support": (
        lambda host: EndpointSupport(
            host.stack, "Support", environment=NUMBER, bucket=TEXT, engine_builds=TEXT
        ),
        ["bucket", "engine_builds", "environment"],
    ),
    "a deployed support": (
        lambda host: EndpointSupport.from_environment(host.stack, "Support", environment=NUMBER, bucket=TEXT),
        ["bucket", "environment"],
    ),
    "a spec": (
        lambda host: TritonEndpoint.from_spec(
            host.stack, "Spec", spec=NUMBER, lock=NUMBER, model_data_key=TEXT
        ),
        ["lock", "model_data_key", "spec"],
    ),
    "an imported endpoint": (
        lambda host: TritonDashboard(
            host.stack, "Board", endpoint=import_endpoint(host, metrics=KEYS, triton=25.04)
        ),
        ["metrics", "triton"],
    ),
}


@pytest.mark.parametrize("kind", CONSTRUCTS)
def test_every_construct_reports_its_wrong_props_once_and_together(kind: str) -> None:
    declare, props = CONSTRUCTS[kind]
    host = Host(is_audited=False)
    declare(host)
    places = [problem.split(": ")[0].split("] ")[1] for problem in host.problems()]
    assert sorted(places) == props


def test_what_depends_on_a_wrong_construct_reports_nothing_of_its_own() -> None:
    host = Host(is_audited=False)
    support = host.support(environment=3)
    host.endpoint(environment=None, support=support)
    model = a_model(host, instance="ml.g5.xlarge")
    config = TritonEndpointConfig(host.stack, "Config", variants=[Variant(model=model)])
    assert config.endpoint_config_name and model.role and model.grant_principal
    assert sorted(problem.split(":")[0] for problem in host.problems()) == [
        "[Host/Model] instance",
        "[Host/Support] environment",
    ]


def test_a_severity_of_alarms_beside_an_endpoint_is_refused_where_it_does_not_exist() -> None:
    host = Host(is_audited=False)
    page = actions.SnsAction(sns.Topic(host.stack, "Page", enforce_ssl=True))
    by_severity: Any = {"critcal": [page]}
    TritonAlarms(host.stack, "Alarms", endpoint=import_endpoint(host), alarm_actions=by_severity)
    (problem,) = host.problems()
    assert problem == (
        "[Host/Alarms] alarm_actions.critcal: FL110 unknown key `alarm_actions.critcal`; remedy: did you mean `critical`?"
    )


def test_a_number_that_is_a_token_is_shown_as_one() -> None:
    host = Host(is_audited=False)
    host.support()
    number = CfnParameter(host.stack, "Value", type="Number").value_as_number
    host.endpoint(triton=number)
    (problem,) = host.problems()
    assert problem.endswith("`triton` is a token: it must be text; remedy: write `Token.as_string(...)`")


def test_subnets_are_selected_by_arguments_as_other_constructs_take_them(tmp_path: Path) -> None:
    host = Host(is_audited=False)
    host.support()
    vpc = ec2.Vpc(host.stack, "Vpc", max_azs=2)
    selection = {"subnet_type": ec2.SubnetType.PUBLIC}
    host.endpoint(vpc=vpc, vpc_subnets=selection)
    file = tmp_path / "sentences.yaml"
    file.write_text(SPEC)
    TritonEndpoint.from_spec(
        host.stack, "Spec", spec=file, environment="prod", model_data_url=DATA, vpc=vpc, vpc_subnets=selection
    )
    a_model(host, vpc=vpc, vpc_subnets=selection)
    models = host.template().find_resources("AWS::SageMaker::Model").values()
    assert {
        tuple(subnet["Ref"][:6] for subnet in model["Properties"]["VpcConfig"]["Subnets"]) for model in models
    } == {("VpcPub", "VpcPub")}


def test_objects_that_the_cdk_has_imported_are_what_props_take() -> None:
    host = Host(is_audited=False)
    host.support()
    key = kms.Key.from_key_arn(host.stack, "Key", "arn:aws:kms:us-east-1:111122223333:key/1234abcd")
    vpc = ec2.Vpc.from_vpc_attributes(
        host.stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-east-1a", "us-east-1b"],
        private_subnet_ids=["subnet-0000000a", "subnet-0000000b"],
    )
    host.endpoint(
        model=TritonModel.single(DATA, default_model="embed", encryption_key=key),
        vpc=vpc,
        security_groups=[ec2.SecurityGroup.from_security_group_id(host.stack, "Group", "sg-0000000a")],
        role=iam.Role.from_role_name(host.stack, "Role", "handed-out"),
    )
    network = properties(host.template(), "AWS::SageMaker::Model")["VpcConfig"]
    assert network["SecurityGroupIds"] == ["sg-0000000a"]
