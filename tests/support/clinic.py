"""`fleet doctor` as somebody runs it, and an account in which deploys fail as they are told to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.faulty_s3 import Answer, FaultyS3, Request
from tests.support.fleet_folder import FleetFolder
from triton_fleet.cli.doctor import doctor

STACK, NAME = "triton-fleet-dev-sentences", "sentences"
GROUP = f"/aws/sagemaker/Endpoints/{NAME}"


@dataclass(frozen=True)
class Clinic:
    """The command as somebody runs it whose profile `deployer` is of the environment's account."""

    folder: FleetFolder
    stacks: Stacks
    aws: EmbeddedAws
    host: RecordingHost
    capsys: pytest.CaptureFixture[str]

    def doctor(
        self, name: str = NAME, env: str = "dev", profile: str | None = "deployer"
    ) -> tuple[int, str, str]:
        """Exit code, what was seen, what is wrong."""
        self.capsys.readouterr()
        try:
            doctor(name, env, profile)
        except SystemExit as ended:
            assert isinstance(ended.code, int)
            return (ended.code, *self.capsys.readouterr())
        return (0, *self.capsys.readouterr())

    def fail(self, reason: str, env: str = "dev", **more: Any) -> str:
        """Deploy what SageMaker, for that reason, does not bring up."""
        self.host.failure = reason
        status = self.stacks.create(f"triton-fleet-{env}-{NAME}", {**endpoint(NAME), **more})
        self.host.failure = ""
        return status

    def delete(self, name: str) -> None:
        """Delete a stack and wait until it is gone."""
        self.stacks.api.delete_stack(StackName=name)
        self.stacks.api.get_waiter("stack_delete_complete").wait(StackName=name, WaiterConfig={"Delay": 0.02})

    def log(self, *lines: str, stream: str = "AllTraffic/i-0123456789abcdef0", group: str = GROUP) -> None:
        """Lines that the container of one instance has written just now."""
        logs, current_number = client(self.aws, "logs"), int(time.time() * 1000)
        if group not in [log_group["logGroupName"] for log_group in logs.describe_log_groups()["logGroups"]]:
            logs.create_log_group(logGroupName=group)
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        events = [
            {"timestamp": current_number + number, "message": line} for number, line in enumerate(lines)
        ]
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)


def deny(proxy: FaultyS3, expected_value: Callable[[Request], bool]) -> None:
    """Refuse in the protocol of each service, as AWS does."""

    def deny(answer: Answer) -> Answer:
        xml = b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>"
        return Answer(403, [("Content-Type", "text/xml")], xml)

    def denied_json(answer: Answer) -> Answer:
        return Answer(400, [("Content-Type", "application/json")], b'{"__type": "AccessDeniedException"}')

    proxy.change_answers(lambda item: expected_value(item) and "X-Amz-Target" not in item.headers, deny)
    proxy.change_answers(lambda item: expected_value(item) and "X-Amz-Target" in item.headers, denied_json)
