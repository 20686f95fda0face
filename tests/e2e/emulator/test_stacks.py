"""The embedded AWS's CloudFormation as boto3 meets it: runs in the background, and what they tell."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import TOPIC, Stacks, endpoint


def test_a_stack_is_in_progress_until_its_endpoint_answers(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    host.may_finish.clear()
    stacks.api.create_stack(StackName="slow", TemplateBody=json.dumps({"Resources": endpoint("slow")}))
    assert stacks.status("slow") == "CREATE_IN_PROGRESS"
    assert client(aws, "sagemaker").describe_endpoint(EndpointName="slow")["EndpointStatus"] == "Creating"
    assert stacks.events("slow")[-1][:2] == ("Endpoint", "CREATE_IN_PROGRESS")
    with pytest.raises(ClientError, match="is in CREATE_IN_PROGRESS state and can not be updated"):
        stacks.api.update_stack(StackName="slow", TemplateBody=json.dumps({"Resources": {"Topic": TOPIC}}))
    host.may_finish.set()
    assert stacks.final_status("slow") == "CREATE_COMPLETE"


def test_every_resource_tells_what_becomes_of_it_in_the_order_of_need(
    stacks: Stacks, host: RecordingHost
) -> None:
    stacks.create("told", endpoint("told"))
    assert [(text, status) for text, status, _ in stacks.events("told")] == [
        ("told", "REVIEW_IN_PROGRESS"),
        ("told", "CREATE_IN_PROGRESS"),
        *(
            (text, status)
            for text in ("Model", "Config", "Endpoint")
            for status in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE")
        ),
        ("told", "CREATE_COMPLETE"),
    ]
    timestamps = [e["Timestamp"] for e in stacks.api.describe_stack_events(StackName="told")["StackEvents"]]
    assert len({int(timestamp.timestamp() * 1000) for timestamp in timestamps}) == len(timestamps)


def test_a_template_has_60_dynamic_references_at_most(aws: EmbeddedAws, stacks: Stacks) -> None:
    client(aws, "ssm").put_parameter(Name="/setting", Value="1", Type="String")
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "{{resolve:ssm:/setting}}"}}
    assert stacks.create("references", {f"Topic{number}": topic for number in range(60)}) == "CREATE_COMPLETE"
    more = {f"Topic{number}": topic for number in range(61)}
    with pytest.raises(ClientError, match="Number of dynamic references, 61, is greater than maximum"):
        stacks.update("references", more)
    with pytest.raises(ClientError, match="Number of dynamic references, 61, is greater than maximum"):
        stacks.create("too-many-references", more)
    with pytest.raises(ClientError, match="Number of dynamic references, 61, is greater than maximum"):
        stacks.api.create_change_set(
            StackName="references",
            ChangeSetName="more",
            ChangeSetType="UPDATE",
            TemplateBody=json.dumps({"Resources": more}),
        )


def test_the_inline_policies_of_a_role_have_10240_characters_at_most(stacks: Stacks) -> None:
    trust = {
        "Action": "sts:AssumeRole",
        "Effect": "Allow",
        "Principal": {"Service": "sagemaker.amazonaws.com"},
    }
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": [trust]}}}

    def policy(name: str, characters: int) -> dict[str, object]:
        statement = {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{'a' * characters}",
        }
        document = {"Version": "2012-10-17", "Statement": [statement]}
        properties = {"PolicyName": name, "PolicyDocument": document, "Roles": [{"Ref": "Role"}]}
        return {"Type": "AWS::IAM::Policy", "Properties": properties}

    first_policy, other_policy = policy("one", 5000), policy("other", 4900)
    assert (
        stacks.create("long", {"Role": role, "One": first_policy, "Other": other_policy}) == "CREATE_COMPLETE"
    )
    more = {"Role": role, "One": policy("one", 5400), "Other": other_policy}
    assert stacks.update("long", more) == "UPDATE_ROLLBACK_COMPLETE"
    (said_reason,) = [
        reason for id, status, reason in stacks.events("long") if (id, status) == ("One", "UPDATE_FAILED")
    ]
    assert "Maximum policy size of 10240 bytes exceeded for role" in said_reason
    # What is left out counts until the clean-up.
    assert stacks.update("long", {"Role": role, "One": policy("one", 5400)}) == "UPDATE_ROLLBACK_COMPLETE"


def test_a_change_of_the_model_replaces_it_and_updates_the_endpoint_where_it_is(
    stacks: Stacks, host: RecordingHost
) -> None:
    stacks.create("changing", endpoint("changing"))
    before, removed_endpoints = stacks.physical_ids("changing"), list(host.removals)
    assert stacks.update("changing", endpoint("changing", image="triton:25.05")) == "UPDATE_COMPLETE"
    after = stacks.physical_ids("changing")
    assert after["Endpoint"] == before["Endpoint"]
    assert after["Model"] != before["Model"]
    assert after["Config"] != before["Config"]
    assert host.served[-1].container.image == "triton:25.05"
    assert host.removals == removed_endpoints
    assert [text for text, status, _ in stacks.events("changing") if status == "DELETE_COMPLETE"] == [
        "Config",
        "Model",
    ]


def test_a_bucket_with_objects_is_not_deleted_with_its_stack(aws: EmbeddedAws, stacks: Stacks) -> None:
    stacks.create("full", {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "full"}}})
    client(aws, "s3").put_object(Bucket="full", Key="x", Body=b"")
    stacks.api.delete_stack(StackName="full")
    assert stacks.final_status("full") == "DELETE_FAILED"
    assert ("Bucket", "DELETE_FAILED", "The bucket you tried to delete is not empty") in stacks.events("full")
    client(aws, "s3").delete_object(Bucket="full", Key="x")
    stacks.api.delete_stack(StackName="full")
    with pytest.raises(ClientError, match="Stack with id full does not exist"):
        stacks.final_status("full")


def test_what_is_to_be_retained_stays(aws: EmbeddedAws, stacks: Stacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": {"BucketName": "stays"}}
    stacks.create("retaining", {"Bucket": bucket})
    stack_id = stacks.api.describe_stacks(StackName="retaining")["Stacks"][0]["StackId"]
    stacks.api.delete_stack(StackName="retaining")
    assert stacks.final_status(stack_id) == "DELETE_COMPLETE"
    assert ("Bucket", "DELETE_SKIPPED", "") in stacks.events(stack_id)
    assert "stays" in [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]


def test_a_generated_name_is_as_long_as_its_service_takes_it(stacks: Stacks) -> None:
    definition = json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}})
    properties = {"DefinitionString": definition, "RoleArn": "arn:aws:iam::123456789012:role/any"}
    stacks.create(
        "l" * 60, {"M" * 60: {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}}
    )
    [machine] = stacks.physical_ids("l" * 60).values()
    assert len(machine.rpartition(":")[2]) == 80


def test_termination_protection_is_kept(stacks: Stacks) -> None:
    stacks.create("protected", {"Topic": TOPIC})
    stacks.api.update_termination_protection(StackName="protected", EnableTerminationProtection=True)
    with pytest.raises(
        ClientError, match=r"Stack \[protected\] cannot be deleted while TerminationProtection"
    ):
        stacks.api.delete_stack(StackName="protected")
    stacks.api.update_termination_protection(StackName="protected", EnableTerminationProtection=False)
    stacks.api.delete_stack(StackName="protected")


def test_ref_and_getatt_give_what_cloudformation_documents(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    resources = endpoint("refs")
    resources["Target"] = {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {
            "ServiceNamespace": "sagemaker",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
            "ResourceId": {"Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/AllTraffic"},
            "MinCapacity": 1,
            "MaxCapacity": 2,
        },
    }
    names = ["Endpoint", "Model", "Config", "Target"]
    outputs = {f"{name}Ref": {"Value": {"Ref": name}} for name in names} | {
        "Endpoint": {"Value": {"Fn::GetAtt": ["Endpoint", "EndpointName"]}},
        "Model": {"Value": {"Fn::GetAtt": ["Model", "ModelName"]}},
        "Config": {"Value": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}},
    }
    stacks.create("refs", resources, Outputs=outputs)
    values = stacks.outputs("refs")
    arn = "arn:aws:sagemaker:us-east-1:123456789012"
    assert values["Endpoint"] == "refs"
    assert values["EndpointRef"] == f"{arn}:endpoint/refs"
    assert values["Model"].startswith("Model-")
    assert values["ModelRef"] == f"{arn}:model/{values['Model'].lower()}"
    assert values["ConfigRef"] == f"{arn}:endpoint-config/{values['Config'].lower()}"
    model = client(aws, "sagemaker").describe_model(ModelName=values["Model"].lower())
    assert (model["ModelName"], model["ModelArn"]) == (values["Model"], values["ModelRef"])
    assert (
        values["TargetRef"]
        == "endpoint/refs/variant/AllTraffic|sagemaker:variant:DesiredInstanceCount|sagemaker"
    )


def test_a_missing_parameter_of_the_parameter_store_is_named(stacks: Stacks) -> None:
    parameters = {"Setting": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/not/there"}}
    with pytest.raises(ClientError, match=r"Unable to fetch parameters \[/not/there\] from parameter store"):
        stacks.create("unset", {"Topic": TOPIC}, Parameters=parameters)


def test_a_dynamic_reference_is_resolved(aws: EmbeddedAws, stacks: Stacks) -> None:
    ssm = client(aws, "ssm")
    ssm.put_parameter(Name="/given", Value="here", Type="String")
    setting = {"Type": "String", "Name": "/taken", "Value": "{{resolve:ssm:/given}}"}
    stacks.create("dynamic", {"Setting": {"Type": "AWS::SSM::Parameter", "Properties": setting}})
    assert ssm.get_parameter(Name="/taken")["Parameter"]["Value"] == "here"


def test_an_unknown_type_is_skipped_by_name_and_its_references_still_resolve(
    aws: EmbeddedAws, stacks: Stacks
) -> None:
    resources = {
        "Budget": {"Type": "AWS::Budgets::Budget", "Properties": {}},
        "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": "arn:aws:lambda:::x"}},
        "Setting": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {
                "Type": "String",
                "Value": {"Fn::Join": ["-", [{"Ref": "Budget"}, {"Fn::GetAtt": ["Thing", "X"]}]]},
            },
        },
    }
    assert stacks.create("skipping", resources) == "CREATE_COMPLETE"
    texts = (
        "Budget",
        "CREATE_COMPLETE",
        "Skipped by the embedded AWS, which does not host AWS::Budgets::Budget",
    )
    assert texts in stacks.events("skipping")
    assert {"AWS::Budgets::Budget Budget (skipping)", "Custom::Thing Thing (skipping)"} <= set(
        aws.skipped_resources
    )
    assert len(aws.skipped_resources) == len(set(aws.skipped_resources))


def test_a_resource_whose_condition_is_false_is_not_made(stacks: Stacks) -> None:
    resources = {"Topic": TOPIC, "Never": {**TOPIC, "Condition": "No"}}
    stacks.create("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "b"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic"}
    stacks.update("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "a"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic", "Never"}
    stacks.update("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "b"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic"}


def test_a_deletion_policy_that_alone_changes_is_minded(aws: EmbeddedAws, stacks: Stacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "kept-later"}}
    stacks.create("policy", {"Bucket": bucket})
    template = json.dumps({"Resources": {"Bucket": {**bucket, "DeletionPolicy": "Retain"}, "Topic": TOPIC}})
    stacks.api.update_stack(StackName="policy", TemplateBody=template)
    stacks.api.get_waiter("stack_update_complete").wait(StackName="policy", WaiterConfig={"Delay": 1})
    stacks.api.delete_stack(StackName="policy")
    stacks.api.get_waiter("stack_delete_complete").wait(StackName="policy", WaiterConfig={"Delay": 1})
    assert "kept-later" in [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]
