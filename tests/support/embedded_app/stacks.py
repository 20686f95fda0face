"""CloudFormation in a few words, and templates for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.running_aws import running_aws

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

DATA = "s3://data/model.tar.gz"
ROLE = "arn:aws:iam::123456789012:role/any"
TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {}}


@contextmanager
def embedded_aws(gateway: WSGIApplication | None = None) -> Iterator[tuple[EmbeddedAws, RecordingHost]]:
    """An embedded AWS with a model's data, and its host; the gateway answers calls of endpoints."""
    host = RecordingHost()
    with running_aws(host, gateway=gateway) as aws:
        s3 = client(aws, "s3")
        s3.create_bucket(Bucket="data")
        s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
        yield aws, host


class Stacks:
    """CloudFormation in a few words."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.api = client(aws, "cloudformation")

    def create(self, name: str, resources: dict[str, Any], **sections: Any) -> str:
        self.api.create_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources, **sections}))
        return self.final_status(name)

    def update(self, name: str, resources: dict[str, Any], **sections: Any) -> str:
        self.api.update_stack(StackName=name, TemplateBody=json.dumps({"Resources": resources, **sections}))
        return self.final_status(name)

    def continue_rollback(self, name: str, *skipped_text: str) -> str:
        self.api.continue_update_rollback(StackName=name, ResourcesToSkip=list(skipped_text))
        return self.final_status(name)

    def status(self, name: str) -> str:
        return str(self.api.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])

    def final_status(self, name: str) -> str:
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
