"""The embedded AWS's stacks when something fails: told of its resource, and put back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import TOPIC, Stacks, absent_model, endpoint


def test_a_creation_that_fails_deletes_what_it_made_in_reverse(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    host.failure = "no GPU"
    resources = {**endpoint("doomed"), "Topic": TOPIC}
    resources["Endpoint"]["DependsOn"] = ["Topic"]
    assert stacks.create("doomed", resources) == "ROLLBACK_COMPLETE"
    assert ("Endpoint", "CREATE_FAILED", "no GPU") in stacks.events("doomed")
    lines = [text for text, status, _ in stacks.events("doomed") if status == "CREATE_COMPLETE"]
    deleted_lines = [text for text, status, _ in stacks.events("doomed") if status == "DELETE_COMPLETE"]
    assert deleted_lines == lines[::-1]
    assert set(deleted_lines) == {"Config", "Model", "Topic"}
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


def test_an_update_that_fails_puts_the_old_state_back(
    aws: EmbeddedAws, stacks: Stacks, host: RecordingHost
) -> None:
    first = {**endpoint("back"), "Topic": TOPIC}
    stacks.create("back", first)
    before = stacks.physical_ids("back")
    broken_values = {**endpoint("back", image="triton:25.05"), "Topic": TOPIC, "Broken": absent_model()}
    broken_values["Broken"]["DependsOn"] = ["Endpoint"]
    assert stacks.update("back", broken_values) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.physical_ids("back") == before
    assert [served.container.image for served in host.served[-2:]] == ["triton:25.05", "triton:25.04"]
    names = [model["ModelName"] for model in client(aws, "sagemaker").list_models()["Models"]]
    assert before["Model"].split("/")[1] in [name.lower() for name in names]
    assert json.loads(json.dumps(stacks.api.get_template(StackName="back")["TemplateBody"])) == {
        "Resources": first
    }
    assert stacks.update("back", endpoint("back", image="triton:25.06")) == "UPDATE_COMPLETE"


def test_an_endpoint_that_refuses_its_update_is_not_served_again(stacks: Stacks, host: RecordingHost) -> None:
    stacks.create("refusing", endpoint("refusing"))
    served = len(host.served)
    host.failure = "bad config.pbtxt"
    assert stacks.update("refusing", endpoint("refusing", image="bad")) == "UPDATE_ROLLBACK_FAILED"
    assert ("Endpoint", "UPDATE_FAILED", "bad config.pbtxt") in stacks.events("refusing")
    assert len(host.served) == served


def test_a_rollback_that_fails_says_so(
    stacks: Stacks, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks.create("stuck", endpoint("stuck"))
    serve = host.serve

    def serve_first(deployed_value: Any) -> None:
        serve(deployed_value)
        host.failure = "the GPU is gone"

    monkeypatch.setattr(host, "serve", serve_first)
    broken_values = {**endpoint("stuck", image="new"), "Topic": TOPIC, "Broken": absent_model()}
    broken_values["Broken"]["DependsOn"] = ["Endpoint", "Topic"]
    assert stacks.update("stuck", broken_values) == "UPDATE_ROLLBACK_FAILED"
    assert ("Endpoint", "UPDATE_FAILED", "the GPU is gone") in stacks.events("stuck")


def test_a_rollback_leaves_behind_what_is_to_be_retained_but_not_except_on_create(
    aws: EmbeddedAws, stacks: Stacks
) -> None:
    def bucket(name: str, policy: str) -> dict[str, Any]:
        return {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy, "Properties": {"BucketName": name}}

    resources = {"Left": bucket("left", "Retain"), "Gone": bucket("gone", "RetainExceptOnCreate")}
    broken_absent_model = absent_model() | {"DependsOn": ["Left", "Gone"]}
    assert stacks.create("leaving", {**resources, "Broken": broken_absent_model}) == "ROLLBACK_COMPLETE"
    names = [bucket["Name"] for bucket in client(aws, "s3").list_buckets()["Buckets"]]
    assert "left" in names
    assert "gone" not in names


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
