"""Functions and custom resources for templates, and what their handlers were asked."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.recorder.memory import remembered_events

BUCKET = "data"
PACKAGE = Path(__file__).parent / "recorder"
ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}},
}


def archive(sources: dict[str, str] | None = None) -> bytes:
    """A function's archive: the recorder, or these sources."""
    files = {f"recorder/{file.name}": file.read_text() for file in PACKAGE.glob("*.py")}
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, text in (files if sources is None else sources).items():
            file.writestr(name, text)
    return stream.getvalue()


def upload(aws: EmbeddedAws, key: str, content: bytes) -> dict[str, str]:
    """Put an archive where CDK's assets are; the function's `Code`."""
    client(aws, "s3").put_object(Bucket=BUCKET, Key=key, Body=content)
    return {"S3Bucket": BUCKET, "S3Key": key}


def function(code: dict[str, str], handler: str, **properties: Any) -> dict[str, Any]:
    """A function that knows where to remember its events."""
    environment = {"BUCKET": BUCKET, **properties.pop("environment", {})}
    declared_values = {
        "Code": code,
        "Handler": handler,
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Runtime": "python3.12",
        "Environment": {"Variables": environment},
        "Timeout": 20,
    }
    return {"Type": "AWS::Lambda::Function", "Properties": declared_values | properties}


def framework(**variables: Any) -> dict[str, Any]:
    """The function of the CDK's provider, which is Node.js."""
    code = {"ZipFile": "exports.onEvent = async () => { throw new Error('not here') }"}
    declared_function = function(code, "framework.onEvent", Runtime="nodejs24.x")
    declared_function["Properties"]["Environment"]["Variables"] = {
        name: {"Fn::GetAtt": [target, "Arn"]} if name.startswith("USER") else {"Ref": target}
        for name, target in variables.items()
    }
    return declared_function


def provider(code: dict[str, str], **properties: Any) -> dict[str, Any]:
    """The code that the CDK's provider writes around a handler, without its policies."""
    return {
        "Role": ROLE,
        "Handler": function(code, "recorder.handler.on_event", **properties),
        "Framework": framework(USER_ON_EVENT_FUNCTION_ARN="Handler"),
    }


def waiting_provider(code: dict[str, str], *, attempts: int) -> dict[str, Any]:
    """The same with a second handler that is asked again each second."""
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": attempts, "BackoffRate": 1}
    task = {"End": True, "Retry": [retry], "Type": "Task", "Resource": "arn:aws:lambda:any"}
    machine = {"StartAt": "framework-isComplete-task", "States": {"framework-isComplete-task": task}}
    return {
        **provider(code),
        "Waiter": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "DefinitionString": json.dumps(machine),
                "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
            },
        },
        "Completer": function(code, "recorder.handler.is_complete"),
        "Framework": framework(
            USER_ON_EVENT_FUNCTION_ARN="Handler",
            USER_IS_COMPLETE_FUNCTION_ARN="Completer",
            WAITER_STATE_MACHINE_ARN="Waiter",
        ),
    }


def custom(*, after: str = "", token: Any = None, **properties: Any) -> dict[str, Any]:
    """A custom resource of the framework."""
    token = {"Fn::GetAtt": ["Framework", "Arn"]} if token is None else token
    depends = {"DependsOn": after} if after else {}
    return {"Type": "Custom::Thing", "Properties": {"ServiceToken": token, **properties}, **depends}


def recorder_requests(aws: EmbeddedAws, resource: str) -> list[dict[str, Any]]:
    """The events of a resource, by its logical id."""
    return remembered_events(client(aws, "s3"), BUCKET, resource)


def kinds(aws: EmbeddedAws, resource: str) -> list[tuple[str, str]]:
    """Which requests a resource got, each with the physical id that it was for."""
    return [
        (event["RequestType"], event.get("PhysicalResourceId", ""))
        for event in recorder_requests(aws, resource)
    ]
