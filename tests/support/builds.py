"""CodeBuild of an embedded AWS in a few words."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from botocore.exceptions import WaiterError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client

ROLE = "arn:aws:iam::123456789012:role/any"
BUCKET, GROUP = "sources", "/fleet/builds"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3"


def zip_files(files: Mapping[str, str]) -> bytes:
    """A zip file's content."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


class Builds:
    """One project's builds, whose sources are zip files of a bucket."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.api, self._logs, self._s3 = (client(aws, name) for name in ("codebuild", "logs", "s3"))
        self._stacks = client(aws, "cloudformation")
        self._s3.create_bucket(Bucket=BUCKET)

    def source(self, key: str, content: bytes) -> str:
        """Upload a source; what StartBuild is told of it."""
        self._s3.put_object(Bucket=BUCKET, Key=key, Body=content)
        return f"{BUCKET}/{key}"

    def project(self, name: str, phases: Mapping[str, Any], **properties: Any) -> str:
        """Make a project by a stack of its name, whose phases are those of a buildspec."""
        self._create(name, phases, **properties)
        self._stacks.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 0.05})
        return name

    def refusal(self, name: str, **properties: Any) -> str:
        """CloudFormation's reason why a project cannot be made."""
        self._create(name, {}, **properties)
        with suppress(WaiterError):
            self._stacks.get_waiter("stack_create_complete").wait(
                StackName=name, WaiterConfig={"Delay": 0.05}
            )
        events = self._stacks.describe_stack_events(StackName=name)["StackEvents"]
        (reason,) = [
            event["ResourceStatusReason"]
            for event in events
            if event["LogicalResourceId"] == "Project" and event["ResourceStatus"] == "CREATE_FAILED"
        ]
        return str(reason)

    def _create(self, name: str, phases: Mapping[str, Any], **properties: Any) -> None:
        project = {
            "Name": name,
            "ServiceRole": ROLE,
            "Artifacts": {"Type": "NO_ARTIFACTS"},
            "Source": {"Type": "NO_SOURCE", "BuildSpec": buildspec(phases)},
            "Environment": {
                "Type": "LINUX_CONTAINER",
                "ComputeType": "BUILD_GENERAL1_SMALL",
                "Image": IMAGE,
                "EnvironmentVariables": [{"Name": "SAID", "Value": "by the project"}],
            },
            "LogsConfig": {"CloudWatchLogs": {"Status": "ENABLED", "GroupName": GROUP}},
            **properties,
        }
        template = {"Resources": {"Project": {"Type": "AWS::CodeBuild::Project", "Properties": project}}}
        self._stacks.create_stack(StackName=name, TemplateBody=json.dumps(template))

    def start(self, project: str, **overrides: Any) -> str:
        """Start a build; its id."""
        return str(self.api.start_build(projectName=project, **overrides)["build"]["id"])

    def current_build(self, id: str) -> dict[str, Any]:
        """A build as it is."""
        build: dict[str, Any] = self.api.batch_get_builds(ids=[id])["builds"][0]
        return build

    def final_build(self, id: str) -> dict[str, Any]:
        """A build when it is over."""
        pause = threading.Event()
        while not (build := self.current_build(id))["buildComplete"]:
            pause.wait(0.02)
        return build

    def log_contains(self, build: Mapping[str, Any], line: str) -> None:
        """Wait until a build has said a line."""
        pause = threading.Event()
        while line not in self.lines(build):
            pause.wait(0.02)

    def lines(self, build: Mapping[str, Any]) -> list[str]:
        """Lines of its log, without those of CodeBuild's agent."""
        try:
            answer = self._logs.get_log_events(
                logGroupName=build["logs"]["groupName"],
                logStreamName=build["logs"]["streamName"],
                startFromHead=True,
            )
        except self._logs.exceptions.ResourceNotFoundException:
            return []
        messages = [event["message"].rstrip("\n") for event in answer["events"]]
        return [message for message in messages if not message.startswith("[Container] ")]


def phases(build: Mapping[str, Any]) -> dict[str, str]:
    """How each phase ended."""
    return {phase["phaseType"]: phase.get("phaseStatus", "") for phase in build["phases"]}


def buildspec(phases: Mapping[str, Any]) -> str:
    """A buildspec of these phases, whose commands are bash."""
    return json.dumps({"version": 0.2, "env": {"shell": "bash"}, "phases": phases})


def commands(*text: str) -> dict[str, Any]:
    """The phases of a buildspec that only builds."""
    return {"build": {"commands": list(text)}}
