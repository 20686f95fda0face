"""The embedded AWS's CloudFormation as boto3 meets it: runs in the background, events, rollback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.local.aws.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.host import RecordingHost

DATA = "s3://data/model.tar.gz"
ROLE = "arn:aws:iam::123456789012:role/any"
TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {}}


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[EmbeddedAws, RecordingHost]]:
    host = RecordingHost()
    aws = EmbeddedAws(host)
    aws.start()
    s3 = client(aws, "s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    yield aws, host
    aws.stop()


@pytest.fixture
def aws(running: tuple[EmbeddedAws, RecordingHost]) -> EmbeddedAws:
    return running[0]


@pytest.fixture
def host(running: tuple[EmbeddedAws, RecordingHost]) -> Iterator[RecordingHost]:
    yield running[1]
    running[1].failure = ""
    running[1].may_finish.set()


class Stacks:
    """CloudFormation in a few words."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.api = client(aws, "cloudformation")

    def create(self, name: str, resources: dict[str, Any], **sections: Any) -> str:
        self.api.create_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources, **sections}))
        return self.settled(name)

    def update(self, name: str, resources: dict[str, Any], **sections: Any) -> str:
        self.api.update_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources, **sections}))
        return self.settled(name)

    def status(self, name: str) -> str:
        return str(self.api.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])

    def settled(self, name: str) -> str:
        pause = threading.Event()
        while self.status(name).endswith("_IN_PROGRESS"):
            pause.wait(0.02)
        return self.status(name)

    def events(self, name: str) -> list[tuple[str, str, str]]:
        """Logical id, status and reason of each, oldest first."""
        events = self.api.describe_stack_events(StackName=name)["StackEvents"][::-1]
        return [
            (e["LogicalResourceId"], e["ResourceStatus"], e.get("ResourceStatusReason", "")) for e in events
        ]

    def outputs(self, name: str) -> dict[str, str]:
        outputs = self.api.describe_stacks(StackName=name)["Stacks"][0].get("Outputs", [])
        return {output["OutputKey"]: output["OutputValue"] for output in outputs}

    def physical_ids(self, name: str) -> dict[str, str]:
        resources = self.api.describe_stack_resources(StackName=name)["StackResources"]
        return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}


@pytest.fixture
def stacks(aws: EmbeddedAws) -> Stacks:
    return Stacks(aws)


def endpoint(name: str, *, image: str = "triton:25.04", data: str = DATA) -> dict[str, Any]:
    """An endpoint's resources, deliberately against the order in which they need each other."""
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
        "InstanceType": "ml.g5.xlarge",
        "InitialInstanceCount": 1,
    }
    config_name = {"Fn::GetAtt": ["Config", "EndpointConfigName"]}
    container = {"Image": image, "ModelDataUrl": data}
    return {
        "Endpoint": {
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {"EndpointName": name, "EndpointConfigName": config_name},
        },
        "Config": {"Type": "AWS::SageMaker::EndpointConfig", "Properties": {"ProductionVariants": [variant]}},
        "Model": {
            "Type": "AWS::SageMaker::Model",
            "Properties": {"ExecutionRoleArn": ROLE, "PrimaryContainer": container},
        },
    }


def absent_model() -> dict[str, Any]:
    container = {"Image": "triton", "ModelDataUrl": "s3://data/absent.tar.gz"}
    properties = {"ExecutionRoleArn": ROLE, "PrimaryContainer": container}
    return {"Type": "AWS::SageMaker::Model", "DependsOn": "Topic", "Properties": properties}


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
    assert stacks.settled("slow") == "CREATE_COMPLETE"


def test_every_resource_tells_what_becomes_of_it_in_the_order_of_need(
    stacks: Stacks, host: RecordingHost
) -> None:
    stacks.create("told", endpoint("told"))
    assert [(who, status) for who, status, _ in stacks.events("told")] == [
        ("told", "REVIEW_IN_PROGRESS"),
        ("told", "CREATE_IN_PROGRESS"),
        *(
            (who, status)
            for who in ("Model", "Config", "Endpoint")
            for status in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE")
        ),
        ("told", "CREATE_COMPLETE"),
    ]
    timestamps = [e["Timestamp"] for e in stacks.api.describe_stack_events(StackName="told")["StackEvents"]]
    assert len({int(timestamp.timestamp() * 1000) for timestamp in timestamps}) == len(timestamps)


def test_a_creation_that_fails_deletes_what_it_made_in_reverse(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    host.failure = "no GPU"
    resources = {**endpoint("doomed"), "Topic": TOPIC}
    resources["Endpoint"]["DependsOn"] = ["Topic"]
    assert stacks.create("doomed", resources) == "ROLLBACK_COMPLETE"
    assert ("Endpoint", "CREATE_FAILED", "no GPU") in stacks.events("doomed")
    created = [who for who, status, _ in stacks.events("doomed") if status == "CREATE_COMPLETE"]
    deleted = [who for who, status, _ in stacks.events("doomed") if status == "DELETE_COMPLETE"]
    assert deleted == created[::-1]
    assert set(deleted) == {"Config", "Model", "Topic"}
    assert stacks.physical_ids("doomed") == {}
    assert client(aws, "sagemaker").list_endpoints(NameContains="doomed")["Endpoints"] == []


def test_a_stack_that_was_rolled_back_is_deleted_and_created_again(
    stacks: Stacks, host: RecordingHost
) -> None:
    host.failure = "no GPU"
    assert stacks.create("again", endpoint("again")) == "ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="is in ROLLBACK_COMPLETE state and can not be updated"):
        stacks.api.update_stack(StackName="again", TemplateBody=json.dumps({"Resources": {"Topic": TOPIC}}))
    host.failure = ""
    stacks.api.delete_stack(StackName="again")
    assert stacks.create("again", endpoint("again")) == "CREATE_COMPLETE"


def test_a_change_of_the_model_replaces_it_and_updates_the_endpoint_where_it_is(
    stacks: Stacks, host: RecordingHost
) -> None:
    stacks.create("changing", endpoint("changing"))
    before, removed = stacks.physical_ids("changing"), list(host.removed)
    assert stacks.update("changing", endpoint("changing", image="triton:25.05")) == "UPDATE_COMPLETE"
    after = stacks.physical_ids("changing")
    assert after["Endpoint"] == before["Endpoint"]
    assert after["Model"] != before["Model"]
    assert after["Config"] != before["Config"]
    assert host.served[-1].container.image == "triton:25.05"
    assert host.removed == removed
    assert [who for who, status, _ in stacks.events("changing") if status == "DELETE_COMPLETE"] == [
        "Config",
        "Model",
    ]


def test_an_update_that_fails_puts_the_old_state_back(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    first = {**endpoint("back"), "Topic": TOPIC}
    stacks.create("back", first)
    before = stacks.physical_ids("back")
    broken = {**endpoint("back", image="triton:25.05"), "Topic": TOPIC, "Broken": absent_model()}
    broken["Broken"]["DependsOn"] = ["Endpoint"]
    assert stacks.update("back", broken) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.physical_ids("back") == before
    assert [served.container.image for served in host.served[-2:]] == ["triton:25.05", "triton:25.04"]
    names = [model["ModelName"] for model in client(aws, "sagemaker").list_models()["Models"]]
    assert before["Model"].split("/")[1] in names
    assert json.loads(json.dumps(stacks.api.get_template(StackName="back")["TemplateBody"])) == {
        "Resources": first
    }
    assert stacks.update("back", endpoint("back", image="triton:25.06")) == "UPDATE_COMPLETE"


def test_an_endpoint_that_refuses_its_update_is_not_served_again(stacks: Stacks, host: RecordingHost) -> None:
    stacks.create("refusing", endpoint("refusing"))
    served = len(host.served)
    host.failure = "bad config.pbtxt"
    assert stacks.update("refusing", endpoint("refusing", image="bad")) == "UPDATE_ROLLBACK_COMPLETE"
    assert ("Endpoint", "UPDATE_FAILED", "bad config.pbtxt") in stacks.events("refusing")
    assert len(host.served) == served


def test_a_rollback_that_fails_says_so(
    stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks.create("stuck", endpoint("stuck"))
    serve = host.serve

    def serve_once(deployed: Any) -> None:
        serve(deployed)
        host.failure = "the GPU is gone"

    monkeypatch.setattr(host, "serve", serve_once)
    broken = {**endpoint("stuck", image="new"), "Topic": TOPIC, "Broken": absent_model()}
    broken["Broken"]["DependsOn"] = ["Endpoint", "Topic"]
    assert stacks.update("stuck", broken) == "UPDATE_ROLLBACK_FAILED"
    assert ("Endpoint", "UPDATE_FAILED", "the GPU is gone") in stacks.events("stuck")


def test_a_bucket_with_objects_is_not_deleted_with_its_stack(aws: EmbeddedAws, stacks: Stacks) -> None:
    stacks.create("full", {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "full"}}})
    client(aws, "s3").put_object(Bucket="full", Key="x", Body=b"")
    stacks.api.delete_stack(StackName="full")
    assert stacks.settled("full") == "DELETE_FAILED"
    assert ("Bucket", "DELETE_FAILED", "The bucket you tried to delete is not empty") in stacks.events("full")
    client(aws, "s3").delete_object(Bucket="full", Key="x")
    stacks.api.delete_stack(StackName="full")
    with pytest.raises(ClientError, match="Stack with id full does not exist"):
        stacks.settled("full")


def test_what_is_to_be_retained_stays(aws: EmbeddedAws, stacks: Stacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": {"BucketName": "stays"}}
    stacks.create("retaining", {"Bucket": bucket})
    stack_id = stacks.api.describe_stacks(StackName="retaining")["Stacks"][0]["StackId"]
    stacks.api.delete_stack(StackName="retaining")
    assert stacks.settled(stack_id) == "DELETE_COMPLETE"
    assert ("Bucket", "DELETE_SKIPPED", "") in stacks.events(stack_id)
    assert "stays" in [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]


def test_a_rollback_leaves_behind_what_is_to_be_retained_but_not_except_on_create(
    aws: EmbeddedAws, stacks: Stacks
) -> None:
    def bucket(name: str, policy: str) -> dict[str, Any]:
        return {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy, "Properties": {"BucketName": name}}

    resources = {"Left": bucket("left", "Retain"), "Gone": bucket("gone", "RetainExceptOnCreate")}
    broken = absent_model() | {"DependsOn": ["Left", "Gone"]}
    assert stacks.create("leaving", {**resources, "Broken": broken}) == "ROLLBACK_COMPLETE"
    names = [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]
    assert "left" in names
    assert "gone" not in names


def test_termination_protection_is_kept(stacks: Stacks) -> None:
    stacks.create("protected", {"Topic": TOPIC})
    stacks.api.update_termination_protection(StackName="protected", EnableTerminationProtection=True)
    with pytest.raises(
        ClientError, match=r"Stack \[protected\] cannot be deleted while TerminationProtection"
    ):
        stacks.api.delete_stack(StackName="protected")
    stacks.api.update_termination_protection(StackName="protected", EnableTerminationProtection=False)
    stacks.api.delete_stack(StackName="protected")


def test_ref_and_getatt_give_what_cloudformation_documents(stacks: Stacks, host: RecordingHost) -> None:
    resources = endpoint("refs")
    resources["Target"] = {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {
            "ServiceNamespace": "sagemaker",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
            "ResourceId": {"Fn::Sub": "endpoint/${Endpoint.EndpointName}/variant/AllTraffic"},
            "MinCapacity": 0,
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
    assert values["ModelRef"].lower() == f"{arn}:model/{values['Model']}".lower()
    assert values["ConfigRef"].lower() == f"{arn}:endpoint-config/{values['Config']}".lower()
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


def test_a_reference_that_cannot_be_resolved_is_told_of_its_resource(stacks: Stacks) -> None:
    setting = {"Type": "String", "Value": {"Fn::ImportValue": "missing"}}
    resources = {"Setting": {"Type": "AWS::SSM::Parameter", "Properties": setting}}
    assert stacks.create("importing", resources) == "ROLLBACK_COMPLETE"
    assert ("Setting", "CREATE_FAILED", "No export named missing found.") in stacks.events("importing")


def test_a_resource_cannot_change_its_type(stacks: Stacks) -> None:
    stacks.create("typed", {"Thing": TOPIC})
    assert stacks.update("typed", {"Thing": {"Type": "AWS::S3::Bucket"}}) == "UPDATE_ROLLBACK_COMPLETE"
    assert ("Thing", "UPDATE_FAILED", "Update of resource type is not permitted.") in stacks.events("typed")


def test_resources_that_need_each_other_are_refused(stacks: Stacks) -> None:
    resources = {"One": {**TOPIC, "DependsOn": "Two"}, "Two": {**TOPIC, "DependsOn": ["One"]}}
    assert stacks.create("circle", resources) == "ROLLBACK_COMPLETE"
    assert "Circular dependency between resources" in stacks.events("circle")[-1][2]


def test_an_export_name_belongs_to_one_stack(stacks: Stacks) -> None:
    outputs = {"Name": {"Value": {"Ref": "Topic"}, "Export": {"Name": "only-one"}}}
    stacks.create("exporter", {"Topic": TOPIC}, Outputs=outputs)
    assert stacks.create("copycat", {"Topic": TOPIC}, Outputs=outputs) == "ROLLBACK_COMPLETE"
    reasons = [reason for _, status, reason in stacks.events("copycat") if status == "ROLLBACK_IN_PROGRESS"]
    assert reasons == ["Export with name only-one is already exported by stack exporter"]


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
    told = (
        "Budget",
        "CREATE_COMPLETE",
        "Skipped by the embedded AWS, which does not host AWS::Budgets::Budget",
    )
    assert told in stacks.events("skipping")
    assert {"AWS::Budgets::Budget Budget (skipping)", "Custom::Thing Thing (skipping)"} <= set(aws.skipped)
    assert len(aws.skipped) == len(set(aws.skipped))


def test_a_resource_whose_condition_is_false_is_not_made(stacks: Stacks) -> None:
    resources = {"Topic": TOPIC, "Never": {**TOPIC, "Condition": "No"}}
    stacks.create("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "b"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic"}
    stacks.update("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "a"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic", "Never"}
    stacks.update("conditional", resources, Conditions={"No": {"Fn::Equals": ["a", "b"]}})
    assert set(stacks.physical_ids("conditional")) == {"Topic"}
