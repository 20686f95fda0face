"""A stack is left alone only if the CDK CLI would change nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.deployment import DEPLOYMENT
from tests.support.deploys import action
from tests.support.embedded_app.stacks import Stacks
from tests.support.embedded_keys import KEYS
from tests.support.faulty_s3 import Answer, faulty_s3
from triton_fleet.aws.access import Access, embedded_access
from triton_fleet.aws.deploy.stack_repair import is_unchanged

BOOTSTRAP = {
    "Type": "AWS::SSM::Parameter::Value<String>",
    "Default": "/cdk-bootstrap/x/version",
    "Description": "Version of the CDK Bootstrap resources. [cdk:skip]",
}
DENIED_RESPONSE = (
    b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>"
)
SSM_PARAMETER = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/team/name"}
TEMPLATE = {
    "Description": "Ünïcode",
    "Parameters": {"BootstrapVersion": BOOTSTRAP, "Name": SSM_PARAMETER},
    "Resources": {
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "{{resolve:ssm:/team/alias}}"}}
    },
}


@pytest.fixture
def access(aws: EmbeddedAws) -> Access:
    access = embedded_access(DEPLOYMENT, aws.url, KEYS)
    for name, value in {"/cdk-bootstrap/x/version": "30", "/team/name": "search", "/team/alias": "s"}.items():
        access.client("ssm").put_parameter(Name=name, Value=value, Type="String", Overwrite=True)
    return access


@pytest.fixture
def name(access: Access, stacks: Stacks, request: pytest.FixtureRequest) -> str:
    """A stack that is deployed from the template, with a tag."""
    name = f"stack-{abs(hash(request.node.name))}"
    access.client("cloudformation").create_stack(
        StackName=name, TemplateBody=json.dumps(TEMPLATE), Tags=[{"Key": "team", "Value": "search"}]
    )
    assert stacks.final_status(name) == "CREATE_COMPLETE"
    return name


def synth_stack(folder: Path, name: str, template: dict[str, Any] = TEMPLATE, **properties: Any) -> Path:
    """An assembly with the stack."""
    (folder / f"{name}.template.json").write_text(json.dumps(template, indent=1), "utf-8")
    properties = {"templateFile": f"{name}.template.json", "tags": {"team": "search"}, **properties}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {name: {"properties": properties}}}))
    return folder


def test_a_stack_that_is_deployed_as_synthesised_is_unchanged(
    access: Access, name: str, tmp_path: Path
) -> None:
    assert is_unchanged(access, synth_stack(tmp_path, name), name)


def test_a_newer_bootstrap_and_a_newer_value_of_a_dynamic_reference_change_nothing(
    access: Access, name: str, tmp_path: Path
) -> None:
    for parameter in ("/cdk-bootstrap/x/version", "/team/alias"):
        access.client("ssm").put_parameter(Name=parameter, Value="31", Type="String", Overwrite=True)
    assert is_unchanged(access, synth_stack(tmp_path, name), name)


def test_another_value_of_a_parameter_is_a_change(access: Access, name: str, tmp_path: Path) -> None:
    access.client("ssm").put_parameter(Name="/team/name", Value="ads", Type="String", Overwrite=True)
    assert not is_unchanged(access, synth_stack(tmp_path, name), name)


@pytest.mark.parametrize(
    "properties",
    [
        {"tags": {"team": "ads"}},
        {"tags": {}},
        {"terminationProtection": True},
        {"notificationArns": ["arn:aws:sns:us-east-1:123456789012:x"]},
    ],
    ids=str,
)
def test_tags_protection_and_notifications_are_compared(
    access: Access, name: str, tmp_path: Path, properties: dict[str, Any]
) -> None:
    assert not is_unchanged(access, synth_stack(tmp_path, name, **properties), name)


@pytest.mark.parametrize(
    "change",
    [
        lambda template: template.update(Description="Unicode"),
        lambda template: template["Resources"]["Topic"]["Properties"].update(DisplayName="x"),
        lambda template: template.update(Outputs={"X": {"Value": {"Fn::ImportValue": "of-another"}}}),
    ],
    ids=["text", "property", "import"],
)
def test_a_template_that_differs_is_a_change(
    access: Access, name: str, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    template = json.loads(json.dumps(TEMPLATE))
    change(template)
    assert not is_unchanged(access, synth_stack(tmp_path, name, template), name)


def test_what_is_imported_from_another_stack_is_left_to_the_cdk_cli(
    access: Access, stacks: Stacks, tmp_path: Path
) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    stacks.create("exporter", {"Topic": topic}, Outputs={"X": {"Value": "x", "Export": {"Name": "exported"}}})
    import_values = {"Topic": {**topic, "Properties": {"DisplayName": {"Fn::ImportValue": "exported"}}}}
    stacks.create("importer", import_values)
    assembly = synth_stack(tmp_path, "importer", {"Resources": import_values}, tags={})
    assert not is_unchanged(access, assembly, "importer")


def test_a_stack_that_does_not_exist_or_was_rolled_back_is_left_to_the_cdk_cli(
    access: Access, stacks: Stacks, name: str, tmp_path: Path
) -> None:
    assert not is_unchanged(access, synth_stack(tmp_path, "absent"), "absent")
    broken_values = {"Broken": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "not a name!"}}}
    if stacks.update(name, broken_values) == "UPDATE_ROLLBACK_COMPLETE":
        assert not is_unchanged(access, synth_stack(tmp_path, name), name)


@pytest.mark.parametrize("denied_text", ["DescribeStacks", "GetTemplate"])
def test_where_a_call_is_denied_the_cdk_cli_decides(
    aws: EmbeddedAws, name: str, tmp_path: Path, denied_text: str
) -> None:
    with faulty_s3(aws.url) as proxy:
        proxy.change_answers(
            action(denied_text), lambda _: Answer(403, [("Content-Type", "text/xml")], DENIED_RESPONSE)
        )
        access = embedded_access(DEPLOYMENT, proxy.url, KEYS)
        assert not is_unchanged(access, synth_stack(tmp_path, name), name)
